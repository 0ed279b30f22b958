/**
 * The eight orientations of EXIF 2.32 (tag 0x0112), as `PIL.ImageOps.exif_transpose` applies them.
 */
import type { Pixels, Rect, Strips } from '../../contract/images.js';
import type { Allocate } from './source.js';

export type Orientation = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8;

/**
 * Maps an upright (u, v) to a coded (x, y): first the sides are swapped (x = v, y = u), then x and y are counted from
 * the far end.
 */
interface Turn {
  readonly swap: boolean;
  readonly flipX: boolean;
  readonly flipY: boolean;
}

const TURNS: Readonly<Record<Orientation, Turn>> = {
  1: { swap: false, flipX: false, flipY: false },
  2: { swap: false, flipX: true, flipY: false },
  3: { swap: false, flipX: true, flipY: true },
  4: { swap: false, flipX: false, flipY: true },
  5: { swap: true, flipX: false, flipY: false },
  6: { swap: true, flipX: false, flipY: true },
  7: { swap: true, flipX: true, flipY: true },
  8: { swap: true, flipX: true, flipY: false },
};

/** The side of the square that is transposed at a time. The rows that it reads and writes stay in the cache. */
const TILE = 32;

export function swapsSides(orientation: Orientation): boolean {
  return TURNS[orientation].swap;
}

/** Returns the orientation of a clockwise rotation in degrees, followed by a horizontal flip. */
export function fromRotation(rotation: number, flip: boolean): Orientation {
  const quarter = (((rotation / 90) % 4) + 4) % 4;
  return (flip ? ([2, 5, 4, 7] as const) : ([1, 6, 3, 8] as const))[quarter as 0 | 1 | 2 | 3] ?? 1;
}

/** Returns where the upright `rect` is in a coded picture of `width` × `height`. */
export function toCoded(rect: Rect, orientation: Orientation, width: number, height: number): Rect {
  const { swap, flipX, flipY } = TURNS[orientation];
  const { x, y, width: w, height: h } = swap ? { x: rect.y, y: rect.x, width: rect.height, height: rect.width } : rect;
  return { x: flipX ? width - x - w : x, y: flipY ? height - y - h : y, width: w, height: h };
}

/** Returns where the coded `rect` of a coded picture of `width` × `height` is in the upright picture. */
export function toUpright(rect: Rect, orientation: Orientation, width: number, height: number): Rect {
  const { swap, flipX, flipY } = TURNS[orientation];
  const x = flipX ? width - rect.x - rect.width : rect.x;
  const y = flipY ? height - rect.y - rect.height : rect.y;
  return swap
    ? { x: y, y: x, width: rect.height, height: rect.width }
    : { x, y, width: rect.width, height: rect.height };
}

/**
 * Turns coded pixels of four bytes upright.
 * @param source `width` × `height` coded pixels, with `stride` pixels from one row to the next
 * @param target starts at the top left upright pixel, with `targetStride` pixels from one row to the next
 */
export function turn(
  source: Uint32Array,
  stride: number,
  width: number,
  height: number,
  orientation: Orientation,
  target: Uint32Array,
  targetStride: number,
): void {
  const { swap, flipX, flipY } = TURNS[orientation];
  const start = (flipX ? width - 1 : 0) + (flipY ? (height - 1) * stride : 0);
  const stepX = flipX ? -1 : 1;
  const stepY = flipY ? -stride : stride;
  const [columns, rows] = swap ? [height, width] : [width, height];
  const [across, down] = swap ? [stepY, stepX] : [stepX, stepY];
  const tile = swap ? TILE : columns;
  for (let top = 0; top < rows; top += TILE) {
    const bottom = Math.min(top + TILE, rows);
    for (let left = 0; left < columns; left += tile) {
      const right = Math.min(left + tile, columns);
      for (let v = top; v < bottom; v++) {
        let from = start + v * down + left * across;
        const end = v * targetStride + right;
        for (let to = v * targetStride + left; to < end; to++, from += across) target[to] = source[from]!;
      }
    }
  }
}

/**
 * The number of rows that are made and turned at a time. A row of a 12-megapixel photo has 16 kB; a cache has about 512
 * kB.
 */
const STRIP_ROWS = 32;

/**
 * Returns opaque coded pixels in upright orientation, in allocated memory. If there is nothing to do, returns them as they
 * are.
 */
export function upright(coded: Pixels | Strips, orientation: Orientation, allocate: Allocate): Pixels {
  const { format, width, height } = coded;
  if (!('strip' in coded) && orientation === 1) return coded;
  const size = toUpright({ x: 0, y: 0, width, height }, orientation, width, height);
  const bytes = width * height * 4;
  const target = new Uint32Array(allocate(bytes), 0, width * height);
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
