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
 * Resamples a map by the cubic convolution of `torch.nn.functional.interpolate(…, mode='bicubic',
 * align_corners=False)`: without antialiasing, and beyond its edges the map has the numbers at the edge. The result may
 * have numbers a little beyond those of the map.
 * @see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/UpSample.h `get_cubic_upsample_coefficients`
 */
export function bicubic({ data, width, height }: NumberMap, columns: Line, rows: Line): OnArrayBuffer<Float32Array> {
  const across = tapsOf(columns, width);
  const down = tapsOf(rows, height);
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

function tapsOf({ size, scale, offset }: Line, mapSize: number): Taps {
  const at = new Int32Array(size * 4);
  const weights = new Float64Array(size * 4);
  for (let index = 0; index < size; index++) {
    const center = (index + 0.5) * scale + offset - 0.5;
    const first = Math.floor(center);
    const fraction = center - first;
    const four = [outer(fraction + 1), inner(fraction), inner(1 - fraction), outer(2 - fraction)];
    four.forEach((weight, tap) => {
      at[index * 4 + tap] = Math.min(Math.max(first + tap - 1, 0), mapSize - 1);
      weights[index * 4 + tap] = weight;
    });
  }
  return { at, weights };
}

/** Returns the weight of a pixel at a distance of at most 1. */
function inner(x: number): number {
  return ((A + 2) * x - (A + 3)) * x * x + 1;
}

/** Returns the weight of a pixel at a distance of 1 to 2. */
function outer(x: number): number {
  return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A;
}
