import type { OnArrayBuffer } from '../../../contract/tensors.js';

/** One map of numbers, row-major. */
export interface NumberMap {
  readonly data: Float32Array;
  readonly width: number;
  readonly height: number;
}

/** Where the pixels of an image lie along one axis of a map: its point `x` is at `x * scale + offset`. */
export interface Line {
  readonly size: number;
  readonly scale: number;
  readonly offset: number;
}

/** Keys' parameter as torch has it. */
const A = -0.75;

/** Four neighbors of a pixel, and their weights. */
interface Taps {
  readonly at: Int32Array;
  readonly weights: Float64Array;
}

/**
 * Resamples a map as `torch.nn.functional.interpolate(…, align_corners=False)`: without antialiasing, and beyond its
 * edges the map has the numbers at the edge. By the cubic convolution, the result may have numbers a little beyond those
 * of the map.
 * @see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/UpSample.h `get_cubic_upsample_coefficients`
 */
export function interpolate(
  { data, width, height }: NumberMap,
  columns: Line,
  rows: Line,
  kernel: 'bicubic' | 'bilinear' = 'bicubic',
): OnArrayBuffer<Float32Array> {
  const weigh = kernel === 'bicubic' ? cubic : linear;
  const across = tapsOf(columns, width, weigh);
  const down = tapsOf(rows, height, weigh);
  const lines = new Float64Array(height * columns.size);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < columns.size; x++) {
      let sum = 0;
      for (let tap = x * 4; tap < x * 4 + 4; tap++) sum += data[y * width + across.at[tap]!]! * across.weights[tap]!;
      lines[y * columns.size + x] = sum;
    }
  const out = new Float32Array(rows.size * columns.size);
  for (let y = 0; y < rows.size; y++)
    for (let x = 0; x < columns.size; x++) {
      let sum = 0;
      for (let tap = y * 4; tap < y * 4 + 4; tap++)
        sum += lines[down.at[tap]! * columns.size + x]! * down.weights[tap]!;
      out[y * columns.size + x] = sum;
    }
  return out;
}

/** @param weigh returns the weights of four neighbors, the second of which lies `fraction` before the point */
function tapsOf({ size, scale, offset }: Line, mapSize: number, weigh: (fraction: number) => readonly number[]): Taps {
  const at = new Int32Array(size * 4);
  const weights = new Float64Array(size * 4);
  for (let index = 0; index < size; index++) {
    const center = (index + 0.5) * scale + offset - 0.5;
    const first = Math.floor(center);
    weigh(center - first).forEach((weight, tap) => {
      at[index * 4 + tap] = Math.min(Math.max(first + tap - 1, 0), mapSize - 1);
      weights[index * 4 + tap] = weight;
    });
  }
  return { at, weights };
}

function cubic(fraction: number): readonly number[] {
  return [outer(fraction + 1), inner(fraction), inner(1 - fraction), outer(2 - fraction)];
}

function linear(fraction: number): readonly number[] {
  return [0, 1 - fraction, fraction, 0];
}

/** Returns the weight of a pixel at a distance of at most 1. */
function inner(x: number): number {
  return ((A + 2) * x - (A + 3)) * x * x + 1;
}

/** Returns the weight of a pixel at a distance of 1 to 2. */
function outer(x: number): number {
  return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}
