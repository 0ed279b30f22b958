/** The pass that cuts a rotated part out of an image. No device is needed for this. */
import type { Rect } from '../../../contract/images.js';
import type { ImageCrop } from '../crop-image.js';
import type { AffineMap, Border } from '../crop-kernel.js';
import { paramsOf, type Pass } from './passes.js';

/** Their indices are the numbers of the shader. */
const BORDERS: readonly Border[] = ['replicate', 'zero', 'cut'];

/** Returns the pass whose result is the part `window` of a crop. */
export function cropPass({ source, border, map }: ImageCrop, window: Rect): Pass {
  const { width, height } = window;
  const params = paramsOf({
    width,
    height,
    sourceWidth: source.width,
    sourceHeight: source.height,
    border: BORDERS.indexOf(border),
  });
  return { entry: 'crop', width, height, params, table: coordinateTable(map, window), bytes: width * height * 4 };
}

/**
 * Returns whether the shader can compute the coordinates of a crop: its numbers have 16 bits before the point, and 48
 * after it.
 */
export function fitsShader({ source, map, width, height }: ImageCrop): boolean {
  const { a, b, c, d, e, f } = map;
  const farthest = ([u, v, from]: readonly [number, number, number]): number =>
    Math.abs(u) * width + Math.abs(v) * height + Math.abs(from);
  return Math.max(farthest([a, b, c]), farthest([d, e, f]), source.width, source.height) < 2 ** 15 - 1;
}

/**
 * Returns a table of the coordinates that a crop shows: for each of its columns a·u and d·u, then for each of its rows
 * b·v + c and e·v + f. Each is a number of 64 bits in units of 2^-48 pixels: its high half, then its low half. So a
 * coordinate is as exact as the CPU's, which has float64.
 */
export function coordinateTable(
  { a, b, c, d, e, f }: AffineMap,
  { x, y, width, height }: Rect,
): Int32Array<ArrayBuffer> {
  const table = new Int32Array(4 * (width + height));
  let to = 0;
  const add = (coordinate: number): void => {
    const units = Math.round(coordinate * 2 ** 48);
    const high = Math.floor(units / 2 ** 32);
    table[to++] = high;
    table[to++] = units - high * 2 ** 32;
  };
  for (let u = x; u < x + width; u++) for (const step of [a, d]) add(step * u);
  for (let v = y; v < y + height; v++) {
    add(b * v + c);
    add(e * v + f);
  }
  return table;
}
