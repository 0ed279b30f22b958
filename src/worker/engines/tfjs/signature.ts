import { dtypesBy } from '../../../contract/dtypes.js';
import type { OutputInfo, TensorInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import type { GraphNode, GraphShape, ModelJson, SignatureEntry } from './artifacts.js';
import { resultOf } from './results.js';

/** The inputs and outputs that a graph model declares. */
export interface Signature {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
}

/** The converter writes a dtype as its name or as its number. */
const DTYPES = dtypesBy(({ tensorFlow = [] }) => tensorFlow.map(String));

/**
 * Reads the inputs and outputs of a graph model. Names are the keys of its signature, unchanged. Without a signature
 * they are the names of nodes: placeholders are inputs, and nodes that no other node reads are outputs. An output has
 * no dims if the model does not declare them; without a declared dtype it has the dtype that a run returns.
 * @throws `unsupported` for a dtype that TensorFlow.js lacks, and for an input of unknown dtype or rank
 */
export function readSignature({ modelTopology, signature: own, userDefinedMetadata }: ModelJson): Signature {
  const nodes = new Map((modelTopology.node ?? []).map((node) => [node.name, node]));
  const signature = userDefinedMetadata?.signature ?? own;
  const inputs =
    entriesOf(signature?.inputs) ?? implied([...nodes.values()].filter(({ op }) => op.startsWith('Placeholder')));
  const outputs = entriesOf(signature?.outputs) ?? implied(findSinks(nodes));
  return {
    inputs: inputs
      .filter(([, { resourceId }]) => resourceId === undefined)
      .map(([name, entry]) => asInput(readEntry('input', name, entry, nodes))),
    outputs: outputs
      .map(([name, entry]) => ({ ...readEntry('output', name, entry, nodes), op: operatorOf(entry.name, nodes) }))
      .map(({ dims = [], ...output }) => ({ ...output, dims })),
  };
}

/** Operators that leave the numbers as they are. */
const CARRIERS = new Set(['Identity', 'Cast', 'Reshape', 'Squeeze', 'ExpandDims', 'EnsureShape', 'StopGradient']);

/** Returns the operator that computes the numbers of a tensor; of a fused node, the activation that it ends with. */
function operatorOf(tensor: string, nodes: ReadonlyMap<string, GraphNode>): string | undefined {
  let node = nodes.get(nodeOf(tensor));
  for (let steps = 0; node && CARRIERS.has(node.op) && steps < nodes.size; steps++)
    node = nodes.get(nodeOf(node.input?.[0] ?? ''));
  const fused = node?.attr?.['fused_ops']?.list?.s?.map((name) => atob(name)) ?? [];
  return fused.findLast((op) => op !== 'BiasAdd') ?? node?.op;
}

/** Returns the node of a tensor, whose name may end in the number of the node's output. */
function nodeOf(tensor: string): string {
  return tensor.replace(/:\d+$/, '');
}

type Entry = readonly [name: string, entry: SignatureEntry];

function entriesOf(entries: Readonly<Record<string, SignatureEntry>> | undefined): readonly Entry[] | undefined {
  const list = Object.entries(entries ?? {});
  return list.length > 0 ? list : undefined;
}

function implied(nodes: readonly GraphNode[]): readonly Entry[] {
  return nodes.map(({ name }) => [name, { name }]);
}

/** Returns the nodes that no other node reads. */
function findSinks(nodes: ReadonlyMap<string, GraphNode>): readonly GraphNode[] {
  const read = new Set(
    [...nodes.values()].flatMap(({ input = [] }) => input.map((name) => nodeOf(name.replace(/^\^/, '')))),
  );
  return [...nodes.values()].filter(({ name, op }) => !read.has(name) && op !== 'NoOp');
}

/** The declaration of an input or output in the model. */
type Declared = Omit<OutputInfo, 'dims'> & { readonly dims: TensorInfo['dims'] | undefined };

function readEntry(
  kind: 'input' | 'output',
  name: string,
  { name: tensor, dtype, tensorShape }: SignatureEntry,
  nodes: ReadonlyMap<string, GraphNode>,
): Declared {
  const [, nodeName, index] = /^(.*?)(?::(\d+))?$/.exec(tensor)!;
  const node = nodes.get(nodeName!);
  const declared = dtype ?? (node && resultOf(node, Number(index ?? 0)));
  const known = declared === undefined ? undefined : DTYPES.get(String(declared));
  if (declared !== undefined && !known)
    throw new TabServeError(
      'unsupported',
      `The model's ${kind} "${name}" has the dtype ${declared}, which TensorFlow.js lacks.`,
    );
  const dims =
    dimsOf(tensorShape) ??
    dimsOf(node?.attr?.['shape']?.shape) ??
    dimsOf(node?.attr?.['_output_shapes']?.list?.shape?.[Number(index ?? 0)]);
  return { name, dtype: known, dims };
}

function asInput({ name, dtype, dims }: Declared): TensorInfo {
  if (!dtype) throw new TabServeError('unsupported', `The model does not declare the dtype of its input "${name}".`);
  if (!dims)
    throw new TabServeError('unsupported', `The model does not declare the number of dims of its input "${name}".`);
  return { name, dtype, dims };
}

function dimsOf(shape: GraphShape | undefined): (number | null)[] | undefined {
  if (!shape || shape.unknownRank) return undefined;
  return (shape.dim ?? []).map(({ size = -1 }) => (Number(size) < 0 ? null : Number(size)));
}
