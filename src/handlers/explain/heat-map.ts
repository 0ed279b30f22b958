import { TabServeError } from '../../contract/errors.js';
import { LARGEST_TENSOR } from '../../contract/limits.js';
import type { Placement } from '../placements.js';

/** A heat map in pixels of the image, and its smallest and largest number. */
export interface HeatMap {
  readonly width: number;
  readonly height: number;
  readonly heat: Float32Array;
  readonly low: number;
  readonly high: number;
}

/**
 * Maps a heat map of the model's input to the pixels of the upright image, by bilinear interpolation. A pixel whose
 * center lies outside of the model's input is NaN.
 * @param heat `tensorHeight` · `tensorWidth` numbers
 * @throws `image-too-large`
 */
export function toImagePixels(heat: ArrayLike<number>, placement: Placement): HeatMap {
  const { width, height, tensorWidth, tensorHeight, geometry } = placement;
  if (width * height > LARGEST_TENSOR)
    throw new TabServeError(
      'image-too-large',
      `The heat map would have ${width} × ${height} pixels; the limit is ${LARGEST_TENSOR}. Pass a smaller image.`,
    );
  const columns = Array.from({ length: width }, (_, x) => tap(x, geometry.scaleX, geometry.offsetX, tensorWidth));
  const result = new Float32Array(width * height).fill(NaN);
  let [low, high] = [Infinity, -Infinity];
  for (let y = 0; y < height; y++) {
    const row = tap(y, geometry.scaleY, geometry.offsetY, tensorHeight);
    if (!row) continue;
    const [upper, lower] = [row.from * tensorWidth, row.to * tensorWidth];
    for (let x = 0; x < width; x++) {
      const column = columns[x];
      if (!column) continue;
      const { from, to, share } = column;
      const above = heat[upper + from]! * (1 - share) + heat[upper + to]! * share;
      const below = heat[lower + from]! * (1 - share) + heat[lower + to]! * share;
      const value = (result[y * width + x] = Math.fround(above * (1 - row.share) + below * row.share));
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  return { width, height, heat: result, low, high };
}

/** Returns the two pixels of the tensor between which the center of an image's pixel lies, and the share of the second; undefined if it lies outside. */
function tap(
  pixel: number,
  scale: number,
  offset: number,
  size: number,
): { readonly from: number; readonly to: number; readonly share: number } | undefined {
  const point = (pixel + 0.5) * scale + offset;
  if (!(point >= 0 && point <= size)) return undefined;
  const at = Math.min(Math.max(point - 0.5, 0), size - 1);
  const from = Math.floor(at);
  return { from, to: Math.min(from + 1, size - 1), share: at - from };
}
