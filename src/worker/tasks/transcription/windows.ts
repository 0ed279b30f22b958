/** What an answer of Whisper covers of its window: `_retrieve_segment` of transformers. */

/** Encoder frames of 10 ms for each step of a time, of 20 ms. */
const FRAMES_PER_STEP = 2;

/** What an answer has of its window. */
export interface HeardWindow {
  /** How many of its tokens count. What comes after the last whole segment was cut off in the middle. */
  readonly count: number;
  /** How many frames of the spectrogram it has heard. */
  readonly frames: number;
}

/**
 * @param tokens of the answer, without the one that ended it
 * @param begin the token of 0 seconds
 * @param frames of the window
 */
export function heardWindow(tokens: readonly number[], begin: number, frames: number): HeardWindow {
  const isTime = (at: number): boolean => tokens[at]! >= begin;
  const pair = tokens.findLastIndex((_, at) => at > 0 && isTime(at - 1) && isTime(at));
  const endsAlone = tokens.length >= 2 && isTime(tokens.length - 1) && !isTime(tokens.length - 2);
  // Nothing is said after a last time that stands alone.
  if (pair < 0 || endsAlone) return { count: tokens.length, frames };
  const heard = (tokens[pair - 1]! - begin) * FRAMES_PER_STEP;
  // A pair of two zeros would never end.
  return { count: pair + 1, frames: heard > 0 ? heard : frames };
}

/** Returns how many tokens of an answer count whatever is written after them. */
export function settledCount(tokens: readonly number[], begin: number): number {
  const first = tokens.findIndex((token) => token >= begin);
  const pair = tokens.findLastIndex((token, at) => at > 0 && token >= begin && tokens[at - 1]! >= begin);
  return first < 0 ? tokens.length : Math.max(first, pair + 1);
}
