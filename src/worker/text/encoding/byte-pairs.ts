import { wrongValue } from '../../../shared/read-options.js';
import { MAX_IDS } from '../limits.js';
import { createByteFallback } from './byte-fallback.js';
import type { ModelJson, Piece, TokenizeWord } from './model.js';

/** The pairs of tokens that become one. */
interface Merges {
  /** Returns the rank of a pair, which is less for a pair that is merged earlier; undefined if it is not merged. */
  rankOf(left: number, right: number): number | undefined;
  /** The id of the token that a pair becomes, by its rank. */
  readonly merged: readonly number[];
}

/** Returns the function of a byte-pair encoding: characters, of which pairs are merged until none is left. */
export function createBytePairs(json: ModelJson, ids: ReadonlyMap<string, number>): TokenizeWord {
  const { unk_token, fuse_unk, ignore_merges } = json;
  const suffix = json.end_of_word_suffix ?? '';
  const merges = readMerges(json.merges, ids);
  const bytesOf = createByteFallback(json, ids);
  const unknown = ids.get(unk_token ?? '');

  const symbolsOf = (word: string): Piece[] => {
    const symbols: Piece[] = [];
    let end = 0;
    let isAfterUnknown = false;
    for (const character of word) {
      const start = end;
      end += character.length;
      const symbol = end === word.length ? character + suffix : character;
      const id = ids.get(symbol);
      const found = id === undefined ? bytesOf(symbol) : [id];
      if (found) for (const token of found) symbols.push({ id: token, start, end });
      else if (typeof unk_token === 'string') {
        if (unknown === undefined) throw new Error('its model has no token for what the vocabulary lacks.');
        if (isAfterUnknown && fuse_unk) symbols.push({ ...symbols.pop()!, end });
        else symbols.push({ id: unknown, start, end });
      }
      isAfterUnknown = !found;
    }
    return symbols;
  };

  return (word) => {
    const whole = ignore_merges ? ids.get(word) : undefined;
    if (whole !== undefined) return [{ id: whole, start: 0, end: word.length }];
    return merge(symbolsOf(word), merges);
  };
}

/** Merges pairs: of those with the least rank, the first one, until there is none. */
function merge(symbols: readonly Piece[], { rankOf, merged }: Merges): readonly Piece[] {
  const count = symbols.length;
  /** A symbol that became part of the one before is undefined. */
  const found: (Piece | undefined)[] = [...symbols];
  const previous = Int32Array.from(symbols, (_, at) => at - 1);
  const next = Int32Array.from(symbols, (_, at) => at + 1);
  const rankAt = (at: number): number | undefined => {
    const [left, right] = [found[at], found[next[at]!]];
    return left && right && rankOf(left.id, right.id);
  };
  /** Pairs, as numbers that say in which order they are merged: by rank, then by place. */
  const queue = new Heap();
  const offer = (at: number): void => {
    const rank = at < 0 ? undefined : rankAt(at);
    if (rank !== undefined) queue.push(rank * count + at);
  };
  for (let at = 0; at < count - 1; at++) offer(at);
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    const at = key % count;
    const rank = (key - at) / count;
    // One of the two may be part of another pair by now.
    if (rankAt(at) !== rank) continue;
    const second = next[at]!;
    found[at] = { id: merged[rank]!, start: found[at]!.start, end: found[second]!.end };
    found[second] = undefined;
    next[at] = next[second]!;
    if (next[at]! < count) previous[next[at]!] = at;
    offer(previous[at]!);
    offer(at);
  }
  return found.filter((symbol) => symbol !== undefined);
}

/** Reads the pairs, each a list of two or a text with a space. @throws `model-format` if a token is not in the vocabulary */
function readMerges(json: unknown, ids: ReadonlyMap<string, number>): Merges {
  const ranks = new Map<number, number>();
  const merged: number[] = [];
  if (!Array.isArray(json)) throw wrongMerge('model.merges', 'a list', json);
  for (const [at, pair] of json.entries()) {
    if (typeof pair === 'string' && pair.startsWith('#version')) continue;
    const parts: readonly unknown[] = typeof pair === 'string' ? pair.split(' ') : Array.isArray(pair) ? pair : [];
    const [first, second] = parts as readonly string[];
    const left = ids.get(first!);
    const right = ids.get(second!);
    const both = left === undefined || right === undefined ? undefined : ids.get(first! + second!);
    if (both === undefined || parts.length !== 2)
      throw wrongMerge(`model.merges[${at}]`, 'two tokens that the vocabulary has, as it has both as one', pair);
    ranks.set(left! * MAX_IDS + right!, merged.length);
    merged.push(both);
  }
  return { rankOf: (left, right) => ranks.get(left * MAX_IDS + right), merged };
}

function wrongMerge(key: string, expected: string, value: unknown): Error {
  return wrongValue(`tokenizer.json: ${key}`, expected, value, 'model-format');
}

/** A binary heap: numbers, of which the least is taken first. */
class Heap {
  readonly #items: number[] = [];

  push(item: number): void {
    const items = this.#items;
    let at = items.length;
    for (let parent; at > 0 && items[(parent = (at - 1) >> 1)]! > item; at = parent) items[at] = items[parent]!;
    items[at] = item;
  }

  pop(): number | undefined {
    const items = this.#items;
    const [first] = items;
    const last = items.pop();
    if (items.length === 0 || last === undefined) return first;
    let at = 0;
    for (let child; (child = 2 * at + 1) < items.length; at = child) {
      if (child + 1 < items.length && items[child + 1]! < items[child]!) child++;
      if (items[child]! >= last) break;
      items[at] = items[child]!;
    }
    items[at] = last;
    return first;
  }
}
