import type { HuggingFaceTokenizer } from '../text/hugging-face.js';
import type { RankedToken } from './top-tokens.js';

/** A token of the vocabulary, and how probable it was. */
export interface TokenLogprob {
  /** Its text; U+FFFD for the bytes of a character that are in several tokens. */
  readonly text: string;
  /** In UTF-8. Those of the tokens in a row are the text. */
  readonly bytes: readonly number[];
  /** The natural logarithm of its probability by the model, before params such as `temperature` change it. */
  readonly logprob: number;
}

/** A token of an answer. */
export interface AnswerToken extends TokenLogprob {
  /** The most probable tokens in its place, the best first. */
  readonly top: readonly TokenLogprob[];
}

/** Tells tokens by their texts. */
export class TokenTexts {
  readonly #tokenizer: HuggingFaceTokenizer;
  readonly #bytes: readonly (string | undefined)[];

  /** @throws `invalid-input` if a token's bytes depend on the tokens beside it */
  constructor(tokenizer: HuggingFaceTokenizer) {
    this.#tokenizer = tokenizer;
    this.#bytes = tokenizer.tokenBytes();
  }

  /** Returns a token with its text. A special token has the one by which the vocabulary names it. */
  readonly of = ({ token, logprob }: RankedToken): TokenLogprob => {
    const known = this.#bytes[token];
    const bytes =
      known === undefined
        ? new TextEncoder().encode(this.#tokenizer.tokenOf(token) ?? '')
        : Uint8Array.from(known, (character) => character.charCodeAt(0));
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes), bytes: [...bytes], logprob };
  };
}
