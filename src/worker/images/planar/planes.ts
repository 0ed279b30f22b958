/**
 * Luma and subsampled chroma of a part of a picture, as a decoder returns them.
 */
import type { Rect } from '../../../contract/images.js';

/** Planes of 8-bit samples. Chroma has half the resolution (rounded up) along each side that is subsampled. */
export interface Planes {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
  /** Whether `u` has pairs of U and V, and `v` nothing. @default false */
  readonly interleaved?: boolean;
  readonly yStride: number;
  readonly uStride: number;
  readonly vStride: number;
  /**
   * Luma samples in this part. Its edges are those of the picture, or at least two samples away from the converted
   * window.
   */
  readonly width: number;
  readonly height: number;
  readonly halfWidth: boolean;
  readonly halfHeight: boolean;
  /** Whether the whole picture is so narrow that libjpeg repeats chroma samples instead of interpolating. */
  readonly narrow: boolean;
}

/** Converts `window`, in luma samples, to RGBX, without gaps between rows. The result is valid until the next call. */
export type Convert = (planes: Planes, window: Rect) => Uint8Array | Uint8ClampedArray;

/** Returns the chroma row that contains luma row `y`, and the neighboring one that is nearer to it. */
export function chromaRows(y: number, { halfHeight, height }: Planes): readonly [near: number, far: number] {
  if (!halfHeight) return [y, y];
  const near = y >> 1;
  const last = (height - 1) >> 1;
  return [near, Math.min(last, Math.max(0, near + (y & 1 ? 1 : -1)))];
}

/** Returns the offsets of blocks of these sizes in a kernel's memory, one after the other with `slack` bytes between them. */
export function blockOffsets(slack: number, sizes: readonly number[]): { offsets: number[]; bytes: number } {
  let bytes = 0;
  const offsets = sizes.map((size) => {
    const offset = bytes;
    bytes += (size + slack + 15) & ~15;
    return offset;
  });
  return { offsets, bytes };
}
