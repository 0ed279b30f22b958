/**
 * What every kind of image becomes before it is turned upright and made opaque.
 */
import type { PixelFormat, Rect } from '../contract/images.js';
import type { Orientation } from './orientation.js';

/** Coded pixels: as stored, neither turned nor composited. Alpha is not premultiplied. */
export interface Raster {
  readonly format: PixelFormat | 'RGBA' | 'BGRA';
  readonly width: number;
  readonly height: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** Opaque pixels that are made a few rows at a time, so that they can be turned while they are in the cache. */
export interface Strips {
  readonly format: PixelFormat;
  readonly width: number;
  readonly height: number;
  /** `rows` rows of four bytes a pixel from `top` on, close together. The answer is valid until the next call, of any image. */
  strip(top: number, rows: number): Uint8Array | Uint8ClampedArray;
}

/** Lends memory of at least `bytes` bytes until the next read. */
export type Lend = (bytes: number) => ArrayBuffer;

/** An image whose coded pixels can be read. */
export interface Source {
  readonly width: number;
  readonly height: number;
  /** How the coded pixels are to be turned. Only pixels of four bytes can be. */
  readonly orientation: Orientation;
  /** The coded pixels of `rect`, which lies inside. What has an alpha channel lies in lent memory, and may be written to. */
  read(rect: Rect, lend: Lend): Raster | Promise<Raster | Strips>;
  /** Closes what was made for this source, and nothing of the caller's. */
  close(): void;
}
