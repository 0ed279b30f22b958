import type { DType, Tensor, TensorDataMap } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';

/** The dtypes of the format that we have, by its names; string tensors it has none. */
const DTYPES: Readonly<Record<string, Exclude<DType, 'string'>>> = {
  F64: 'float64', F32: 'float32', F16: 'float16', I64: 'int64', I32: 'int32', I16: 'int16', I8: 'int8', U64: 'uint64', U32: 'uint32', U16: 'uint16', U8: 'uint8', BOOL: 'bool',
}; // prettier-ignore

type NumericArray = Exclude<TensorDataMap[DType], readonly string[]>;
const ARRAYS: Readonly<Record<Exclude<DType, 'string'>, { new (buffer: ArrayBuffer): NumericArray; readonly BYTES_PER_ELEMENT: number }>> = {
  float64: Float64Array, float32: Float32Array, float16: Uint16Array, int64: BigInt64Array, int32: Int32Array, int16: Int16Array, int8: Int8Array,
  uint64: BigUint64Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array, bool: Uint8Array,
}; // prettier-ignore

export interface Safetensors {
  readonly tensors: Readonly<Record<string, Tensor>>;
  /** `__metadata__`: text by key. */
  readonly metadata: Readonly<Record<string, string>>;
}

/**
 * Reads a `.safetensors` file: the header's length as a 64-bit little-endian number, a JSON header, then the tensors' bytes, little-endian and row-major.
 * Format: huggingface.co/docs/safetensors.
 * @throws `model-format` if it is damaged or holds a dtype that is not known
 */
export function readSafetensors(bytes: Uint8Array, name: string): Safetensors {
  const damaged = (why: string, cause?: unknown): TabServeError =>
    new TabServeError('model-format', `${name} is no safetensors file: ${why}.`, { cause });
  if (bytes.length < 8) throw damaged('it is too short');
  const headerLength = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
  if (headerLength > bytes.length - 8) throw damaged('its header runs past the end');
  let header: unknown;
  try {
    header = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + headerLength)));
  } catch (cause) {
    throw damaged('its header is not JSON', cause);
  }
  if (typeof header !== 'object' || header === null) throw damaged('its header is no mapping');
  const { __metadata__: metadata = {}, ...entries } = header as { __metadata__?: Record<string, string> } & Record<
    string,
    Partial<Entry> | null
  >;
  const data = bytes.subarray(8 + headerLength);
  const tensors = Object.entries(entries).map(([key, entry]) => {
    if (!isEntry(entry)) throw damaged(`"${key}" has no dtype, shape and data_offsets`);
    const { dtype: code, shape: dims, data_offsets: [from, to] } = entry; // prettier-ignore
    const dtype = DTYPES[code];
    if (!dtype) throw damaged(`"${key}" is of dtype ${code}, expected one of ${Object.keys(DTYPES).join(', ')}`);
    const size = dims.reduce((product, dim) => product * dim, ARRAYS[dtype].BYTES_PER_ELEMENT);
    if (to - from !== size)
      throw damaged(`"${key}" has ${to - from} bytes, its shape [${dims.join(', ')}] needs ${size}`);
    if (to > data.length) throw damaged(`"${key}" runs past the end`);
    return [key, { dtype, dims, data: new ARRAYS[dtype](new Uint8Array(data.subarray(from, to)).buffer) }] as const;
  });
  return { tensors: Object.fromEntries(tensors), metadata };
}

interface Entry {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly data_offsets: readonly [number, number];
}

function isEntry(entry: Partial<Entry> | null): entry is Entry {
  return (
    typeof entry?.dtype === 'string' &&
    areCounts(entry.shape) &&
    areCounts(entry.data_offsets) &&
    entry.data_offsets.length === 2
  );
}

/** Whether a value is a list of whole numbers, none of them negative. */
export function areCounts(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((one) => Number.isSafeInteger(one) && one >= 0);
}
