import { createByteFallback } from './byte-fallback.js';
import { readMerges, type Merges } from './merges.js';
import type { ModelJson, Piece, TokenizeWord } from './model.js';

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
function merge(symbols: readonly Piece[], { rankOf, mergedAt }: Merges): readonly Piece[] {
  const count = symbols.length;
  /** A symbol that became part of the one before is undefined. */
  const found: (Piece | undefined)[] = [...symbols];
  const previous = Int32Array.from(symbols, (_, at) => at - 1);
  const next = Int32Array.from(symbols, (_, at) => at + 1);
  const rankAt = (at: number): number => {
    const left = found[at];
    const right = found[next[at]!];
    return left && right ? rankOf(left.id, right.id) : -1;
  };
  /** Pairs, as numbers that say in which order they are merged: by rank, then by position. */
  const queue = new Heap();
  const offer = (at: number): void => {
    const rank = at < 0 ? -1 : rankAt(at);
    if (rank >= 0) queue.push(rank * count + at);
  };
  for (let at = 0; at < count - 1; at++) offer(at);
  for (let key = queue.pop(); key !== undefined; key = queue.pop()) {
    const at = key % count;
    const rank = (key - at) / count;
    // One of the two may be part of another pair by now.
    if (rankAt(at) !== rank) continue;
    const second = next[at]!;
    found[at] = { id: mergedAt(rank), start: found[at]!.start, end: found[second]!.end };
    found[second] = undefined;
    next[at] = next[second]!;
    if (next[at]! < count) previous[next[at]!] = at;
    offer(previous[at]!);
    offer(at);
  }
  return found.filter((symbol) => symbol !== undefined);
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
