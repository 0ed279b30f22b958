import type { KeptMessage } from '../../contract/kept-input.js';
import { TabServeError } from '../../contract/errors.js';
import { duplicate, listTransferables, mapLeaves } from './copy.js';
import type { Message, Prepared } from './inputs.js';

/** The workers' side of an input: which of them keep something that their handler has made of it. */
export type KnownInputs = Pick<WeakSet<KeptInput>, 'has'>;

/** Of a worker that keeps nothing, or of which nothing is known. */
export const NONE_KNOWN: KnownInputs = new WeakSet();

/**
 * An input that an app asks about several times, such as a photo that is clicked: `client.keep` makes it. Pass it in the
 * input's place. A handler that keeps what it makes of an input makes it once; the page then sends a key instead of the
 * input. A worker that does not have it any more, or another one, gets the input again.
 */
export class KeptInput {
  readonly #key = `input/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  readonly #onRelease: (input: KeptInput) => void;
  #value: { readonly copy: unknown } | undefined;

  /** Takes over a prepared input, which must not have been sent. */
  constructor(prepared: Prepared, onRelease: (input: KeptInput) => void) {
    const { value, transferables } = prepared.message()!;
    this.#value = { copy: structuredClone(value, { transfer: [...transferables] }) };
    prepared.release();
    this.#onRelease = onRelease;
  }

  /** By which workers know it. */
  get key(): string {
    return this.#key;
  }

  /** Frees the input, here and in the workers. Requests that have been sent are answered. */
  release(): void {
    if (!this.#value) return;
    mapLeaves(this.#value.copy, (leaf) => void (leaf as Partial<ImageBitmap>).close?.());
    this.#value = undefined;
    this.#onRelease(this);
  }

  /** @throws `invalid-input` if it has been released */
  checkUsable(): void {
    if (this.#value) return;
    throw new TabServeError('invalid-input', 'The kept input has been released. Keep it again: client.keep(input).');
  }

  /**
   * Returns what stands for it in a message: its key, and the input for a worker that does not know it. Pictures are
   * cloned, not transferred: so it can be sent to any number of workers at the same time.
   * @throws `invalid-input` if it has been released
   */
  message(known: KnownInputs): Omit<Message, 'value'> & { readonly value: KeptMessage } {
    if (known.has(this)) return { value: { keptKey: this.#key }, transferables: [] };
    this.checkUsable();
    const transferables = new Set<Transferable>();
    const value = mapLeaves(this.#value!.copy, (leaf) => {
      const copy = duplicate(leaf);
      if (copy !== leaf) listTransferables(copy, transferables);
      return copy;
    });
    return { value: { keptKey: this.#key, value }, transferables: [...transferables] };
  }
}
