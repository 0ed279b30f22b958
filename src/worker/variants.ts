import type { Tensor, Tensors } from '../contract/tensors.js';
import { generate } from '../models/golden.js';
import { toFloat16 } from '../tensors/float16.js';

/** The seed of the generated noise. */
const SEED = 1;

/** Number of periods of a wave along an axis. */
const PERIODS = 1.5;

/**
 * Generates inputs of the same names, dtypes and dims with other floats: white noise, and smooth waves with an edge, both in −1..1. Zeros would hide
 * most errors of a backend. Returns an empty list if no input has floats.
 */
export function generateVariants(example: Tensors): Tensors[] {
  const hasFloats = Object.values(example).some(({ dtype }) => dtype === 'float32' || dtype === 'float16');
  if (!hasFloats) return [];
  return [noise, waves].map((make) =>
    Object.fromEntries(Object.entries(example).map(([name, tensor]) => [name, withFloats(tensor, make)])),
  );
}

function withFloats(tensor: Tensor, make: (dims: readonly number[]) => Float32Array): Tensor {
  if (tensor.dtype === 'float32') return { ...tensor, data: make(tensor.dims) };
  if (tensor.dtype === 'float16') return { ...tensor, data: toFloat16(make(tensor.dims)) };
  return tensor;
}

function noise(dims: readonly number[]): Float32Array {
  return generate(SEED, dims);
}

/** Generates the sum of one wave along each axis, with a step in the middle of the data. */
function waves(dims: readonly number[]): Float32Array {
  const values = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
  const strides = dims.map((_, axis) => dims.slice(axis + 1).reduce((product, dim) => product * dim, 1));
  for (let index = 0; index < values.length; index++) {
    let sum = 0;
    for (const [axis, dim] of dims.entries())
      sum += Math.sin((((Math.floor(index / strides[axis]!) % dim) + axis) / dim) * PERIODS * 2 * Math.PI);
    values[index] = (0.8 * sum) / Math.max(1, dims.length) + (index * 2 < values.length ? -0.2 : 0.2);
  }
  return values;
}
