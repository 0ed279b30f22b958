import { TabServeError } from '../../../contract/errors.js';
import { encode, encodeNumber, encodeText, join, type Pieces } from './protobuf-writer.js';
import { fields, find, numbersIn, text } from './protobuf.js';

/** A tensor in a file. Field numbers: `TensorProto` of `onnx.proto` (IR version 10). */
export interface OnnxTensor {
  readonly name: string;
  /** `TensorProto.DataType`. */
  readonly dtype: number;
  readonly dims: readonly number[];
  /** The elements, little-endian; undefined where they are in neither raw nor float32 form. */
  readonly data: Uint8Array | undefined;
  /** The file that holds the elements; undefined if they are in the model. */
  readonly location: string | undefined;
  /** The fields that are not named here, such as the documentation. */
  readonly others: Pieces;
}

/**
 * The fields that `OnnxTensor` has by name: dims, data_type, float_data, name, raw_data, external_data, data_location.
 */
const OWN = new Set([1, 2, 4, 8, 9, 13, 14]);

/**
 * Reads a tensor.
 * @param external the files beside the model, by location
 * @throws RangeError if it is damaged; `model-format` if its data is not in the file that it names
 */
export function readTensor(message: Uint8Array, external: ReadonlyMap<string, Uint8Array>): OnnxTensor {
  const floats: Uint8Array[] = [];
  const others: Uint8Array[] = [];
  const entries = new Map<string, string>();
  let [dtype, isExternal] = [0, false];
  for (const { field, value, whole } of fields(message)) {
    if (!OWN.has(field)) others.push(whole);
    if (field === 2) dtype = Number(value);
    if (field === 14) isExternal = value === 1;
    if (typeof value === 'number') continue;
    if (field === 4) floats.push(value);
    if (field === 13) entries.set(text(find(value, 1)), text(find(value, 2)));
  }
  const name = text(find(message, 8));
  const location = isExternal ? entries.get('location') : undefined;
  const data = isExternal ? slice(name, entries, external) : (find(message, 9) ?? joined(floats));
  return { name, dtype, dims: numbersIn(message, 1), data, location, others };
}

/** Returns the fields of a tensor whose elements are in the model. */
export function inline({ name, dtype, dims, data, others }: OnnxTensor): Pieces {
  return [...head({ name, dtype, dims, others }), ...encode(9, [data!])];
}

/** Returns the fields of a tensor whose elements are in another file. */
export function outside(
  { name, dtype, dims, data, others }: OnnxTensor,
  where: { readonly location: string; readonly offset: number },
): Pieces {
  const entries = Object.entries({ ...where, length: data!.length }).map(([key, value]) =>
    encode(13, [...encodeText(1, key), ...encodeText(2, String(value))]),
  );
  return [...head({ name, dtype, dims, others }), ...entries.flat(), ...encodeNumber(14, 1)];
}

function head({ name, dtype, dims, others }: Pick<OnnxTensor, 'name' | 'dtype' | 'dims' | 'others'>): Pieces {
  const own = name === '' ? [] : encodeText(8, name);
  return [...dims.flatMap((dim) => encodeNumber(1, dim)), ...encodeNumber(2, dtype), ...own, ...others];
}

function slice(
  name: string,
  entries: ReadonlyMap<string, string>,
  external: ReadonlyMap<string, Uint8Array>,
): Uint8Array {
  const location = entries.get('location') ?? '';
  const file = external.get(location);
  const offset = Number(entries.get('offset') ?? 0);
  const length = Number(entries.get('length') ?? (file?.length ?? 0) - offset);
  const isInside = [offset, length].every((one) => Number.isInteger(one) && one >= 0);
  if (file && isInside && offset + length <= file.length) return file.subarray(offset, offset + length);
  throw new TabServeError(
    'model-format',
    `The ONNX model keeps "${name}" in ${JSON.stringify(location)}, at ${offset}, with ${length} bytes; the file has ${file?.length ?? 0}.`,
  );
}

function joined(parts: readonly Uint8Array[]): Uint8Array | undefined {
  return parts.length > 0 ? join(parts) : undefined;
}

/** Returns the float32 elements of a tensor. @throws RangeError if it has more or fewer bytes than its dims say */
export function floatsOf({ name, dims, data }: Pick<OnnxTensor, 'name' | 'dims' | 'data'>): Float32Array {
  const size = dims.reduce((product, dim) => product * dim, 4);
  if (data?.length !== size) throw new RangeError(`"${name}" has ${data?.length ?? 0} bytes, expected ${size}`);
  return new Float32Array(Uint8Array.from(data).buffer);
}

/** Returns the bytes of numbers. */
export function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength);
}
