import { TabServeError } from '../../../contract/errors.js';
import { notApplicable } from '../check-tokenizer.js';
import { checkLength, checkMarks, MAX_WINDOWS } from '../limits.js';
import { roomOf, type PostProcessor, type Template } from '../post-processor.js';
import type { Encoding } from '../tokenizer.js';
import { TokenStream } from '../token-stream.js';
import type { Truncation } from '../truncate.js';
import { createSplitter, type AddedTokenJson, type TextPart } from './added-tokens.js';
import { AlignedText } from './aligned-text.js';
import type { TokenizeWord } from './model.js';
import { createNormalizer, type Normalizer } from './normalize.js';
import { limitMatching } from './patterns.js';
import { createPreTokenizer, type PreTokenizerJson } from './pre-tokenize.js';
import { fillSpans, windowsOf, type LocatedToken } from './spans.js';
import { findTrim, trimRange } from './trim.js';

/** What `tokenizer.json` says of a tokenizer, and what was made of it. */
export interface TokenizerParts {
  readonly json: {
    readonly normalizer?: Normalizer | null;
    readonly pre_tokenizer?: PreTokenizerJson | null;
    readonly added_tokens?: readonly AddedTokenJson[] | null;
    readonly post_processor?: PostProcessor | null;
  };
  readonly tokenizeWord: TokenizeWord;
  /** Where texts can be cut; see `TokenStream`. */
  readonly cutPoints: RegExp | undefined;
  readonly template: Template;
  /** The side on which texts are truncated, and the last window ends. */
  readonly side: Truncation['side'];
}

/** Encodes texts, and tells where in them each token stands. */
export interface Encoder {
  /** Returns the tokens of a text, which are found as they are asked for. @throws `invalid-input` if it is too long */
  read(text: string): TokenStream<LocatedToken>;
  /** Encodes a text in at most `maxLength` tokens, with their spans. @throws `invalid-input` */
  locate(text: string, maxLength: number): Encoding;
  /**
   * Encodes a text or a pair in as many encodings as it takes, of at most `maxLength` tokens each: the text, or of a pair
   * the second, is cut into windows.
   * @param stride the number of tokens of the text that two windows in a row share
   * @throws `invalid-input` if a window would have no more tokens of the text than `stride`, or if there would be more
   *   than `MAX_WINDOWS`
   */
  windows(text: string, textPair: string | undefined, maxLength: number, stride: number): readonly Encoding[];
}

/**
 * Creates what encodes texts from the parts of a tokenizer. It does what Hugging Face's tokenizers do, step by step.
 * @throws `unsupported` for a part that is not known here
 */
export function createEncoder({ json, tokenizeWord, cutPoints, template, side }: TokenizerParts): Encoder {
  const added = json.added_tokens ?? [];
  const normalize = createNormalizer(json.normalizer);
  const preTokenize = createPreTokenizer(json.pre_tokenizer);
  const limited = limitMatching([json.normalizer, json.pre_tokenizer]);
  const split = limited(() => createSplitter(added, normalize));
  const trim = findTrim(json.post_processor);

  /** Returns the words of a piece of a text, which begins at `from`, and which of them are added tokens. */
  const wordsOf = (text: string, from: number): readonly TextPart[] =>
    split(AlignedText.of(text, from)).flatMap((part) =>
      part.id === undefined ? preTokenize(part.text).map((word) => ({ text: word })) : [part],
    );
  /** @param text the piece of the text that begins at `from` */
  const tokensOf = (
    { text: word, id }: TextPart,
    index: number,
    text: string,
    from: number,
  ): readonly LocatedToken[] => {
    const pieces = id === undefined ? tokenizeWord(word.text) : [{ id, start: 0, end: word.length }];
    return pieces.map((piece): LocatedToken => {
      const [first, last] = word.rangeOf(piece.start, piece.end);
      if (!trim) return { id: piece.id, word: index, start: first, end: last };
      const written = word.text.slice(piece.start, piece.end);
      const trimmed = (isFirst: boolean): readonly [number, number] => {
        const [start, end] = trimRange(text, [first - from, last - from], written, isFirst, trim);
        return [start + from, end + from];
      };
      const [start, end] = trimmed(first === 0);
      return { id: piece.id, word: index, start, end, asFirst: trim.addsSpace ? trimmed(true) : undefined };
    });
  };
  const read = (text: string): TokenStream<LocatedToken> => {
    checkLength(text.length);
    let count = 0;
    const tokenize = (piece: string, from: number): readonly LocatedToken[] => {
      checkMarks(piece);
      try {
        const words = limited(() => wordsOf(piece, from));
        count += words.length;
        return words.flatMap((word, index) => tokensOf(word, count - words.length + index, piece, from));
      } catch (cause) {
        throw notApplicable(cause);
      }
    };
    return new TokenStream(text, cutPoints, tokenize, side);
  };

  return {
    read,
    locate(text, maxLength) {
      const room = roomOf(template, false, maxLength);
      const tokens = read(text);
      return { ...fillSpans(template, tokens.take(room), undefined), isTruncated: tokens.hasMoreThan(room) };
    },
    windows(text, textPair, maxLength, stride) {
      const isPair = textPair !== undefined;
      const first = isPair ? read(text).take(Infinity) : [];
      const cut = read(textPair ?? text).take(Infinity);
      const room = roomOf(template, isPair, maxLength) - first.length;
      if (room <= stride && cut.length > room)
        throw new TabServeError(
          'invalid-input',
          `A window has room for ${Math.max(0, room)} tokens of the text, in addition to special tokens${isPair ? ' and the other text' : ''}, and two windows share ${stride}. Raise the length, or lower the stride${isPair ? ', or shorten the other text' : ''}.`,
        );
      const count = 1 + Math.ceil(Math.max(0, cut.length - room) / (room - stride));
      if (count > MAX_WINDOWS)
        throw new TabServeError(
          'invalid-input',
          `The text makes ${count} windows of ${room} tokens, of which two share ${stride}, and the limit is ${MAX_WINDOWS}. Raise the length, lower the stride, or pass a part of the text.`,
        );
      return windowsOf(cut, room, stride, side).map((window) =>
        isPair ? fillSpans(template, first, window) : fillSpans(template, window, undefined),
      );
    },
  };
}
