import { dtypesBy } from '../../../contract/dtypes.js';
import type { Session, TensorInfo } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';
import {
  FUNCTION_NODE,
  GRAPH_NODE,
  hasDynamicScale,
  nodesOf,
  operatorOf,
  padsAndPools,
} from '../../models/onnx/nodes.js';
import { fields, find, text, type Field } from '../../models/onnx/protobuf.js';

/**
 * The inputs and outputs that an ONNX file declares. ONNX Runtime's WebGL provider does not report them, so we read the
 * file. Reading it also finds a damaged file in the same way on every backend: the lengths must add up. Field numbers:
 * `onnx.proto` of ONNX (IR version 10).
 */
export interface Signature {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputSignature[];
  /** The file's `metadata_props`; undefined if it has none. */
  readonly metadata: Session['metadata'];
  readonly quantizesAtRunTime: boolean;
  /** Whether a Pad may be before a pooling. */
  readonly poolsPadding: boolean;
}

interface OutputSignature extends TensorInfo {
  readonly op: string | undefined;
}

const DTYPES = dtypesBy(({ onnx }) => [onnx]);

/**
 * Reads the signature of an ONNX model; `name` is what messages call it.
 * @param size of the file, of which the bytes may be the graph alone
 * @throws `model-format` if the bytes are not an ONNX model, or only a part of one; `unsupported` if an input or output
 *   is not a tensor.
 */
export function readSignature(bytes: Uint8Array, name = 'The file', size = bytes.length): Signature {
  const properties: (readonly [key: string, value: string])[] = [];
  let graph: Uint8Array | undefined;
  let version = 0;
  const functions: Uint8Array[] = [];
  try {
    for (const { field, value } of fields(bytes)) {
      if (field === 1 && typeof value === 'number') version = value;
      if (field === 7 && typeof value !== 'number') graph = value;
      if (field === 25 && typeof value !== 'number') functions.push(value);
      if (field === 14 && typeof value !== 'number') properties.push([text(find(value, 1)), text(find(value, 2))]);
    }
    const metadata = properties.length > 0 ? Object.fromEntries(properties) : undefined;
    if (version > 0 && graph) {
      const nodes = [...functions.flatMap((one) => nodesOf(one, FUNCTION_NODE)), ...nodesOf(graph, GRAPH_NODE)];
      const quantizesAtRunTime = nodes.some(hasDynamicScale);
      return { ...readGraph(graph), metadata, quantizesAtRunTime, poolsPadding: padsAndPools(nodes) };
    }
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw damaged(size, name, cause);
  }
  throw damaged(size, name);
}

function readGraph(graph: Uint8Array): Pick<Signature, 'inputs' | 'outputs'> {
  const inputs: TensorInfo[] = [];
  const outputs: TensorInfo[] = [];
  const initializers = new Set<string>();
  const nodes = new Map<string, Uint8Array>();
  for (const { field, value } of fields(graph)) {
    if (typeof value === 'number') continue;
    if (field === 1) nodes.set(text(find(value, 2)), value);
    if (field === 5) initializers.add(text(find(value, 8)));
    if (field === 11) inputs.push(readValueInfo(value));
    if (field === 12) outputs.push(readValueInfo(value));
  }
  return {
    inputs: inputs.filter(({ name }) => !initializers.has(name)),
    outputs: outputs.map((info) => ({ ...info, op: sourceOf(info.name, nodes) })),
  };
}

/** Operators that leave the numbers as they are. */
const CARRIERS = new Set(['Identity', 'Cast', 'Reshape', 'Flatten', 'Squeeze', 'Unsqueeze']);

/** Returns the operator that computes the numbers of a tensor. @param nodes by the name of their first output */
function sourceOf(tensor: string, nodes: ReadonlyMap<string, Uint8Array>): string | undefined {
  let node = nodes.get(tensor);
  for (let steps = 0; node && steps < nodes.size; steps++) {
    const op = operatorOf(node);
    if (!CARRIERS.has(op)) return op;
    node = nodes.get(text(find(node, 1)));
  }
  return undefined;
}

function readValueInfo(info: Uint8Array): TensorInfo {
  const name = text(find(info, 1));
  const type = find(info, 2) ?? new Uint8Array();
  const tensorType = find(type, 1);
  // The other kinds of values are sequences (4) and maps (5).
  if (!tensorType && (find(type, 4) ?? find(type, 5)))
    throw new TabServeError(
      'unsupported',
      `The model's "${name}" is not a tensor but a sequence or a map, which the operator ZipMap makes of a classifier's probabilities. Export the model without it: in skl2onnx, options={id(model): {'zipmap': False}}; in others, remove the node ZipMap and name its input as the output.`,
    );
  const elementType = tensorType && [...fields(tensorType)].find(({ field }) => field === 1)?.value;
  const dtype = typeof elementType === 'number' ? DTYPES.get(elementType) : undefined;
  if (!dtype) throw new TabServeError('unsupported', `The model's "${name}" is not a tensor of a supported dtype.`);
  const dims: (number | string | null)[] = [];
  for (const { field, value } of fields(find(tensorType!, 2) ?? new Uint8Array())) {
    if (field !== 1 || typeof value === 'number') continue;
    dims.push(readDim([...fields(value)][0]));
  }
  return { name, dtype, dims };
}

/**
 * Returns a fixed size, a symbol, or null. Older exporters write a dynamic size as −1, which as a varint is close to
 * 2⁶⁴.
 */
function readDim(dim: Field | undefined): number | string | null {
  if (dim?.field === 1 && typeof dim.value === 'number') return Number.isSafeInteger(dim.value) ? dim.value : null;
  if (dim?.field === 2 && typeof dim.value !== 'number') return text(dim.value) || null;
  return null;
}

function damaged(size: number, name: string, cause?: unknown): TabServeError {
  const why = size === 0 ? 'it is empty' : 'it is damaged, incomplete, or another kind of file';
  return new TabServeError('model-format', `${name} has ${size} bytes and is not an ONNX model: ${why}.`, {
    cause,
  });
}
