import { TabServeError } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';
import { damaged } from './damaged.js';

/** Keras's classes whose layers are a graph. */
const GRAPHS = new Set(['Model', 'Functional', 'Container']);

/**
 * The maximum number of layers of one graph. TensorFlow.js takes a time that grows with the square of their number if they come in
 * the wrong order.
 */
const MAX_LAYERS = 10_000;

/**
 * A call of a layer: the calls of other layers that its inputs come from, each the layer's name and the number of the
 * call.
 */
type Call = readonly (readonly [layer: string, call: number])[];

interface Layer {
  readonly name: string;
  /**
   * How many calls the layer has before the first of `calls`: an input layer has one, and so does a model that is a
   * layer.
   */
  readonly own: number;
  readonly calls: readonly Call[];
}

/**
 * Checks the graphs of a layers model, nested ones too. TensorFlow.js adds layers until none is left, and without an
 * end if an input of a layer is missing, if two layers have one name, or if the layers form a cycle.
 * @throws `model-format` naming the layer; `unsupported` for a model of Keras 3
 */
export function checkLayers(topology: unknown, path: string): void {
  const parts = partsOf(topology);
  if (parts.some(isKeras3))
    throw new TabServeError(
      'unsupported',
      `${path} is a layers model of Keras 3, which TensorFlow.js does not read. Convert it as a graph model: in Python, model.export('saved'); then tensorflowjs_converter --input_format=tf_saved_model saved FOLDER. Or train and save it with Keras 2 (the package tf_keras).`,
    );
  for (const part of parts) if (GRAPHS.has(part['class_name'] as string)) checkGraph(part['config'], path);
}

type Part = Readonly<Record<string, unknown>>;

/** Returns all mappings in a value, at any depth. */
function partsOf(topology: unknown): readonly Part[] {
  const parts: Part[] = [];
  const values: unknown[] = [topology];
  while (values.length > 0) {
    const value = values.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (isRecord(value)) parts.push(value);
    for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) values.push(inner);
  }
  return parts;
}

/**
 * Returns whether it is a part that only Keras 3 writes: a policy as the dtype, or an input layer with `batch_shape`.
 */
function isKeras3({ class_name: name, config }: Part): boolean {
  return name === 'DTypePolicy' || (name === 'InputLayer' && isRecord(config) && 'batch_shape' in config);
}

function checkGraph(config: unknown, path: string): void {
  const items = isRecord(config) ? config['layers'] : undefined;
  if (!Array.isArray(items)) throw damaged(path, 'a model has no list of layers');
  if (items.length > MAX_LAYERS)
    throw damaged(path, `a model has ${items.length} layers, and the limit is ${MAX_LAYERS}`);
  const layers = items.map((item: unknown, index) => readLayer(item, index, path));
  const done = new Map(layers.map(({ name, own }) => [name, own]));
  if (done.size < layers.length) throw damaged(path, 'two layers have the same name');
  for (const { name, calls } of layers)
    for (const [from] of calls.flat())
      if (!done.has(from)) throw damaged(path, `layer "${name}" reads the layer "${from}", which is missing`);
  // As TensorFlow.js does: a call is made once its inputs are there; rounds over all layers continue as long as one of
  // them makes a call.
  let waiting = layers.flatMap(({ name, calls }) => calls.map((call) => ({ name, call })));
  while (waiting.length > 0) {
    const left = waiting.filter(({ name, call }) => {
      if (call.some(([from, number]) => done.get(from)! <= number)) return true;
      done.set(name, done.get(name)! + 1);
      return false;
    });
    if (left.length === waiting.length)
      throw damaged(path, `layer "${left[0]!.name}" reads itself through other layers, or an output that no layer has`);
    waiting = left;
  }
}

function readLayer(item: unknown, index: number, path: string): Layer {
  const { name, class_name: className, config, inbound_nodes: nodes = [] } = isRecord(item) ? item : {};
  if (typeof name !== 'string' || !isRecord(config) || config['name'] !== name || !Array.isArray(nodes))
    throw damaged(path, `layer ${index} needs a name, the same name in its config, and a list of inbound_nodes`);
  const calls = nodes.map((node: unknown) => {
    if (!Array.isArray(node) || !node.every(isReference))
      throw damaged(path, `layer "${name}" has inbound_nodes that are not lists of [layer, number, number]`);
    return node.map(([layer, call]) => [layer, call] as const);
  });
  return {
    name,
    own: calls.length === 0 || GRAPHS.has(className as string) || className === 'Sequential' ? 1 : 0,
    calls,
  };
}

function isReference(value: unknown): value is readonly [string, number, number] {
  return Array.isArray(value) && typeof value[0] === 'string' && isIndex(value[1]) && isIndex(value[2]);
}

function isIndex(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
