/** The token ids of a text, or of a pair of texts. */
export interface Encoding {
  readonly ids: readonly number[];
  /** For each token 0 or 1: which of the two texts it belongs to, according to the tokenizer. */
  readonly typeIds: readonly number[];
  /** The span of each token, if it was asked for; undefined for a token that the tokenizer has added. */
  readonly spans?: readonly (TokenSpan | undefined)[];
  /** Whether tokens of the texts are left out, because there are too many. */
  readonly isTruncated?: boolean;
}

/** The position of a token in its text. */
export interface TokenSpan {
  /** Which of the two texts it is part of. */
  readonly text: 0 | 1;
  /** Which word of the text, as the tokenizer splits it, the token is part of: a number that no other word has. */
  readonly word: number;
  /** Where its characters begin in the text, in UTF-16 units, as `slice` counts. */
  readonly start: number;
  /** Where they end. */
  readonly end: number;
}

/** How rows of different lengths are padded to the same length. */
export interface Padding {
  readonly id: number;
  readonly typeId: number;
  readonly side: 'left' | 'right';
  /** The length of every row; if undefined, the length of the longest row of the batch. */
  readonly length: number | undefined;
  /** The length is rounded up to a multiple of this number. */
  readonly multipleOf: number;
}

/** Converts texts to token ids. Has no state. */
export interface TextTokenizer {
  readonly padding: Padding;
  /** The largest number of tokens of a row, which the handler's config can override; undefined if there is no limit. */
  readonly maxLength: number | undefined;
  /** The number of special tokens that it adds to a single text, and to a pair. */
  readonly addedTokens: { readonly single: number; readonly pair: number };
  /**
   * Encodes a text or a pair, in at most `maxLength` tokens.
   * @throws `invalid-input` for a pair, if this tokenizer takes none
   */
  encode(text: string, textPair: string | undefined, maxLength: number): Encoding;
}

/** Converts tokens to text. */
export interface Detokenizer {
  /**
   * Returns a token as the vocabulary has it; undefined if it is a special token, or no token at all: neither has a
   * text.
   */
  pieceOf(id: number): string | undefined;
  /**
   * Returns the text of consecutive pieces.
   * @param cleansUp whether spaces before punctuation are removed. Default: what the tokenizer's config says
   */
  join(pieces: readonly string[], cleansUp?: boolean): string;
  /** Returns whether a piece is one byte of a character. What a run of them means shows only when the run has ended. */
  isByte(piece: string): boolean;
  /** The maximum number of characters at the end of a text that the pieces after it may change. */
  readonly unsettled: number;
}
