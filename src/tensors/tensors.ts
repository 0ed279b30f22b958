import { dtypesBy } from '../contract/dtypes.js';
import type { DType, Tensor, TensorDataMap, TypedArrayInput } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import { fromFloat16 } from './float16.js';

/** A tensor from a typed array, its dtype that of the array unless given. @throws `invalid-input` if the data does not fill the dims */
export function tensor({ data, dims, dtype = dtypeOf(data) }: TypedArrayInput | Tensor): Tensor {
  const size = dims.reduce((product, dim) => product * dim, 1);
  if (data.length !== size)
    throw new TabServeError(
      'invalid-input',
      `Dims [${dims.join(', ')}] make ${size} elements, but there are ${data.length}.`,
    );
  return {
    dtype,
    dims,
    data: data instanceof Uint8ClampedArray ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data,
  };
}

function dtypeOf(data: unknown): DType {
  const name = Object.prototype.toString.call(data).slice(8, -1);
  const dtype = Array.isArray(data) ? 'string' : DTYPE_BY_ARRAY.get(name);
  if (!dtype) throw new TabServeError('invalid-input', `Expected a typed array as data, got ${name}.`);
  return dtype;
}

const DTYPE_BY_ARRAY = new Map([
  ...dtypesBy(({ array }) => (array ? [array.name] : [])),
  ['Uint8ClampedArray', 'uint8' as const],
]);

/** Tensors of equal dtype and dims as one, with a new first axis. One alone keeps its data uncopied. @throws `invalid-input` */
export function stack(rows: readonly Tensor[]): Tensor {
  const [first, ...others] = rows;
  if (!first) throw new TabServeError('invalid-input', 'There is nothing to stack.');
  for (const [i, row] of others.entries()) {
    if (row.dtype !== first.dtype || row.dims.join() !== first.dims.join()) {
      throw new TabServeError(
        'invalid-input',
        `Row ${i + 1} is ${row.dtype} [${row.dims.join(', ')}], row 0 is ${first.dtype} [${first.dims.join(', ')}]; a batch needs equal rows.`,
      );
    }
  }
  return {
    dtype: first.dtype,
    dims: [rows.length, ...first.dims],
    data: others.length === 0 ? first.data : concatenate(rows.map(({ data }) => data)),
  };
}

/** Tensors joined along their first axis. */
export function concat(parts: readonly Tensor[]): Tensor {
  const { dtype, dims } = parts[0]!;
  return {
    dtype,
    dims: [parts.reduce((sum, part) => sum + part.dims[0]!, 0), ...dims.slice(1)],
    data: parts.length === 1 ? parts[0]!.data : concatenate(parts.map(({ data }) => data)),
  };
}

/** Rows `from`..`to` of the first axis, in a buffer of their own; the whole tensor as it is. */
export function slice(tensor: Tensor, from: number, to: number): Tensor {
  const [rows = 1, ...dims] = tensor.dims;
  if (from === 0 && to === rows) return tensor;
  const size = tensor.data.length / rows;
  return {
    dtype: tensor.dtype,
    dims: [to - from, ...dims],
    data: tensor.data.slice(from * size, to * size) as TensorDataMap[DType],
  };
}

/** A row without its batch axis. */
export function row(tensor: Tensor, index: number): Tensor {
  const { dtype, dims, data } = slice(tensor, index, index + 1);
  return { dtype, dims: dims.slice(1), data };
}

/** A tensor whose first axis has `length` rows: its own, then rows of `value`. */
export function padded(tensor: Tensor<'float32'>, length: number, value: number): Tensor<'float32'> {
  const [rows = 0, ...dims] = tensor.dims;
  if (rows === length) return tensor;
  const size = dims.reduce((product, dim) => product * dim, length - rows);
  return concat([
    tensor,
    { dtype: 'float32', dims: [length - rows, ...dims], data: new Float32Array(size).fill(value) },
  ]) as Tensor<'float32'>;
}

/** A tensor's numbers as float32; float32 as they are, without a copy. */
export function toFloats({ dtype, data }: Tensor): Float32Array {
  if (dtype === 'float32') return data as Float32Array;
  if (dtype === 'float16') return fromFloat16(data as Uint16Array);
  return Float32Array.from(data as ArrayLike<number | bigint>, Number);
}

type Mutable = Float32Array & { set(values: ArrayLike<number>, offset: number): void };

function concatenate(parts: readonly TensorDataMap[DType][]): TensorDataMap[DType] {
  const [first] = parts;
  if (Array.isArray(first)) return (parts as readonly (readonly string[])[]).flat();
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const all = new (first!.constructor as new (length: number) => Mutable)(length);
  let at = 0;
  for (const part of parts) {
    all.set(part as Float32Array, at);
    at += part.length;
  }
  return all as TensorDataMap[DType];
}
