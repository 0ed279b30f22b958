import type { Tensor, Tensors } from '../../contract/tensors.js';
import { generate } from '../models/golden.js';
import { fromFloat16, toFloat16 } from '../tensors/float16.js';

/** The seed of the generated noise. */
const SEED = 1;

/** Number of periods of a wave along an axis. */
const PERIODS = 1.5;

/**
 * Generates inputs of the same names, dtypes and dims with other floats: white noise, and smooth waves with an edge,
 * both in −1..1. Zeros would hide most errors of a backend. Returns an empty list if no input has floats.
 */
export function generateVariants(example: Tensors): Tensors[] {
  if (!hasFloats(example)) return [];
  return [noise, waves].map((make) =>
    Object.fromEntries(Object.entries(example).map(([name, tensor]) => [name, withFloats(tensor, make)])),
  );
}

/**
 * Doubles the floats of pictures, and leaves out pictures without floats. Some errors show only where an activation
 * reaches a clamp of the model, such as the 8-bit range of a model that was trained for quantization: photographs reach
 * it now and then, generated pictures hardly ever, doubled ones do.
 */
export function doublePictures(pictures: readonly Tensors[]): Tensors[] {
  return pictures
    .filter(hasFloats)
    .map((picture) => Object.fromEntries(Object.entries(picture).map(([name, tensor]) => [name, doubled(tensor)])));
}

/**
 * Changes the last bits of an input's floats, as another order of additions would: every other number grows. Undefined
 * if no input has floats.
 */
export function nudge(feeds: Tensors): Tensors | undefined {
  if (!hasFloats(feeds)) return undefined;
  return Object.fromEntries(Object.entries(feeds).map(([name, tensor]) => [name, nudged(tensor)]));
}

function nudged(tensor: Tensor): Tensor {
  const by = (part: number) => (value: number, index: number) => (index % 2 === 0 ? value * (1 + part) : value);
  if (tensor.dtype === 'float32') return { ...tensor, data: (tensor.data as Float32Array).map(by(2 ** -21)) };
  if (tensor.dtype === 'float16')
    return { ...tensor, data: toFloat16(fromFloat16(tensor.data as Uint16Array).map(by(2 ** -10))) };
  return tensor;
}

function doubled(tensor: Tensor): Tensor {
  const twice = (values: Float32Array): Float32Array => values.map((value) => 2 * value);
  if (tensor.dtype === 'float32') return { ...tensor, data: twice(tensor.data as Float32Array) };
  if (tensor.dtype === 'float16') return { ...tensor, data: toFloat16(twice(fromFloat16(tensor.data as Uint16Array))) };
  return tensor;
}

function hasFloats(feeds: Tensors): boolean {
  return Object.values(feeds).some(({ dtype }) => dtype === 'float32' || dtype === 'float16');
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
