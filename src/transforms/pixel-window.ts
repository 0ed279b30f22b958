/** Parts of images while they are being transformed. */
import type { PixelFormat, Pixels } from '../contract/images.js';

/** The pixels of a larger image from its column `x` and row `y` on. */
export interface PixelWindow extends Pixels {
  readonly x: number;
  readonly y: number;
}

/** Bytes of a pixel. */
export const PIXEL_BYTES: Readonly<Record<PixelFormat, 1 | 3 | 4>> = { L: 1, RGB: 3, BGR: 3, RGBX: 4, BGRX: 4 };

/** The byte of red, green or blue (0, 1, 2) in a pixel. */
export function channelByte(format: PixelFormat, color: number): number {
  if (format === 'L') return 0;
  return format === 'BGR' || format === 'BGRX' ? 2 - color : color;
}

/** Memory that primitives write their pixels to: kept from one image to the next, unless it is large. Used between two awaits only. */
export interface Scratch {
  /** At least `bytes` of memory with unknown contents, the same ones for each `index`. */
  take(index: number, bytes: number): Uint8Array;
}

const KEPT_BYTES = 16 << 20;

export function createScratch(): Scratch {
  const kept: Uint8Array[] = [];
  return {
    take(index, bytes) {
      const buffer = kept[index];
      if (buffer && buffer.length >= bytes) return buffer;
      const fresh = new Uint8Array(bytes);
      if (bytes <= KEPT_BYTES) kept[index] = fresh;
      return fresh;
    },
  };
}
