import { createByteFallback } from './byte-fallback.js';
import type { ModelJson, TokenizeWord } from './model.js';

/** How much less a character that the vocabulary lacks scores than every token. */
const PENALTY = 10;

/** Returns the function of a Unigram model: of all ways to write a word in tokens, the one with the highest score. */
export function createUnigram(json: ModelJson, ids: ReadonlyMap<string, number>): TokenizeWord {
  const scores = (json.vocab as readonly (readonly [string, number])[]).map(([, score]) => score);
  const unknown = json.unk_id ?? undefined;
  const unknownScore = scores.reduce((least, score) => Math.min(least, score), Infinity) - PENALTY;
  const lengths = lengthsOf(ids.keys());
  const bytesOf = createByteFallback(json, ids);
  const isUnknown = (text: string): boolean => (ids.get(text) ?? unknown) === unknown;

  /** Returns for each position in a word where the token that ends there begins, on the best way to it. */
  const bestStarts = (word: string): Int32Array => {
    const starts = new Int32Array(word.length + 1).fill(-1);
    const best = new Float64Array(word.length + 1);
    const offer = (start: number, end: number, score: number): void => {
      const sum = best[start]! + score;
      if (starts[end]! >= 0 && best[end]! >= sum) return;
      starts[end] = start;
      best[end] = sum;
    };
    for (let start = 0, size; start < word.length; start += size) {
      size = word.codePointAt(start)! > 0xffff ? 2 : 1;
      let isKnown = false;
      for (const length of lengths.get(word.charCodeAt(start)) ?? []) {
        const id = ids.get(word.slice(start, start + length));
        if (id === undefined || start + length > word.length) continue;
        offer(start, start + length, scores[id]!);
        isKnown ||= length === size;
      }
      if (isKnown) continue;
      if (unknown === undefined) throw new Error('its model has no token for what the vocabulary lacks.');
      offer(start, start + size, unknownScore);
    }
    return starts;
  };

  return (word) => {
    const starts = bestStarts(word);
    const parts: (readonly [start: number, end: number])[] = [];
    for (let end = word.length; end > 0;) {
      let start = starts[end]!;
      // Unknown characters in a row are one token.
      if (isUnknown(word.slice(start, end)))
        while (start > 0 && isUnknown(word.slice(starts[start], start))) start = starts[start]!;
      parts.push([start, end]);
      end = start;
    }
    return parts.toReversed().flatMap(([start, end]) => {
      const text = word.slice(start, end);
      const id = ids.get(text);
      const found = id === undefined ? (bytesOf(text) ?? [unknown!]) : [id];
      return found.map((token) => ({ id: token, start, end }));
    });
  };
}

/** Returns the lengths of the tokens that begin with a UTF-16 unit, in rising order. */
function lengthsOf(tokens: Iterable<string>): ReadonlyMap<number, readonly number[]> {
  const lengths = new Map<number, Set<number>>();
  for (const token of tokens) {
    if (token === '') continue;
    const first = token.charCodeAt(0);
    const known = lengths.get(first);
    if (known) known.add(token.length);
    else lengths.set(first, new Set([token.length]));
  }
  return new Map([...lengths].map(([first, found]) => [first, [...found].toSorted((a, b) => a - b)]));
}
