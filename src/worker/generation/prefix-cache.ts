import { browserClock, type Clock } from '../../shared/clock.js';
import type { DecoderInterface } from './decoder-interface.js';
import { canBeCut, firstTokens, type KeyValueCache } from './key-value-cache.js';

/** A cache that no request has used for so long is freed. */
export const IDLE_MS = 5 * 60_000;

/** Its timer does not keep a process of Node's alive. */
const backgroundClock: Clock = {
  ...browserClock,
  schedule(task, milliseconds) {
    const timer = setTimeout(task, milliseconds);
    (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer);
  },
};

interface Entry {
  readonly tokens: readonly number[];
  readonly cache: KeyValueCache;
  readonly usedAt: number;
}

/**
 * The key–value caches of earlier rows: a row that begins as one of them runs only the tokens that differ. The least
 * recently used ones are freed when all of them together have too many bytes, and each one that was not used for long.
 */
export class PrefixCache {
  /** The most recently used first. */
  #entries: readonly Entry[] = [];
  #cancelTimer: (() => void) | undefined;
  readonly #interface: DecoderInterface;
  readonly #maxBytes: number;
  readonly #clock: Clock;

  constructor(model: DecoderInterface, maxBytes: number, clock: Clock = backgroundClock) {
    this.#interface = model;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
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
    this.#keep([{ ...entry, usedAt: this.#clock.now() }, ...this.#entries.filter((other) => other !== entry)]);
    const cache = entry.cache.use();
    if (length === cache.length) return cache;
    try {
      return await firstTokens(cache, this.#interface, length);
    } finally {
      cache.free();
    }
  }

  /** Takes over a row's cache. Those of its beginnings need not be kept any more. */
  add(tokens: readonly number[], cache: KeyValueCache): void {
    if (this.#interface.cache.length === 0 || cache.bytes > this.#maxBytes) {
      cache.free();
      return;
    }
    const covered = tokens.slice(0, cache.length);
    const isBeginning = (entry: Entry): boolean => commonLength(entry.tokens, covered) === entry.tokens.length;
    const others = this.#entries.filter((entry) => !isBeginning(entry));
    let room = this.#maxBytes;
    const all = [{ tokens: covered, cache, usedAt: this.#clock.now() }, ...others];
    const kept = all.filter((entry) => (room -= entry.cache.bytes) >= 0);
    for (const entry of this.#entries) if (!kept.includes(entry)) entry.cache.free();
    this.#keep(kept);
  }

  #keep(entries: readonly Entry[]): void {
    this.#entries = entries;
    this.#cancelTimer?.();
    const oldest = entries.at(-1);
    this.#cancelTimer =
      oldest && this.#clock.schedule(() => this.#freeIdle(), oldest.usedAt + IDLE_MS - this.#clock.now());
  }

  #freeIdle(): void {
    const since = this.#clock.now() - IDLE_MS;
    const isIdle = ({ usedAt }: Entry): boolean => usedAt <= since;
    for (const { cache } of this.#entries.filter(isIdle)) cache.free();
    this.#keep(this.#entries.filter((entry) => !isIdle(entry)));
  }
}

function commonLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length);
  let length = 0;
  while (length < most && one[length] === other[length]) length += 1;
  return length;
}
