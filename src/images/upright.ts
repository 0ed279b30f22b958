/**
 * Turns coded pixels upright.
 */
import type { Pixels, Strips } from '../contract/images.js';
import { toUpright, turn, type Orientation } from './orientation.js';
import type { Lend } from './source.js';

/** The number of rows that are made and turned at a time. A row of a 12-megapixel photo has 16 kB; a cache has about 512 kB. */
const STRIP_ROWS = 32;

/** Returns opaque coded pixels in upright orientation, in lent memory. If there is nothing to do, returns them as they are. */
export function upright(coded: Pixels | Strips, orientation: Orientation, lend: Lend): Pixels {
  const { format, width, height } = coded;
  if (!('strip' in coded) && orientation === 1) return coded;
  const size = toUpright({ x: 0, y: 0, width, height }, orientation, width, height);
  const bytes = width * height * 4;
  const target = new Uint32Array(lend(bytes), 0, width * height);
  const put = (pixels: Pixels['data'], stride: number, top: number, rows: number): void => {
    const { x, y } = toUpright({ x: 0, y: top, width, height: rows }, orientation, width, height);
    const words = new Uint32Array(pixels.buffer as ArrayBuffer, pixels.byteOffset, pixels.byteLength >> 2);
    const corner = y * size.width + x;
    if (orientation === 1) target.set(words, corner);
    else turn(words, stride / 4, width, rows, orientation, target.subarray(corner), size.width);
  };
  if ('strip' in coded) {
    for (let top = 0; top < height; top += STRIP_ROWS) {
      const rows = Math.min(STRIP_ROWS, height - top);
      put(coded.strip(top, rows), width * 4, top, rows);
    }
  } else put(coded.data, coded.stride, 0, height);
  return {
    format,
    width: size.width,
    height: size.height,
    stride: size.width * 4,
    data: new Uint8Array(target.buffer, 0, bytes),
  };
}
