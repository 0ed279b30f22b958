/** What browsers make of the files of `test/goldens/sounds`, against ffmpeg. */
import { readFileSync } from 'node:fs';

export interface Decoded {
  readonly sampleRate: number;
  readonly channels: number;
  readonly samples: number;
  readonly every97th: readonly number[];
}

/** By the files' names. */
export const DECODED = JSON.parse(
  readFileSync(new URL('goldens/sounds/decoded.json', import.meta.url), 'utf8'),
) as Readonly<Record<string, Decoded>>;

/** Samples by which an encoder's delay may be counted in another way: Firefox has that of MP3, Chromium a part of WebM's. */
const MOST_SHIFT = 1200;

/** Samples by which lengths may differ: the encoder's delay and the padding of the last frame of MP3, 1,152 each. */
export const MOST_MORE = 2 * 1152;

/** Returns how much samples differ at the shift where they differ least, without what fades in and out. */
export function differenceOf(samples: readonly number[], { every97th }: Decoded): number {
  let least = Infinity;
  for (let shift = -MOST_SHIFT; shift <= MOST_SHIFT; shift++) {
    let most = 0;
    for (let at = 15; at < every97th.length - 25 && most < least; at++)
      most = Math.max(most, Math.abs(every97th[at]! - samples[at * 97 + shift]!));
    least = Math.min(least, most);
  }
  return least;
}
