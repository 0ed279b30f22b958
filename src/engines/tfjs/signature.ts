import { dtypesBy } from '../../contract/dtypes.js';
import type { OutputInfo, TensorInfo } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import type { GraphNode, GraphShape, ModelJson, SignatureEntry } from './artifacts.js';
import { resultOf } from './results.js';

/** What a graph model says of its inputs and outputs. */
export interface Signature {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
}

/** The converter writes a dtype as its name or as its number. */
const DTYPES = dtypesBy(({ tensorFlow = [] }) => tensorFlow.map(String));

/**
 * The names are the keys of the model's signature, as they stand there, and the names of its nodes where it has none: placeholders, and what nothing else reads.
 * An output whose dims the model does not tell has none; one whose dtype it does not tell has that of what a run gives.
 * @throws `unsupported` for a dtype that TensorFlow.js has not, and for an input of unknown dtype or rank
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
      .map(([name, entry]) => readEntry('output', name, entry, nodes))
      .map(({ dims = [], ...output }) => ({ ...output, dims })),
  };
}

type Entry = readonly [name: string, entry: SignatureEntry];

function entriesOf(entries: Readonly<Record<string, SignatureEntry>> | undefined): readonly Entry[] | undefined {
  const list = Object.entries(entries ?? {});
  return list.length > 0 ? list : undefined;
}

function implied(nodes: readonly GraphNode[]): readonly Entry[] {
  return nodes.map(({ name }) => [name, { name }]);
}

/** Nodes that no other one reads. */
function findSinks(nodes: ReadonlyMap<string, GraphNode>): readonly GraphNode[] {
  const read = new Set(
    [...nodes.values()].flatMap(({ input = [] }) => input.map((name) => name.replace(/^\^/, '').replace(/:\d+$/, ''))),
  );
  return [...nodes.values()].filter(({ name, op }) => !read.has(name) && op !== 'NoOp');
}

/** What is known of an input or output. */
type Told = Omit<OutputInfo, 'dims'> & { readonly dims: TensorInfo['dims'] | undefined };

function readEntry(
  kind: 'input' | 'output',
  name: string,
  { name: tensor, dtype, tensorShape }: SignatureEntry,
  nodes: ReadonlyMap<string, GraphNode>,
): Told {
  const [, nodeName, index] = /^(.*?)(?::(\d+))?$/.exec(tensor)!;
  const node = nodes.get(nodeName!);
  const declared = dtype ?? (node && resultOf(node, Number(index ?? 0)));
  const known = declared === undefined ? undefined : DTYPES.get(String(declared));
  if (declared !== undefined && !known)
    throw new TabServeError(
      'unsupported',
      `The model's ${kind} "${name}" is of ${declared}, which TensorFlow.js has not.`,
    );
  const dims =
    dimsOf(tensorShape) ??
    dimsOf(node?.attr?.['shape']?.shape) ??
    dimsOf(node?.attr?.['_output_shapes']?.list?.shape?.[Number(index ?? 0)]);
  return { name, dtype: known, dims };
}

function asInput({ name, dtype, dims }: Told): TensorInfo {
  if (!dtype) throw new TabServeError('unsupported', `The model does not say of which dtype its input "${name}" is.`);
  if (!dims) throw new TabServeError('unsupported', `The model does not say how many dims its input "${name}" has.`);
  return { name, dtype, dims };
}

function dimsOf(shape: GraphShape | undefined): (number | null)[] | undefined {
  if (!shape || shape.unknownRank) return undefined;
  return (shape.dim ?? []).map(({ size = -1 }) => (Number(size) < 0 ? null : Number(size)));
}
