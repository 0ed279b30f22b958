import { describeValue } from '../../contract/describe-value.js';
import { dtypesBy, zeroData } from '../../contract/dtypes.js';
import type { DType, Tensor, TensorDataMap, TypedArrayInput } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { fromFloat16 } from './float16.js';
import { checkEqual } from './check-equal.js';
import { concatenate } from './concatenate.js';
import { GpuTensor } from './gpu-tensor.js';

/**
 * Returns a tensor of a typed array, or of a list of strings. Its dtype is the array's, unless one is given. The data
 * is not copied.
 * @throws `invalid-input` if it is no tensor, or if the data does not fill the dims
 */
export function from(value: TypedArrayInput | Tensor): Tensor {
  if (typeof value?.dims !== 'object' || !value.dims)
    throw new TabServeError('invalid-input', `Expected a tensor, { data, dims }, got ${describeValue(value)}.`);
  const { data, dims, dtype = dtypeOf(data) } = value;
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
  const dtype = Array.isArray(data) && typeof data[0] !== 'number' ? 'string' : DTYPE_BY_ARRAY.get(name);
  if (!dtype) throw new TabServeError('invalid-input', `Expected a typed array as data, got ${name}.`);
  return dtype;
}

const DTYPE_BY_ARRAY = new Map([
  ...dtypesBy(({ array }) => (array ? [array.name] : [])),
  ['Uint8ClampedArray', 'uint8' as const],
]);

/**
 * Stacks tensors of equal dtype and dims along a new first axis. A single tensor's data is not copied.
 * @throws `invalid-input` if there is none, or if they differ
 */
export function stack(rows: readonly Tensor[]): Tensor {
  const [first, ...others] = rows;
  if (!first) throw new TabServeError('invalid-input', 'There is nothing to stack.');
  checkEqual(rows);
  if (first instanceof GpuTensor && others.length === 0)
    return new GpuTensor(first.dtype, [1, ...first.dims], first.buffer);
  return {
    dtype: first.dtype,
    dims: [rows.length, ...first.dims],
    data: others.length === 0 ? first.data : concatenate(rows.map(({ data }) => data)),
  };
}

/**
 * Joins tensors of equal dtype along their first axis; their other dims must be equal. A single tensor's data is not
 * copied.
 * @throws `invalid-input`
 */
export function concat(parts: readonly Tensor[]): Tensor {
  const [first] = parts;
  if (!first) throw new TabServeError('invalid-input', 'There is nothing to join.');
  const { dtype, dims } = first;
  return {
    dtype,
    dims: [parts.reduce((sum, part) => sum + part.dims[0]!, 0), ...dims.slice(1)],
    data: parts.length === 1 ? parts[0]!.data : concatenate(parts.map(({ data }) => data)),
  };
}

/** Returns the rows `start` to `end` − 1 of the first axis, copied. All rows together are the tensor itself. */
export function slice(tensor: Tensor, start: number, end: number): Tensor {
  const [rows = 1, ...dims] = tensor.dims;
  if (start === 0 && end === rows) return tensor;
  const size = tensor.data.length / rows;
  return {
    dtype: tensor.dtype,
    dims: [end - start, ...dims],
    data: tensor.data.slice(start * size, end * size) as TensorDataMap[DType],
  };
}

/** Returns one row of the first axis, without that axis. */
export function row(tensor: Tensor, index: number): Tensor {
  const { dtype, dims, data } = slice(tensor, index, index + 1);
  return { dtype, dims: dims.slice(1), data };
}

/** Returns a tensor whose first axis has `length` rows: its own, then rows of `value`. */
export function pad<D extends Exclude<DType, 'string'>>(
  tensor: Tensor<D>,
  length: number,
  value: TensorDataMap[D][number],
): Tensor<D> {
  const [rows = 0, ...dims] = tensor.dims;
  if (rows === length) return tensor;
  const size = dims.reduce((product, dim) => product * dim, length - rows);
  const data = (zeroData(tensor.dtype, size) as Float32Array).fill(value as number) as TensorDataMap[D];
  return concat([tensor, { dtype: tensor.dtype, dims: [length - rows, ...dims], data }]) as Tensor<D>;
}

/** Returns a tensor's numbers as float32. Those of a float32 tensor are not copied. */
export function toFloats({ dtype, data }: Tensor): Float32Array {
  if (dtype === 'float32') return data as Float32Array;
  if (dtype === 'float16') return fromFloat16(data as Uint16Array);
  return Float32Array.from(data as ArrayLike<number | bigint>, Number);
}

/** Makes a tensor of integers: int64 if `dtype` is, otherwise int32. */
export function integers(dtype: DType, dims: readonly number[], values: readonly number[]): Tensor {
  return dtype === 'int64'
    ? { dtype, dims, data: BigInt64Array.from(values, BigInt) }
    : { dtype: 'int32', dims, data: Int32Array.from(values) };
}
