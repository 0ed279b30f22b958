/** What the header of an image file says, and the limits on what an image may cost: they hold before it is decoded. */
import type { Span } from './exif.js';
import { TabServeError } from '../../contract/errors.js';

export interface Size {
  readonly width: number;
  readonly height: number;
}

/** The coded size in pixels of the picture that is decoded, and what decides how much memory and time that takes. */
export interface Facts extends Size {
  /**
   * The largest picture that a decoder may make memory for: the picture itself, a later frame, a tile, the canvas or a
   * hidden layer.
   */
  readonly largest: Size;
  /** The size to which a decoder may cut the picture. */
  readonly cut?: Size | undefined;
  /**
   * Whether the file goes on to the end of the picture, so far as its structure says; undefined where that is not
   * looked at.
   */
  readonly complete?: boolean | undefined;
  /** How often a decoder goes over all pixels, if the format can do so. */
  readonly scans?: number;
  /**
   * The number of color channels, as far as it is looked at: of a JPEG, where 4 are CMYK, and 1 of a gray PNG of at most
   * 8 bits without transparency.
   */
  readonly channels?: number | undefined;
  /** The position of the EXIF block, if the decoder takes the orientation from there. */
  readonly exif?: Span | undefined;
}

/** Returns the size with more pixels. */
export function larger(a: Size, b: Size | undefined): Size {
  return b && b.width * b.height >= a.width * a.height ? b : a;
}

/**
 * The scans that an image of the most pixels may have; a smaller image may have more. Each scan of a progressive JPEG
 * costs the time of all its pixels and a few bytes of the file. libjpeg makes ten, and mozjpeg at most twelve.
 */
export const MAX_SCANS = 12;

/** @throws `image-too-large` if width × height exceeds `maxPixels` */
export function checkSize(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new TabServeError(
    'image-too-large',
    `The image has ${width} × ${height} = ${width * height} pixels; at most ${maxPixels} are allowed. Use a smaller image, or raise maxImagePixels.`,
  );
}

/**
 * @throws `image-too-large` if a picture inside the file exceeds `maxPixels`, or if its scans together exceed
 *   `MAX_SCANS` times as much
 */
export function checkFacts({ width, height, largest, scans = 1 }: Facts, maxPixels: number): void {
  checkSize(largest.width, largest.height, maxPixels);
  if (width * height * scans <= maxPixels * MAX_SCANS) return;
  throw new TabServeError(
    'image-too-large',
    `The image has ${width} × ${height} pixels in ${scans} scans, which are ${width * height * scans} to decode; at most ${maxPixels * MAX_SCANS} are allowed. Save it with fewer scans, as a baseline JPEG for example.`,
  );
}
