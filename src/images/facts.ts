/**
 * What the header of an image file says.
 */
import type { Span } from './exif.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The coded size in pixels of the picture that is decoded, and what decides how much memory and time that takes. */
export interface Facts extends Size {
  /** The largest picture that a decoder may make memory for: the picture itself, a later frame, a tile, the canvas or a hidden layer. */
  readonly largest: Size;
  /** The size to which a decoder may cut the picture. */
  readonly cut?: Size | undefined;
  /** Whether the file goes on to the end of the picture, so far as its structure says; undefined where that is not looked at. */
  readonly complete?: boolean | undefined;
  /** How often a decoder goes over all pixels, if the format can do so. */
  readonly scans?: number;
  /** The position of the EXIF block, if the decoder takes the orientation from there. */
  readonly exif?: Span | undefined;
}

/** Returns the size with more pixels. */
export function larger(a: Size, b: Size | undefined): Size {
  return b && b.width * b.height >= a.width * a.height ? b : a;
}
