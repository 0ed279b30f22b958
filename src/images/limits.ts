/**
 * The limit on an image's size.
 */
import { TabServeError } from '../contract/errors.js';

/** Pillow's `MAX_IMAGE_PIXELS`, past which it suspects a decompression bomb. */
export const MAX_PIXELS = 178956970;

/** @throws `image-too-large` if width × height exceeds `maxPixels` */
export function checkSize(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  throw new TabServeError(
    'image-too-large',
    `The image has ${width} × ${height} = ${width * height} pixels; at most ${maxPixels} are allowed. Use a smaller image, or raise maxImagePixels.`,
  );
}
