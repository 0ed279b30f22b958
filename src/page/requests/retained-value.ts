import type { KeptMessage } from '../../contract/kept-message.js';
import { duplicate, listTransferables, mapLeaves } from './copy.js';

/**
 * An input that an app asks about several times, such as a photo that is clicked: `client.keep` makes it. Pass it in the
 * input's place. A handler that keeps what it makes of an input makes it once; the page then sends a key instead of the
 * input. A worker that does not have it any more, or another one, gets the input again.
 */
export interface KeptInput {
  /** By which workers know it. */
  readonly key: string;
  /** Frees the input, here and in the workers. Requests that were made before are answered. */
  release(): void;
}

/** The values of which a worker needs the key alone. */
export type KnownValues = Pick<WeakSet<RetainedValue>, 'has'>;

/** Of a worker that keeps nothing, or of which nothing is known. */
export const NONE_KNOWN: KnownValues = new WeakSet();

/** The workers of a client. A value does not keep them from being collected when the client has been disposed of. */
export interface Keeper {
  /** Frees what the workers keep of a value. */
  forget(value: RetainedValue): void;
}

/**
 * What the page holds and a worker keeps: an input of `client.keep`, a sequence's state. The worker may lose it at any
 * time, since the page can send it again.
 */
export class RetainedValue implements KeptInput {
  /** No other value has it, in any tab. */
  readonly key = `kept/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  value: unknown;
  readonly #free: (() => void) | undefined;
  readonly #keepers = new Set<WeakRef<Keeper>>();
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
   * cloned, not transferred: so it can be sent to any number of workers at the same time.
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
   * Notes that workers keep something of it, until it is released. If it has been, which may be while a request is under
   * way, the workers are told at once.
   */
  keptBy(keeper: WeakRef<Keeper>): void {
    if (this.#isReleased) keeper.deref()?.forget(this);
    else this.#keepers.add(keeper);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.leave();
    for (const keeper of this.#keepers) keeper.deref()?.forget(this);
    this.#keepers.clear();
  }
}
