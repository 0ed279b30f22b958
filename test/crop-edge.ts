import type { ImageCrop } from '../src/worker/transforms/crop-image.js';

/** Returns whether only the last bits of a pixel's place say whether it is beyond the image. */
export function isOnEdge({ map: { a, b, c, d, e, f }, source, width }: ImageCrop, pixel: number): boolean {
  const [u, v] = [pixel % width, Math.floor(pixel / width)];
  const [x, y] = [a * u + b * v + c, d * u + e * v + f];
  return [x, y, x - source.width + 1, y - source.height + 1].some((distance) => Math.abs(distance) < 1e-9);
}
