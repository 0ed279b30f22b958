import type { tensor as MakeTensor, Tensor as TfTensor } from '@tensorflow/tfjs-core';
import type { DType, OutputInfo, Tensor, TensorDataMap } from '../../../contract/tensors.js';
import { TabServeError } from '../../../contract/errors.js';

/** The ranges of our integer dtypes, as far as TensorFlow.js supports them: its only integer dtype is int32. */
const RANGES: Readonly<Partial<Record<DType, readonly [min: number, max: number]>>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 31), 2 ** 31 - 1],
};

/**
 * Converts a feed to a tensor of TensorFlow.js. Integers become int32.
 * @param makeTensor TensorFlow.js's `tensor`
 * @param maxInteger the largest integer that the backend represents exactly; WebGL stores integers as floats
 * @throws `invalid-input` naming the input and the value, if an integer is out of range
 */
export function toTensorFlow(
  makeTensor: typeof MakeTensor,
  name: string,
  { dtype, dims, data }: Tensor,
  maxInteger: number,
): TfTensor {
  const [min, max] = RANGES[dtype] ?? [];
  if (min === undefined || max === undefined)
    return makeTensor(data as Float32Array, [...dims], dtype as 'float32' | 'bool' | 'string');
  const integers = data as unknown as Int32Array;
  const [low, high] = [Math.max(min, -maxInteger), Math.min(max, maxInteger)];
  const index = integers.findIndex((value) => value < low || value > high);
  if (index >= 0) {
    throw new TabServeError(
      'invalid-input',
      `Input "${name}" holds ${integers[index]} at ${index}: TensorFlow.js computes ${dtype} here from ${low} to ${high} only.`,
    );
  }
  return makeTensor(integers instanceof Int32Array ? integers : Int32Array.from(integers, Number), [...dims], 'int32');
}

/**
 * Converts a result to the dtype that the model declares, if it declares one. Copies the data, which may be the memory
 * of a weight.
 */
export async function fromTensorFlow(
  result: TfTensor,
  { name, dtype = result.dtype as DType }: OutputInfo,
): Promise<Tensor> {
  const dims = result.shape;
  if (result.dtype === 'string')
    return { dtype: 'string', dims, data: (await result.data<'string'>()) as unknown as string[] };
  if (result.dtype === 'complex64')
    throw new TabServeError('unsupported', `Output "${name}" is complex; tensors here cannot hold complex numbers.`);
  const values = (await result.data()) as Float32Array | Int32Array | Uint8Array;
  if (dtype === result.dtype) return { dtype, dims, data: values.slice() };
  return { dtype, dims, data: restore(name, values, dtype) };
}

function restore(name: string, values: Float32Array | Int32Array | Uint8Array, dtype: DType): TensorDataMap[DType] {
  const [min, max] = RANGES[dtype] ?? [-Infinity, Infinity];
  const wrong = RANGES[dtype]
    ? values.find((value) => !Number.isInteger(value) || value < min || value > max)
    : undefined;
  if (wrong !== undefined)
    throw new TabServeError('inference-failed', `Output "${name}" is ${dtype}, but TensorFlow.js answered ${wrong}.`);
  switch (dtype) {
    case 'int64':
      return BigInt64Array.from(values as Int32Array, BigInt);
    case 'int32':
      return Int32Array.from(values);
    case 'int8':
      return Int8Array.from(values);
    case 'uint8':
      return Uint8Array.from(values);
    case 'bool':
      return Uint8Array.from(values, (value) => (value === 0 ? 0 : 1));
    default:
      return Float32Array.from(values);
  }
}
