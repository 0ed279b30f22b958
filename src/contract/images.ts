import type { TypedArrayInput } from './tensors.js';

/** A rectangle in pixels; the origin is the top left corner. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A rotated rectangle, in pixels of an image: the center of the first pixel is (0, 0), as in OpenCV. */
export interface Region {
  /** The center. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** How far it is turned clockwise, in radians. */
  readonly angle: number;
}

/** The order of the bytes of a pixel. X is a byte to ignore. */
export type PixelFormat = 'RGB' | 'BGR' | 'RGBX' | 'BGRX' | 'L';

/** 8-bit interleaved pixels, top row first. They are opaque: transparency has been composited already. */
export interface Pixels {
  readonly format: PixelFormat;
  readonly width: number;
  readonly height: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** Opaque pixels that are made a few rows at a time, which stay in the processor's cache until they are used. */
export interface Strips {
  readonly format: PixelFormat;
  readonly width: number;
  readonly height: number;
  /**
   * Returns `rows` rows from `top` on, with four bytes per pixel and no gaps. They are valid until the next call, on
   * any image.
   */
  strip(top: number, rows: number): Uint8Array | Uint8ClampedArray;
}

/** An image in upright orientation. Its pixels are read on demand, and only the region that is needed. */
export interface DecodedImage {
  /** Upright width and height, in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * The bitmap that the image was opened from, if its pixels are the image's: a GPU can copy it without reading it.
   * Undefined otherwise.
   */
  readonly bitmap?: ImageBitmap | undefined;
  /**
   * Returns the pixels of `rect`, by default of the whole image. Their buffer is valid until the next call of `read` or
   * `close`.
   */
  read(rect?: Rect): Pixels | Promise<Pixels>;
  /**
   * Does what `read` does, but where that saves time, it returns pixels that are made a few rows at a time. Images that
   * other code makes may lack it.
   */
  readStrips?(rect: Rect): Pixels | Strips | Promise<Pixels | Strips>;
  close(): void;
}

/** Options of image decoding. */
export interface DecodeOptions {
  /** Whether a photo is turned upright, as its EXIF tag says. @default true */
  readonly exifOrientation?: boolean;
  /** The color behind transparent pixels: red, green, blue in 0..255. @default [255, 255, 255] */
  readonly background?: readonly [number, number, number];
  /**
   * An image with more pixels than this is refused with `image-too-large`.
   * @default 102400000, more than a camera of 100 megapixels has
   */
  readonly maxPixels?: number;
}

/**
 * What a vision handler takes: an encoded image (a Blob or a File), a bitmap, a frame or a canvas, 8-bit pixels of dims
 * `[height, width, 1 | 3 | 4]` (gray, RGB or RGBA), or a float32 tensor that has the model's dims and is not
 * transformed.
 */
export type ImageInput = Blob | ImageBitmap | ImageData | VideoFrame | OffscreenCanvas | TypedArrayInput;

/**
 * Elements that a page may pass as an image. The client sends the worker an ImageBitmap, or a VideoFrame of a video.
 */
export type ElementInput = HTMLImageElement | HTMLVideoElement | HTMLCanvasElement;
