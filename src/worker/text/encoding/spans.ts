import { fill, type Template } from '../post-processor.js';
import type { Encoding, TokenSpan } from '../tokenizer.js';

/** A token, and the range of its text that it stands for, in UTF-16 units. */
export interface LocatedToken {
  readonly id: number;
  /** The number of its word. */
  readonly word: number;
  readonly start: number;
  readonly end: number;
  /** The range of a token that is the first of its text in an encoding, if it is another. */
  readonly asFirst?: readonly [start: number, end: number] | undefined;
}

/** Fills the tokens of texts into a template. The encoding has `spans`. */
export function fillSpans(
  template: Template,
  first: readonly LocatedToken[],
  second: readonly LocatedToken[] | undefined,
): Encoding {
  const ids = (tokens: readonly LocatedToken[]): readonly number[] => tokens.map(({ id }) => id);
  const spansOf = (tokens: readonly LocatedToken[], text: 0 | 1): readonly TokenSpan[] =>
    tokens.map(({ word, start, end, asFirst }, at) => {
      const range = at === 0 ? asFirst : undefined;
      return { text, word, start: range?.[0] ?? start, end: range?.[1] ?? end };
    });
  const spans = [spansOf(first, 0), spansOf(second ?? [], 1)] as const;
  const parts = second === undefined ? template.single : template.pair;
  return {
    ...fill(template, ids(first), second && ids(second)),
    spans: parts.flatMap((part): readonly (TokenSpan | undefined)[] =>
      'ids' in part ? part.ids.map(() => undefined) : spans[part.text],
    ),
  };
}

/**
 * Returns the windows of at most `size` tokens that together are a text: `Encoding.truncate` of Hugging Face's
 * tokenizers.
 * @param stride how many tokens two windows in a row share; less than `size`
 * @param side the side on which the last window ends
 */
export function windowsOf<Token>(
  tokens: readonly Token[],
  size: number,
  stride: number,
  side: 'left' | 'right',
): readonly (readonly Token[])[] {
  if (tokens.length <= size) return [tokens];
  const windows: (readonly Token[])[] = [];
  for (let from = 0; ; from += size - stride) {
    const [start, end] =
      side === 'right'
        ? [from, Math.min(from + size, tokens.length)]
        : [Math.max(0, tokens.length - from - size), tokens.length - from];
    windows.push(tokens.slice(start, end));
    if (side === 'right' ? end === tokens.length : start === 0) return windows;
  }
}
