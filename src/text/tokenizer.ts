/** A text, or a pair of texts, as token ids. */
export interface Encoding {
  readonly ids: readonly number[];
  /** Which of the two texts each token belongs to, as the tokenizer says: 0 or 1. */
  readonly typeIds: readonly number[];
}

/** How rows of different lengths are made one length. */
export interface Padding {
  readonly id: number;
  readonly typeId: number;
  readonly side: 'left' | 'right';
  /** Every row has this length, or is filled up to the longest of its batch. */
  readonly length: number | undefined;
  /** The length is rounded up to a multiple of this. */
  readonly multipleOf: number;
}

/** Makes token ids of texts; holds no state. */
export interface TextTokenizer {
  readonly padding: Padding;
  /** Tokens that a row may have, unless the handler's config says otherwise; undefined for any number. */
  readonly maxLength: number | undefined;
  /** Tokens that it adds to one text, and to a pair. */
  readonly addedTokens: { readonly single: number; readonly pair: number };
  /** @throws `invalid-input` if a pair is given where none can be taken */
  encode(text: string, textPair: string | undefined, maxLength: number): Encoding;
}
