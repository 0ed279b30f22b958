import { TabServeError } from '../../contract/errors.js';

/** The largest number of UTF-16 units in a text, and of bytes in a Blob of text. */
export const MAX_TEXT_LENGTH = 10_000_000;

/**
 * The largest number of UTF-16 units that the tokenizer gets at once; a longer text is cut where that does not change
 * its tokens.
 */
export const MAX_PIECE_LENGTH = 100_000;

/**
 * The largest number of UTF-16 units that `Replace` or `Prepend` of a tokenizer makes of a text: several, one after the
 * other, may double it each time.
 */
const MAX_REPLACED = 10 * MAX_PIECE_LENGTH;

/** @throws `invalid-input` if a tokenizer's files make a text too long */
export function checkReplaced(length: number): void {
  if (length > MAX_REPLACED)
    throw new TabServeError(
      'invalid-input',
      `The tokenizer's files make more than ${MAX_REPLACED} characters of this text. Pass a shorter one. If it is short, the tokenizer.json is damaged: download it again.`,
    );
}

/**
 * The largest number of combining marks after one letter. Unicode normalization sorts them, in a time that grows with
 * the square of their number.
 */
export const MAX_MARKS = 256;

/** The largest number of tokens to which a tokenizer's files may ask to pad a row. */
export const MAX_ROW_TOKENS = 1_000_000;

/** The largest number of steps of one kind, such as normalizers, in a tokenizer's files. Each reads the whole text. */
export const MAX_STEPS = 100;

/** The largest number of characters of a token. A text is compared with all tokens that may begin at a character. */
export const MAX_TOKEN_LENGTH = 1_000;

/** The largest number of special tokens, and of parts, that a tokenizer's files add to a text. */
export const MAX_PARTS = 1_000;

/** The largest id of a token: models take 32-bit integers. */
export const MAX_TOKEN_ID = 2 ** 31 - 1;

/** The largest number of windows that a text is cut into. */
export const MAX_WINDOWS = 2048;

/** Combining marks, and the two letters that compatibility normalization converts to one. */
const MARKS = /[\p{M}\uFF9E\uFF9F]+/gu;

/** Checks the length of a text, in UTF-16 units, or of a Blob, in bytes. @throws `invalid-input` naming the limit */
export function checkLength(length: number): void {
  if (length > MAX_TEXT_LENGTH)
    throw new TabServeError(
      'invalid-input',
      `The text has a length of ${length}, and the limit is ${MAX_TEXT_LENGTH}. Pass a part of it.`,
    );
}

/** Checks how many combining marks follow one another. @throws `invalid-input` naming the limit */
export function checkMarks(text: string): void {
  for (const [marks] of text.matchAll(MARKS)) {
    if (marks.length > MAX_MARKS)
      throw new TabServeError(
        'invalid-input',
        `The text has ${marks.length} combining marks in a row, and the limit is ${MAX_MARKS}. Remove them.`,
      );
  }
}

/** Returns the error for a text that is too long for the tokenizer, and has no place where a cut changes no token. */
export function tooLongToCut(length: number): TabServeError {
  return new TabServeError(
    'invalid-input',
    `The text has ${length} characters without a place to cut it for this tokenizer, such as a space between two words, and the limit is ${MAX_PIECE_LENGTH}. Pass a shorter text.`,
  );
}
