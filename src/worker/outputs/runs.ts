import type { OnArrayBuffer } from '../../contract/tensors.js';
import type { Box } from './boxes/detection.js';

/** Which pixels of a photo are in a mask. */
export interface RunMask {
  /** The photo's size, in pixels. */
  readonly width: number;
  readonly height: number;
  /**
   * Pairs of a start and a length: this many pixels from that one on, of the photo's pixels row by row, are in the mask. In
   * ascending order, none touches the next.
   */
  readonly runs: OnArrayBuffer<Uint32Array>;
}

/** A mask, and the smallest box around it. */
export interface BoxedMask {
  readonly mask: RunMask;
  readonly box: Box;
}

/** Collects the pixels of a mask: row by row, each from left to right. */
export class MaskPixels {
  readonly #runs: number[] = [];
  #end = -1;
  #xmin = Infinity;
  #ymin = Infinity;
  #xmax = 0;

  constructor(
    readonly width: number,
    readonly height: number,
  ) {}

  add(x: number, y: number): void {
    const index = y * this.width + x;
    if (index === this.#end) this.#runs[this.#runs.length - 1]! += 1;
    else this.#runs.push(index, 1);
    this.#end = index + 1;
    if (x < this.#xmin) this.#xmin = x;
    if (y < this.#ymin) this.#ymin = y;
    if (x >= this.#xmax) this.#xmax = x + 1;
  }

  /** Returns the pixels as runs; undefined if there are none. */
  collected(): BoxedMask | undefined {
    if (this.#runs.length === 0) return undefined;
    const { width, height } = this;
    return {
      mask: { width, height, runs: Uint32Array.from(this.#runs) },
      box: { xmin: this.#xmin, ymin: this.#ymin, xmax: this.#xmax, ymax: Math.ceil(this.#end / width) },
    };
  }
}

/** Returns the pixels that `isInside` as runs, with the smallest box around them; undefined if there are none. */
export function runMask(width: number, height: number, isInside: (index: number) => boolean): BoxedMask | undefined {
  const pixels = new MaskPixels(width, height);
  for (let y = 0, index = 0; y < height; y++)
    for (let x = 0; x < width; x++, index++) if (isInside(index)) pixels.add(x, y);
  return pixels.collected();
}
