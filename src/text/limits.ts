import { TabServeError } from '../contract/errors.js';

/** The largest number of UTF-16 units in a text, and of bytes in a Blob of text. */
export const LARGEST_TEXT = 10_000_000;

/** The largest number of UTF-16 units that the tokenizer gets at once; a longer text is cut where that does not change its tokens. */
export const LONGEST_PIECE = 100_000;

/** The largest number of combining marks after one letter. Unicode normalization sorts them, in a time that grows with the square of their number. */
export const MOST_MARKS = 256;

/** The largest number of tokens to which a tokenizer's files may ask to pad a row. */
export const LONGEST_ROW = 1_000_000;

/** The largest number of characters in a word that a tokenizer's files may ask to look up piece by piece; the time grows with the square of it. */
export const LONGEST_WORD = 1_000;

/** The most characters that a tokenizer's files may ask to insert into a text at a time. */
export const LONGEST_INSERT = 64;

/** The most times its length that the steps of a tokenizer together may make a text. */
export const MOST_GROWTH = 64;

/** The most steps of a normalizer, and of a pre-tokenizer. */
export const MOST_STEPS = 100;

/** The most characters of all added tokens together. */
export const LONGEST_ADDED = 1_000_000;

/** The longest usual token of a vocabulary, in UTF-16 units. */
export const LONGEST_TOKEN = 512;

/** The same for Unigram, which compares all tokens that begin at a place of the text with all that end there. SentencePiece makes tokens of up to 16 characters. */
export const LONGEST_UNIGRAM_TOKEN = 24;

/** The most tokens of a vocabulary that may be longer. */
export const MOST_LONG_TOKENS = 8;

/** Combining marks, and the two letters that compatibility normalization converts to one. */
const MARKS = /[\p{M}\uFF9E\uFF9F]+/gu;

/** Checks the length of a text, in UTF-16 units, or of a Blob, in bytes. @throws `invalid-input` naming the limit */
export function checkLength(length: number): void {
  if (length > LARGEST_TEXT)
    throw new TabServeError(
      'invalid-input',
      `The text has a length of ${length}, and the limit is ${LARGEST_TEXT}. Pass a part of it.`,
    );
}

/** Checks how many combining marks follow one another. @throws `invalid-input` naming the limit */
export function checkMarks(text: string): void {
  for (const [marks] of text.matchAll(MARKS)) {
    if (marks.length > MOST_MARKS)
      throw new TabServeError(
        'invalid-input',
        `The text has ${marks.length} combining marks in a row, and the limit is ${MOST_MARKS}. Remove them.`,
      );
  }
}

/** Returns the error for a text that has no place to cut it, and is too long for the tokenizer. */
export function tooLongToCut(length: number): TabServeError {
  return new TabServeError(
    'invalid-input',
    `The text has ${length} characters without a space between two words, and the limit is ${LONGEST_PIECE} for this tokenizer. Pass a shorter text.`,
  );
}
