import { MOST_VARIANTS } from '../../contract/limits.js';

/** A word or a punctuation mark of a text: `text.slice(start, end)`. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** How many characters are segmented at a time, at least: the time of browsers' segmenters grows with the square of a text's length. */
const PIECE = 4096;
/** Matches two characters between which there is a word boundary in any text, so a text may be cut there. */
const BOUNDARY = /\S[ \n。]/g;

/**
 * Returns the words and punctuation marks of a text, by Unicode's word boundaries (UAX 29). White space is none. It stops
 * soon after more than `MOST_VARIANTS`.
 */
export function findWords(text: string): Word[] {
  const segmenter = new Intl.Segmenter('und', { granularity: 'word' });
  const words: Word[] = [];
  for (let from = 0, to; from < text.length && words.length <= MOST_VARIANTS; from = to) {
    BOUNDARY.lastIndex = from + PIECE;
    to = (BOUNDARY.exec(text)?.index ?? text.length) + 1;
    for (const { segment, index } of segmenter.segment(text.slice(from, to)))
      if (segment.trim() !== '') words.push({ word: segment, start: from + index, end: from + index + segment.length });
  }
  return words;
}

/** Returns a text without one of its words and the white space before it; for the first word, the white space after it. */
export function leaveOut(text: string, { start, end }: Word): string {
  const before = text.slice(0, start).trimEnd();
  return before === '' ? text.slice(end).trimStart() : before + text.slice(end);
}
