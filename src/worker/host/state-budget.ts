import { MAX_STATE_BYTES } from '../../contract/limits.js';
import type { ModelConfig } from '../../contract/archive.js';
import type { KeptCost, KeptValues } from '../../contract/kept-values.js';
import { browserClock, type Clock } from '../../shared/clock.js';

/** Milliseconds after which an unused value is freed. */
export const IDLE_MS = 5 * 60_000;

/** Its timer does not keep a Node process alive. */
const backgroundClock: Clock = {
  ...browserClock,
  schedule(task, milliseconds) {
    const timer = setTimeout(task, milliseconds);
    (timer as { unref?(): void }).unref?.();
    return () => clearTimeout(timer);
  },
};

interface Entry extends KeptCost {
  readonly key: unknown;
  readonly value: unknown;
  /** The handler's entries, by key. */
  readonly owner: Map<unknown, Entry>;
  usedAt: number;
}

/** The values that the handlers of one worker cache between requests. They share a budget. */
export class StateBudget {
  readonly #maxBytes: number;
  readonly #clock: Clock;
  /** The least recently used first. */
  readonly #entries = new Set<Entry>();
  #bytes = 0;
  #hasTimer = false;

  constructor(maxBytes: number, clock: Clock = backgroundClock) {
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /** Returns the budget that a config sets. */
  static of({ handler }: ModelConfig): StateBudget {
    const given = handler?.['maxStateBytes'];
    return new StateBudget(typeof given === 'number' ? given : MAX_STATE_BYTES);
  }

  /** Returns the values of one more handler. */
  values(): KeptValues {
    const own = new Map<unknown, Entry>();
    return {
      get: (key) => this.#use(own.get(key)),
      has: (key) => own.has(key),
      delete: (key) => this.#remove(own.get(key)),
      set: (key, value, { bytes, free }) => {
        this.#remove(own.get(key));
        if (bytes > this.#maxBytes) {
          free?.();
          return false;
        }
        const entry: Entry = { key, value, bytes, owner: own, usedAt: this.#clock.now(), ...(free && { free }) };
        own.set(key, entry);
        this.#entries.add(entry);
        this.#bytes += bytes;
        for (const oldest of this.#entries) if (this.#bytes > this.#maxBytes) this.#remove(oldest);
        this.#schedule();
        return true;
      },
    };
  }

  #use(entry: Entry | undefined): unknown {
    if (!entry) return undefined;
    entry.usedAt = this.#clock.now();
    this.#entries.delete(entry);
    this.#entries.add(entry);
    return entry.value;
  }

  #remove(entry: Entry | undefined): void {
    if (!entry || !this.#entries.delete(entry)) return;
    entry.owner.delete(entry.key);
    this.#bytes -= entry.bytes;
    entry.free?.();
  }

  /** Waits until the least recently used value may have expired. If it was used meanwhile, waits again. */
  #schedule(): void {
    const [oldest] = this.#entries;
    if (!oldest || this.#hasTimer) return;
    this.#hasTimer = true;
    this.#clock.schedule(() => this.#freeIdle(), oldest.usedAt + IDLE_MS - this.#clock.now());
  }

  #freeIdle(): void {
    this.#hasTimer = false;
    const since = this.#clock.now() - IDLE_MS;
    for (const entry of this.#entries) if (entry.usedAt <= since) this.#remove(entry);
    this.#schedule();
  }
}
