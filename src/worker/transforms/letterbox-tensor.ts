import type { StepOptions } from './steps.js';
import type { Planes } from './tail.js';

/** What one output along an axis is made of: the inputs from `from` on, each with a weight. */
interface Taps {
  readonly from: number;
  readonly weights: Float64Array;
}

/** The Gaussian ends at this many of its standard deviations, as scipy's does. */
const TRUNCATE = 4;

/**
 * Pads a tensor `[channels, height, width]` to a square, the image at the top left, and resizes it to `side` × `side` as
 * OWLv2's processor does on PIL: with scipy's `gaussian_filter` and bilinear `zoom`, both mirrored at the edges.
 * @see https://github.com/huggingface/transformers/blob/main/src/transformers/models/owlv2/image_processing_pil_owlv2.py
 * @see https://docs.scipy.org/doc/scipy/reference/generated/scipy.ndimage.zoom.html with `grid_mode`
 */
export function letterboxTensor(
  { data, width, height }: Planes,
  { side, fill }: StepOptions['letterboxTensor'],
  channels: number,
): Float32Array {
  const size = Math.max(width, height);
  const taps = tapsOf(size, side);
  // Filter and interpolation are linear: along each axis they are one sum.
  const across = new Float64Array(size * side);
  const out = new Float32Array(channels * side * side);
  for (let channel = 0; channel < channels; channel++) {
    const padding = new Float64Array(side).fill(fill);
    for (let y = 0; y < size; y++) {
      if (y >= height) {
        across.set(padding, y * side);
        continue;
      }
      const start = (channel * height + y) * width;
      for (let x = 0; x < side; x++)
        across[y * side + x] = weighted(taps[x]!, size, (at) => (at < width ? data[start + at]! : fill));
    }
    for (let y = 0; y < side; y++)
      for (let x = 0; x < side; x++)
        out[(channel * side + y) * side + x] = weighted(taps[y]!, size, (at) => across[at * side + x]!);
  }
  return out;
}

/** Returns the weighted sum of the inputs, which continue mirrored beyond the edges. */
function weighted({ from, weights }: Taps, size: number, input: (at: number) => number): number {
  let sum = 0;
  for (let tap = 0; tap < weights.length; tap++) sum += weights[tap]! * input(mirrored(from + tap, size));
  return sum;
}

/** Returns the index of the input at a position: the first and the last one are not repeated. */
function mirrored(at: number, size: number): number {
  if (at >= 0 && at < size) return at;
  if (size === 1) return 0;
  const period = 2 * (size - 1);
  const within = ((at % period) + period) % period;
  return within < size ? within : period - within;
}

/** Returns the taps of each output along one axis: a Gaussian around both inputs that it lies between. */
function tapsOf(size: number, newSize: number): readonly Taps[] {
  const factor = size / newSize;
  const gaussian = gaussianOf(Math.max(0, (factor - 1) / 2));
  const radius = (gaussian.length - 1) / 2;
  return Array.from({ length: newSize }, (_, at) => {
    const center = (at + 0.5) * factor - 0.5;
    const from = Math.floor(center);
    const weights = new Float64Array(gaussian.length + 1);
    for (const [tap, weight] of gaussian.entries()) {
      weights[tap]! += weight * (1 - (center - from));
      weights[tap + 1]! += weight * (center - from);
    }
    return { from: from - radius, weights };
  });
}

/** Returns the weights of a Gaussian, which sum to 1. @param sigma its standard deviation, in inputs */
function gaussianOf(sigma: number): Float64Array {
  const radius = Math.floor(TRUNCATE * sigma + 0.5);
  const weights = Float64Array.from({ length: 2 * radius + 1 }, (_, at) =>
    sigma === 0 ? 1 : Math.exp(-((at - radius) ** 2) / (2 * sigma * sigma)),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}
