/** A word or a punctuation mark of a text: `text.slice(start, end)`. */
export interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the words and punctuation marks of a text, by Unicode's word boundaries (UAX 29). White space is none. */
export function findWords(text: string): Word[] {
  const segments = new Intl.Segmenter('und', { granularity: 'word' }).segment(text);
  return Array.from(segments, ({ segment, index }) => ({ word: segment, start: index, end: index + segment.length })).filter(({ word }) => word.trim() !== ''); // prettier-ignore
}

/** Returns a text without one of its words and the white space before it; for the first word, the white space after it. */
export function leaveOut(text: string, { start, end }: Word): string {
  const before = text.slice(0, start).trimEnd();
  return before === '' ? text.slice(end).trimStart() : before + text.slice(end);
}
