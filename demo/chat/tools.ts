/** The tools that the page runs for a model. */
import { described } from '../page/errors.js';
import { calculate } from './calculator.js';

interface Tool {
  readonly description: string;
  readonly properties: Readonly<Record<string, object>>;
  /** @throws what is wrong with the arguments */
  run(given: Readonly<Record<string, unknown>>): unknown;
}

const OWN: Readonly<Record<string, Tool>> = {
  calculate: {
    description: 'Computes an arithmetic expression.',
    properties: {
      expression: {
        type: 'string',
        description: 'Such as (12 + 30) * 1.5',
        pattern: '^[-+*/%^().0-9 ]+$',
        maxLength: 40,
      },
    },
    run: ({ expression }) => calculate(String(expression)),
  },
  current_time: {
    description: 'Returns the date and the time on this device.',
    properties: {},
    run: () => new Date().toString(),
  },
};

/** In OpenAI's form. */
export const TOOLS = Object.entries(OWN).map(([name, { description, properties }]) => ({
  type: 'function',
  function: {
    name,
    description,
    parameters: { type: 'object', properties, required: Object.keys(properties), additionalProperties: false },
  },
}));

/** Runs a tool. The model reads what it returns, also what is wrong. */
export function runTool(name: string, given: unknown): string {
  const tool = Object.hasOwn(OWN, name) ? OWN[name]! : undefined;
  if (!tool) return `There is no tool ${name}.`;
  try {
    return String(tool.run((given ?? {}) as Readonly<Record<string, unknown>>));
  } catch (error) {
    return described(error).message;
  }
}
