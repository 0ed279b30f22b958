import type { Region } from '../../../contract/images.js';
import { MaskPixels, type RunMask } from '../../outputs/runs.js';

/** From this probability on a pixel is in the mask. */
const INSIDE = 0.5;

/**
 * Returns which pixels of a photo a person covers, by a map of a rotated square of it: the map is sampled bilinearly at
 * each pixel's center, and what is beyond the square is outside.
 * @param map probabilities, `[side, side]`
 */
export function bodyMask(
  map: Float32Array,
  side: number,
  region: Region,
  { width, height }: { readonly width: number; readonly height: number },
): RunMask {
  const pixels = new MaskPixels(width, height);
  const [cos, sin] = [Math.cos(region.angle), Math.sin(region.angle)];
  const reach = Math.hypot(region.width, region.height) / 2;
  const [top, bottom] = [Math.max(0, Math.floor(region.y - reach)), Math.min(height, Math.ceil(region.y + reach))];
  const [left, right] = [Math.max(0, Math.floor(region.x - reach)), Math.min(width, Math.ceil(region.x + reach))];
  for (let y = top; y < bottom; y++)
    for (let x = left; x < right; x++) {
      const [dx, dy] = [x - region.x, y - region.y];
      const u = ((cos * dx + sin * dy) / region.width + 0.5) * side;
      const v = ((cos * dy - sin * dx) / region.height + 0.5) * side;
      if (sample(map, side, u, v) >= INSIDE) pixels.add(x, y);
    }
  return pixels.collected()?.mask ?? { width, height, runs: new Uint32Array() };
}

/** Returns the number of a square map at a position, by its four neighbours; 0 beyond its edge. */
function sample(map: Float32Array, side: number, u: number, v: number): number {
  if (u < 0 || v < 0 || u > side - 1 || v > side - 1) return 0;
  const [column, row] = [Math.min(Math.floor(u), side - 2), Math.min(Math.floor(v), side - 2)];
  const [across, down] = [u - column, v - row];
  const at = row * side + column;
  const upper = map[at]! * (1 - across) + map[at + 1]! * across;
  const lower = map[at + side]! * (1 - across) + map[at + side + 1]! * across;
  return upper * (1 - down) + lower * down;
}
