import type { KeptMessage } from '../../contract/kept-message.js';
import { duplicate, listTransferables, mapLeaves } from './copy.js';

/**
 * An input that an app asks about several times, such as a photo that is clicked: `client.keep` makes it. Pass it
 * instead of the input. A handler that caches what it computes from an input computes it once; the page then sends a key
 * instead of the input. Another worker, or one that no longer has the result, gets the input again.
 */
export interface KeptInput {
  /** The key by which workers know it. */
  readonly key: string;
  /** Frees the input, here and in the workers. Requests that were made before are answered. */
  release(): void;
}

/** The values of which a worker needs only the key. */
export type KnownValues = Pick<WeakSet<RetainedValue>, 'has'>;

/** The known values of a worker that has cached nothing, or of which nothing is known. */
export const NONE_KNOWN: KnownValues = new WeakSet();

/** The workers of a client, which cache what they compute from values. Values refer to it weakly. */
export interface ValueCache {
  /** Frees what the workers have cached of a value. */
  forget(value: RetainedValue): void;
}

/**
 * A value that the page retains and a worker caches: an input of `client.keep`, or a sequence's state. The worker may
 * drop it at any time, because the page can send it again.
 */
export class RetainedValue implements KeptInput {
  /** No other value has it, in any tab. */
  readonly key = `kept/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  value: unknown;
  readonly #free: (() => void) | undefined;
  readonly #caches = new Set<WeakRef<ValueCache>>();
  #isReleased = false;
  /** Its owner, and the requests that are not answered yet. */
  #users = 1;

  /** @param free called when it is released, and no request needs it any more */
  constructor(value: unknown, free?: () => void) {
    this.value = value;
    this.#free = free;
  }

  /**
   * Returns what stands for it in a message: its key, and a copy of it for a worker that does not know it. Pictures are
   * cloned, not transferred, so it can be sent to any number of workers at the same time.
   */
  message(known: KnownValues): { readonly value: KeptMessage; readonly transferables: readonly Transferable[] } {
    const { key: keptKey } = this;
    if (known.has(this)) return { value: { keptKey }, transferables: [] };
    const transferables = new Set<Transferable>();
    const value = mapLeaves(this.value, (leaf) => {
      const copy = duplicate(leaf);
      if (copy !== leaf) listTransferables(copy, transferables);
      return copy;
    });
    return { value: { keptKey, value }, transferables: [...transferables] };
  }

  /** Adds a request that needs it, until `leave`. Returns false if it has been released. */
  use(): boolean {
    if (!this.#isReleased) this.#users += 1;
    return !this.#isReleased;
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users === 0) this.#free?.();
  }

  /**
   * Records that workers have cached something of it, until it is released. If it was released already, while a request
   * was under way, tells the workers at once.
   */
  cachedBy(cache: WeakRef<ValueCache>): void {
    if (this.#isReleased) cache.deref()?.forget(this);
    else this.#caches.add(cache);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.leave();
    for (const cache of this.#caches) cache.deref()?.forget(this);
    this.#caches.clear();
  }
}
