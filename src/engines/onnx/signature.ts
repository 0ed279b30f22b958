import { dtypesBy } from '../../contract/dtypes.js';
import type { TensorInfo } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { fields, find, text, type Field } from '../../shared/protobuf.js';

/**
 * The inputs and outputs that an ONNX file declares. ONNX Runtime's WebGL provider does not report them, so we read the file.
 * Reading it also finds a damaged file in the same way on every backend: the lengths must add up. Field numbers: `onnx.proto` of ONNX (IR version 10).
 */
export interface Signature {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
}

const DTYPES = dtypesBy(({ onnx }) => [onnx]);

/** Reads the signature of an ONNX model; `name` is what messages call it. @throws `model-format` if the bytes are not an ONNX model, or only a part of one; `unsupported` if an input or output is not a tensor. */
export function readSignature(bytes: Uint8Array, name = 'The file'): Signature {
  let graph: Uint8Array | undefined;
  let version = 0;
  try {
    for (const { field, value } of fields(bytes)) {
      if (field === 1 && typeof value === 'number') version = value;
      if (field === 7 && typeof value !== 'number') graph = value;
    }
    if (version > 0 && graph) return readGraph(graph);
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw damaged(bytes, name, cause);
  }
  throw damaged(bytes, name);
}

function readGraph(graph: Uint8Array): Signature {
  const inputs: TensorInfo[] = [];
  const outputs: TensorInfo[] = [];
  const initializers = new Set<string>();
  for (const { field, value } of fields(graph)) {
    if (typeof value === 'number') continue;
    if (field === 5) initializers.add(text(find(value, 8)));
    if (field === 11) inputs.push(readValueInfo(value));
    if (field === 12) outputs.push(readValueInfo(value));
  }
  return { inputs: inputs.filter(({ name }) => !initializers.has(name)), outputs };
}

function readValueInfo(info: Uint8Array): TensorInfo {
  const name = text(find(info, 1));
  const tensorType = find(find(info, 2) ?? new Uint8Array(), 1);
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

/** A fixed size, a symbol, or null. Older exporters write a dynamic size as −1, which as a varint is close to 2⁶⁴. */
function readDim(dim: Field | undefined): number | string | null {
  if (dim?.field === 1 && typeof dim.value === 'number') return Number.isSafeInteger(dim.value) ? dim.value : null;
  if (dim?.field === 2 && typeof dim.value !== 'number') return text(dim.value) || null;
  return null;
}

function damaged(bytes: Uint8Array, name: string, cause?: unknown): TabServeError {
  const why = bytes.length === 0 ? 'it is empty' : 'it is damaged, incomplete, or another kind of file';
  return new TabServeError('model-format', `${name} has ${bytes.length} bytes and is not an ONNX model: ${why}.`, {
    cause,
  });
}
