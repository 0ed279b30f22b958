/**
 * Jinja's templates, as transformers renders the chat templates of repositories: with Python's values and their printing,
 * `trim_blocks` and `lstrip_blocks`, in a sandbox. Nothing of a template is evaluated as JavaScript.
 */
import type { Body } from './ast.js';
import { Budget } from './budget.js';
import { TemplateError } from './errors.js';
import { createGlobals } from './globals.js';
import { parseTemplate } from './parse.js';
import { Renderer } from './run.js';
import { Scope } from './scope.js';
import { takesParts } from './takes-parts.js';
import { toPython } from './values.js';

export { TemplateError } from './errors.js';

/** A template that is ready to be rendered. */
export class Template {
  readonly #body: Body;
  /** Whether it takes lists of parts as the contents of messages. */
  readonly takesParts: boolean;

  /** @throws `TemplateError` if it is no template, or has a block that is not known here */
  constructor(source: string) {
    this.#body = bounded(() => parseTemplate(source));
    this.takesParts = bounded(() => takesParts(this.#body));
  }

  /**
   * Renders the template.
   * @param variables values of JSON
   * @param now the time that `strftime_now` tells
   * @throws `TemplateError`
   */
  render(variables: Readonly<Record<string, unknown>>, now: () => Date = () => new Date()): string {
    return bounded(() => {
      const globals = new Map(createGlobals(now));
      for (const [name, value] of Object.entries(variables)) globals.set(name, toPython(value));
      return new Renderer(new Budget(lengthOf(variables))).text(this.#body, new Scope(globals));
    });
  }
}

/** Returns the UTF-16 units of the texts in a value of JSON. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + lengthOf(one), 0);
}

/** Runs what may need more of the stack than there is, because a template or a message is nested too deeply. */
function bounded<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    if (error instanceof RangeError) throw new TemplateError('limit', `It is nested too deeply: ${error.message}.`);
    throw error;
  }
}
