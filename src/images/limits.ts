/**
 * The limits on what an image may cost. They hold before it is decoded.
 */
import { TabServeError } from '../contract/errors.js';
import type { Facts } from './facts.js';

/** Pillow's `MAX_IMAGE_PIXELS`, past which it suspects a decompression bomb. */
export const MAX_PIXELS = 178956970;

/**
 * The scans that an image of the most pixels may have; a smaller image may have more. Each scan of a progressive JPEG costs the time of all its pixels and
 * a few bytes of the file. libjpeg makes ten, and mozjpeg about a dozen.
 */
export const MAX_SCANS = 16;

/** @throws `image-too-large` if width × height exceeds `maxPixels` */
export function checkSize(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new TabServeError(
    'image-too-large',
    `The image has ${width} × ${height} = ${width * height} pixels; at most ${maxPixels} are allowed. Use a smaller image, or raise maxImagePixels.`,
  );
}

/** @throws `image-too-large` if a picture inside the file exceeds `maxPixels`, or if its scans together exceed `MAX_SCANS` times as much */
export function checkFacts({ width, height, largest, scans = 1 }: Facts, maxPixels: number): void {
  checkSize(largest.width, largest.height, maxPixels);
  if (width * height * scans <= maxPixels * MAX_SCANS) return;
  throw new TabServeError(
    'image-too-large',
    `The image has ${width} × ${height} pixels in ${scans} scans, which are ${width * height * scans} to decode; at most ${maxPixels * MAX_SCANS} are allowed. Save it with fewer scans, as a baseline JPEG for example.`,
  );
}
