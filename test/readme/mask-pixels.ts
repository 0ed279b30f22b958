import type { Instance } from 'tabserve';

/** Returns a byte for each pixel of the photo, row by row: 1 where it is in the mask. */
export function maskPixels({ width, height, runs }: Instance['mask']): Uint8Array {
  const pixels = new Uint8Array(width * height);
  for (let at = 0; at < runs.length; at += 2) pixels.fill(1, runs[at]!, runs[at]! + runs[at + 1]!);
  return pixels;
}
