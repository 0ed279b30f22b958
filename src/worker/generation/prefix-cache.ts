import type { KeptValues } from '../../contract/kept-values.js';
import type { DecoderInterface } from './decoder-interface.js';
import { canBeCut, firstTokens, type KeyValueCache } from './key-value-cache.js';

interface Entry {
  readonly tokens: readonly number[];
  readonly cache: KeyValueCache;
}

/**
 * The key–value caches of earlier rows: a row that begins as one of them runs only the tokens that differ. They are
 * freed by the worker's budget for cached values.
 */
export class PrefixCache {
  readonly #entries = new Set<Entry>();
  readonly #interface: DecoderInterface;
  readonly #kept: KeptValues;
  readonly #isCausal: (tokens: readonly number[]) => Promise<boolean>;
  /** Whether a beginning has other numbers in another prompt. */
  #isUseless = false;

  /** @param isCausal tells whether each token sees only those before it */
  constructor(model: DecoderInterface, kept: KeptValues, isCausal: (tokens: readonly number[]) => Promise<boolean>) {
    this.#interface = model;
    this.#kept = kept;
    this.#isCausal = isCausal;
  }

  /**
   * Returns the cache of the longest common beginning of a row and an earlier one; undefined if there is none. At least
   * the row's last token is left to run, for its logits.
   * @throws `device-lost`, `out-of-memory`, `inference-failed`
   */
  async find(tokens: readonly number[]): Promise<KeyValueCache | undefined> {
    let best: { readonly entry: Entry; readonly length: number } | undefined;
    for (const entry of this.#entries) {
      const length = Math.min(commonLength(entry.tokens, tokens), tokens.length - 1);
      const isUsable = length > 0 && (length === entry.cache.length || canBeCut(this.#interface));
      if (isUsable && length > (best?.length ?? 0)) best = { entry, length };
    }
    if (!best) return undefined;
    const { entry, length } = best;
    this.#kept.get(entry);
    const cache = entry.cache.use();
    if (!(await this.#canReuse(tokens, cache))) return undefined;
    if (length === cache.length) return cache;
    try {
      return await firstTokens(cache, this.#interface, length);
    } finally {
      cache.free();
    }
  }

  /** Frees the cache, and all others, if none of them is of use. */
  async #canReuse(tokens: readonly number[], cache: KeyValueCache): Promise<boolean> {
    try {
      this.#isUseless = !(await this.#isCausal(tokens));
    } catch (error) {
      cache.free();
      throw error;
    }
    if (!this.#isUseless) return true;
    cache.free();
    for (const entry of this.#entries) this.#kept.delete(entry);
    return false;
  }

  /** Takes over a row's cache. Those of its beginnings need not be cached any more. */
  add(tokens: readonly number[], cache: KeyValueCache): void {
    if (this.#isUseless || this.#interface.cache.length === 0) return cache.free();
    const entry: Entry = { tokens: tokens.slice(0, cache.length), cache };
    for (const other of this.#entries)
      if (commonLength(other.tokens, entry.tokens) === other.tokens.length) this.#kept.delete(other);
    this.#entries.add(entry);
    const free = (): void => {
      this.#entries.delete(entry);
      cache.free();
    };
    this.#kept.set(entry, cache, { bytes: cache.bytes, free });
  }
}

/** Returns how many tokens two rows have in common at their beginnings. */
export function commonLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}
