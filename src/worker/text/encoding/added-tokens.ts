import { AlignedText } from './aligned-text.js';
import { createPrefixFinder } from './longest-prefix.js';
import type { Normalize } from './normalize.js';
import { spacesAfter, spacesBefore } from './spaces.js';

/** An entry of `added_tokens` of a `tokenizer.json`. */
export interface AddedTokenJson {
  readonly id: number;
  readonly content: string;
  readonly special?: boolean;
  readonly normalized?: boolean;
  readonly single_word?: boolean;
  readonly lstrip?: boolean;
  readonly rstrip?: boolean;
}

/** A part of a text: an added token, or what other steps tokenize. */
export interface TextPart {
  readonly text: AlignedText;
  /** The added token; undefined for other text. */
  readonly id?: number;
}

/** Splits a text at added tokens. */
export type SplitAdded = (text: AlignedText) => readonly TextPart[];

const WORD = /^[\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\p{Join_Control}]/u;

/**
 * Returns a function that splits a text at the added tokens that are written in it, and normalizes the other parts, as
 * Hugging Face's tokenizers do: first at those that normalization must not touch.
 */
export function createSplitter(tokens: readonly AddedTokenJson[], normalize: Normalize): SplitAdded {
  const isNormalized = ({ normalized, special }: AddedTokenJson): boolean => normalized ?? !special;
  const before = finder(tokens.filter((token) => !isNormalized(token)).map((token) => [token.content, token]));
  const after = finder(
    tokens.filter(isNormalized).map((token) => [normalize(AlignedText.of(token.content)).text, token]),
  );
  return (text) => before(text).flatMap((part) => (part.id === undefined ? after(normalize(part.text)) : [part]));
}

/**
 * Returns a function that splits a text at tokens. Of several that begin at the same position, the longest is found.
 */
function finder(entries: readonly (readonly [pattern: string, token: AddedTokenJson])[]): SplitAdded {
  const byPattern = new Map(entries.filter(([pattern]) => pattern !== ''));
  if (byPattern.size === 0) return (text) => (text.length > 0 ? [{ text: text.slice(0, text.length) }] : []);
  const longestAt = createPrefixFinder(byPattern.keys());
  const first = new Set(Array.from(byPattern.keys(), (pattern) => pattern.codePointAt(0)!.toString(16)));
  const begins = new RegExp(`[${Array.from(first, (code) => `\\u{${code}}`).join('')}]`, 'gu');
  return (aligned) => {
    const { text } = aligned;
    const parts: TextPart[] = [];
    let done = 0;
    const push = (start: number, end: number, id?: number): void => {
      if (start < end) parts.push({ text: aligned.slice(start, end), ...(id === undefined ? {} : { id }) });
      done = end;
    };
    let from = 0;
    for (const { index } of text.matchAll(begins)) {
      const match = index < from ? undefined : longestAt(text, index);
      if (match === undefined) continue;
      const { id, single_word, lstrip, rstrip } = byPattern.get(match)!;
      const after = index + match.length;
      from = after;
      if (single_word && (isWord(characterBefore(text, index)) || isWord(text.slice(after, after + 2)))) continue;
      const start = lstrip ? Math.max(done, index - spacesBefore(text, index)) : index;
      push(done, start);
      push(start, after + (rstrip ? spacesAfter(text, after) : 0), id);
    }
    push(done, text.length);
    return parts;
  };
}

/** Returns whether a text begins with a letter, a digit, or what else is part of a word. */
function isWord(text: string): boolean {
  return WORD.test(text);
}

function characterBefore(text: string, end: number): string {
  const isPair = end > 1 && text.codePointAt(end - 2)! > 0xffff;
  return text.slice(Math.max(0, end - (isPair ? 2 : 1)), end);
}
