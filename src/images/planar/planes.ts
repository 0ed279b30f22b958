/**
 * Luma and subsampled chroma of a part of a picture, as a decoder leaves them.
 */
import type { Rect } from '../../contract/images.js';

/** Planes of 8-bit samples. Chroma lies at half the resolution (rounded up) along each side that is subsampled. */
export interface Planes {
  readonly y: Uint8Array;
  readonly u: Uint8Array;
  readonly v: Uint8Array;
  readonly yStride: number;
  readonly uStride: number;
  readonly vStride: number;
  /** Luma samples in this part. Its edges are the picture's, or lie two samples outside of what is converted. */
  readonly width: number;
  readonly height: number;
  readonly halfWidth: boolean;
  readonly halfHeight: boolean;
  /** Whether the whole picture is so narrow that libjpeg repeats chroma samples instead of interpolating. */
  readonly narrow: boolean;
}

/** Converts `window`, in luma samples, to RGBX, its rows close together. The answer is valid until the next call. */
export type Convert = (planes: Planes, window: Rect) => Uint8Array | Uint8ClampedArray;

/** The chroma row that row `y` lies in, and the one that it lies next to. */
export function chromaRows(y: number, { halfHeight, height }: Planes): readonly [near: number, far: number] {
  if (!halfHeight) return [y, y];
  const near = y >> 1;
  const last = (height - 1) >> 1;
  return [near, Math.min(last, Math.max(0, near + (y & 1 ? 1 : -1)))];
}
