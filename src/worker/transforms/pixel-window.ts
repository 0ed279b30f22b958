/** The pixels of an image between two operations. */
import type { PixelFormat, Pixels, Strips } from '../../contract/images.js';

/** A part of a larger image, from its column `x` and row `y` on. */
export interface PixelWindow extends Pixels {
  readonly x: number;
  readonly y: number;
}

/** The same, of pixels that are made a few rows at a time. */
export interface StripWindow extends Strips {
  readonly x: number;
  readonly y: number;
}

/** Bytes per pixel. */
export const PIXEL_BYTES: Readonly<Record<PixelFormat, 1 | 3 | 4>> = { L: 1, RGB: 3, BGR: 3, RGBX: 4, BGRX: 4 };

/** Returns which byte of a pixel is red, green or blue (`color` 0, 1, 2). */
export function channelByte(format: PixelFormat, color: number): number {
  if (format === 'L') return 0;
  return format === 'BGR' || format === 'BGRX' ? 2 - color : color;
}

/**
 * Memory that operations write pixels to. It is reused for the next image, unless it is large. Only code between two
 * awaits may use it.
 */
export interface Scratch {
  /** Returns at least `bytes` bytes with any contents. The same `index` returns the same memory. */
  take(index: number, bytes: number): Uint8Array;
}

const MAX_REUSED_BYTES = 16 << 20;

export function createScratch(): Scratch {
  const buffers: Uint8Array[] = [];
  return {
    take(index, bytes) {
      const buffer = buffers[index];
      if (buffer && buffer.length >= bytes) return buffer;
      const fresh = new Uint8Array(bytes);
      if (bytes <= MAX_REUSED_BYTES) buffers[index] = fresh;
      return fresh;
    },
  };
}
