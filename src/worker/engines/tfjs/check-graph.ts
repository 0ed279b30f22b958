import { isRecord } from '../../../shared/schema.js';
import { damaged } from './damaged.js';

interface Node {
  readonly name: string;
  readonly op: string;
  /** The names of the nodes that it reads. */
  readonly from: readonly string[];
}

/**
 * Checks the nodes of a graph model, and of its functions: their names and inputs, that each input exists, and that
 * there is no cycle except the loops of TensorFlow 1, which go from a `NextIteration` to a `Merge`.
 * @throws `model-format` naming the node
 */
export function checkGraph(topology: Readonly<Record<string, unknown>>, path: string): void {
  checkNodes(topology['node'], [], path);
  const library = isRecord(topology['library']) ? topology['library']['function'] : undefined;
  for (const one of Array.isArray(library) ? (library as unknown[]) : []) {
    const { nodeDef, signature } = isRecord(one) ? one : {};
    const args = isRecord(signature) ? signature['inputArg'] : undefined;
    const names = (Array.isArray(args) ? args : []).map((arg: unknown) => isRecord(arg) && arg['name']);
    checkNodes(nodeDef ?? [], names, path);
  }
}

function checkNodes(list: unknown, args: readonly unknown[], path: string): void {
  if (!Array.isArray(list)) throw damaged(path, 'its nodes are no list');
  const nodes = new Map(
    list.map((item: unknown, index) => readNode(item, index, path)).map((node) => [node.name, node]),
  );
  if (nodes.size < list.length) throw damaged(path, 'two nodes have the same name');
  for (const { name, from } of nodes.values())
    for (const input of from)
      if (!nodes.has(input) && !args.includes(input))
        throw damaged(path, `node "${name}" reads "${input}", which is missing`);
  checkOrder(nodes, path);
}

function readNode(item: unknown, index: number, path: string): Node {
  const { name, op, input = [], attr } = isRecord(item) ? item : {};
  const fits = Array.isArray(input) && input.every((one) => typeof one === 'string');
  if (typeof name !== 'string' || typeof op !== 'string' || !fits || (attr !== undefined && !isRecord(attr)))
    throw damaged(path, `node ${index} needs a name, an op, a list of inputs, and a mapping of attributes`);
  return { name, op, from: (input as string[]).map((one) => one.replace(/^\^/, '').split(':', 1)[0]!) };
}

/** Removes nodes whose inputs were all removed; the remaining ones form a cycle. */
function checkOrder(nodes: ReadonlyMap<string, Node>, path: string): void {
  const readers = new Map<string, string[]>();
  const missing = new Map<string, number>();
  for (const { name, op, from } of nodes.values()) {
    const inputs = from.filter(
      (input) => nodes.has(input) && !(op === 'Merge' && nodes.get(input)!.op === 'NextIteration'),
    );
    missing.set(name, inputs.length);
    for (const input of inputs) {
      const list = readers.get(input);
      if (list) list.push(name);
      else readers.set(input, [name]);
    }
  }
  const ready = [...nodes.keys()].filter((name) => missing.get(name) === 0);
  for (let name = ready.pop(); name !== undefined; name = ready.pop()) {
    missing.delete(name);
    for (const reader of readers.get(name) ?? []) {
      missing.set(reader, missing.get(reader)! - 1);
      if (missing.get(reader) === 0) ready.push(reader);
    }
  }
  const [left] = missing.keys();
  if (left !== undefined) throw damaged(path, `node "${left}" reads its own output, itself or through other nodes`);
}
