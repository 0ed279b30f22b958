/** What differs in a call of `pipeline`. */
import type { CallExpression, ObjectExpression } from 'oxc-parser';
import { PRECISIONS } from '../../../contract/precisions.js';
import { ALIASES, TASKS } from '../../../page/pipeline/tasks.js';
import { adviceForOption } from './advice.js';
import { nameOf, textOf, type Node } from './syntax.js';

/** Something that is not as in transformers.js, at a node. */
export interface Difference {
  readonly at: Node;
  readonly message: string;
  /** Whether the call fails with `tabserve/pipeline`, so that its import must stay as it is. */
  readonly blocks: boolean;
}

const DEVICES = ['auto', 'gpu', 'wasm', 'webgpu', 'webnn'];
/** The arguments `(task, model, options)`. */
const OPTIONS_AT = 2;

/** Returns the differences of one call. */
export function differencesOf(call: CallExpression): readonly Difference[] {
  const [task, model, options] = call.arguments;
  if (call.arguments.slice(0, OPTIONS_AT + 1).some(({ type }) => type === 'SpreadElement'))
    return [note(call, 'its arguments are not written out: compare them with docs/from-transformers-js.md')];
  return [
    ...(task ? differencesOfTask(task) : []),
    ...(model && !isNothing(model) ? [] : [blocker(call, 'no task has a default model here: name one')]),
    ...(options ? differencesOfOptions(options) : []),
  ];
}

function differencesOfTask(task: Node): readonly Difference[] {
  const name = textOf(task);
  if (name === undefined)
    return [note(task, 'the task is not written out: see the tasks in docs/from-transformers-js.md')];
  if (Object.hasOwn(TASKS, name) || Object.hasOwn(ALIASES, name)) return [];
  return [blocker(task, `tabserve/pipeline has no task ${name}: load() opens its models (docs/tasks.md)`)];
}

function differencesOfOptions(options: Node): readonly Difference[] {
  if (isNothing(options)) return [];
  if (options.type !== 'ObjectExpression')
    return [note(options, 'the options are not written out: compare them with docs/from-transformers-js.md')];
  return (options as ObjectExpression).properties.flatMap((property) => {
    if (property.type === 'SpreadElement') return [note(property, 'options that are spread are not checked')];
    const name = nameOf(property.key);
    const message =
      name === undefined || property.computed
        ? 'the option’s name is not written out'
        : differenceOf(name, property.value);
    return message === undefined ? [] : [note(property, message)];
  });
}

/** Returns what is different of an option. */
function differenceOf(name: string, value: Node): string | undefined {
  const text = textOf(value);
  if (name === 'device')
    return text === undefined || DEVICES.includes(text) ? undefined : `device: expected ${DEVICES.join(', ')}`;
  if (name === 'dtype') {
    if (value.type === 'ObjectExpression')
      return 'dtype: one precision here; for one of each file, config: { engine: { dtype: { … } } }';
    return text === undefined || (PRECISIONS as readonly string[]).includes(text)
      ? undefined
      : `dtype: expected ${PRECISIONS.join(', ')}`;
  }
  if (name === 'progress_callback')
    return 'progress_callback: gets messages with the status "progress" only, not initiate, download, done or ready';
  const advice = adviceForOption(name);
  return advice === undefined ? undefined : `${name}: ${advice}`;
}

/** Returns whether an argument is `null` or `undefined`. */
function isNothing(node: Node): boolean {
  return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined');
}

function note(at: Node, message: string): Difference {
  return { at, message, blocks: false };
}

function blocker(at: Node, message: string): Difference {
  return { at, message, blocks: true };
}
