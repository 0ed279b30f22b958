import type { TypedArrayInput } from './tensors.js';

/** A rectangle in pixels; the origin is the top left corner. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** How the bytes of a pixel follow one another; X is a byte to ignore. */
export type PixelFormat = 'RGB' | 'BGR' | 'RGBX' | 'BGRX' | 'L';

/** 8-bit interleaved pixels, top row first. Opaque: transparency has been composited already. */
export interface Pixels {
  readonly format: PixelFormat;
  readonly width: number;
  readonly height: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** An image whose pixels are read on demand, upright, and only where they are needed. */
export interface DecodedImage {
  /** Upright width and height, in pixels. */
  readonly width: number;
  readonly height: number;
  /** The pixels of `rect`, or all of them. The buffer is valid until the next `read` or `close`. */
  read(rect?: Rect): Pixels | Promise<Pixels>;
  close(): void;
}

/** How images are turned into pixels. */
export interface DecodeOptions {
  /** Turns photos upright by their EXIF tag. @default true */
  readonly exifOrientation?: boolean;
  /** The color, RGB in 0..255, that shows through transparent pixels. @default [255, 255, 255] */
  readonly background?: readonly [number, number, number];
  /** An image of more pixels than this is refused with `image-too-large`. @default 178956970, Pillow's */
  readonly maxPixels?: number;
}

/**
 * What a vision handler takes: an encoded image, something drawn, 8-bit pixels `[height, width, 1 | 3 | 4]` (RGB or RGBA),
 * or a float tensor that is ready for the model and passes untransformed.
 */
export type ImageInput = Blob | ImageBitmap | ImageData | VideoFrame | OffscreenCanvas | TypedArrayInput;

/** What a page may hand over as well: it is turned into something that can cross to the worker. */
export type ElementInput = HTMLImageElement | HTMLVideoElement | HTMLCanvasElement;
