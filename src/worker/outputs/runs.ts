import type { OnArrayBuffer } from '../../contract/tensors.js';
import type { Box } from './detection/detection.js';

/** Which pixels of a photo are in a mask. */
export interface RunMask {
  /** The photo's size, in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * Pairs of a start and a length: so many pixels from that one on, of the photo's pixels row by row, are in the mask. In
   * ascending order, none touches the next.
   */
  readonly runs: OnArrayBuffer<Uint32Array>;
}

/** Returns the pixels that `isInside` as runs, with the smallest box around them; undefined if there are none. */
export function runMask(
  width: number,
  height: number,
  isInside: (index: number) => boolean,
): { readonly mask: RunMask; readonly box: Box } | undefined {
  const runs: number[] = [];
  let end = -1;
  let [xmin, ymin, xmax, ymax] = [width, height, 0, 0];
  for (let y = 0, index = 0; y < height; y++)
    for (let x = 0; x < width; x++, index++) {
      if (!isInside(index)) continue;
      if (index === end) runs[runs.length - 1]! += 1;
      else runs.push(index, 1);
      end = index + 1;
      [xmin, xmax] = [Math.min(xmin, x), Math.max(xmax, x + 1)];
      [ymin, ymax] = [Math.min(ymin, y), y + 1];
    }
  if (runs.length === 0) return undefined;
  return { mask: { width, height, runs: Uint32Array.from(runs) }, box: { xmin, ymin, xmax, ymax } };
}
