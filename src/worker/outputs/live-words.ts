/**
 * The words of a live recording by LocalAgreement-2 (Macháček, Dabre and Bojar 2023: Turning Whisper into Real-Time
 * Transcription System): the sound so far is heard again and again, and a word is final when two hypotheses in a row
 * agree on it. A word that is final is never taken back.
 */
import type { SpokenPart } from '../../contract/spoken-text.js';

/** A word of a hypothesis. */
export interface HeardWord extends SpokenPart {
  /** Whether a segment ends with it: the sound may be cut after it. */
  readonly endsSegment: boolean;
}

/** The words of the sound that is heard again, as plain data. */
export interface WordsState {
  readonly final: readonly HeardWord[];
  /** Those after the final ones, by the last hypothesis. */
  readonly interim: readonly HeardWord[];
}

export const NO_WORDS: WordsState = { final: [], interim: [] };

/** Returns the words after another hypothesis about the sound. Final ones are only added. */
export function agree({ final, interim }: WordsState, hypothesis: readonly HeardWord[]): WordsState {
  const rest = hypothesis.slice(countFinal(final, hypothesis));
  const differs = rest.findIndex(({ text }, at) => text !== interim[at]?.text);
  return settle({ final, interim: rest }, differs < 0 ? rest.length : differs);
}

/** Makes the first words final that are not yet. */
export function settle({ final, interim }: WordsState, count: number): WordsState {
  return { final: [...final, ...interim.slice(0, count)], interim: interim.slice(count) };
}

/**
 * Returns how many words of a hypothesis are those that are final, which it may have heard in another way: as many as
 * have the least edit distance to them, by characters.
 */
function countFinal(final: readonly SpokenPart[], hypothesis: readonly SpokenPart[]): number {
  const known = Array.from(final.map(plain).join(''));
  // A punctuation mark that stands alone changes no distance. It counts as final if the final words end with such marks.
  const signs = final.length - 1 - final.findLastIndex((word) => plain(word) !== '');
  let signsInRow = 0;
  // The distance of the hypothesis so far to each beginning of the final words.
  let row = Array.from({ length: known.length + 1 }, (_, length) => length);
  let [count, least] = [0, known.length];
  for (const [at, word] of hypothesis.entries()) {
    const letters = plain(word);
    signsInRow = letters === '' ? signsInRow + 1 : 0;
    if (signsInRow > signs) continue;
    for (const letter of letters) {
      const next = [row[0]! + 1];
      for (let length = 1; length <= known.length; length++)
        next.push(
          Math.min(row[length - 1]! + (known[length - 1] === letter ? 0 : 1), row[length]! + 1, next[length - 1]! + 1),
        );
      row = next;
    }
    // If several are equally near, the longest counts: no word is written twice.
    if (row[known.length]! <= least) [count, least] = [at + 1, row[known.length]!];
  }
  return count;
}

/** Returns a word without what a later hypothesis changes most: its case and its punctuation. */
function plain({ text }: SpokenPart): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}
