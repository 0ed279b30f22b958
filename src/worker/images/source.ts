/**
 * The common form of all kinds of images, before they are turned upright and made opaque.
 */
import type { PixelFormat, Rect, Strips } from '../../contract/images.js';
import type { Orientation } from './orientation.js';

/** Coded pixels, as the file stores them: neither turned nor composited. */
export interface Raster {
  readonly format: PixelFormat | 'RGBA' | 'BGRA';
  readonly width: number;
  readonly height: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly data: Uint8Array | Uint8ClampedArray;
  /** Whether colors are multiplied by their alpha. */
  readonly premultiplied?: boolean;
}

/** Returns at least `bytes` bytes of memory, for use until the next read. */
export type Allocate = (bytes: number) => ArrayBuffer;

/** An image whose coded pixels can be read. */
export interface Source {
  readonly width: number;
  readonly height: number;
  /** How the coded pixels must be turned. Other than 1 only for pixels of four bytes. */
  readonly orientation: Orientation;
  /**
   * Reads the coded pixels of `rect`, which is inside the image. Pixels with an alpha channel are in allocated memory or the
   * source's own, and may be changed.
   */
  read(rect: Rect, allocate: Allocate): Raster | Promise<Raster | Strips>;
  /** Closes what was made for this source, but nothing that is the caller's. */
  close(): void;
}
