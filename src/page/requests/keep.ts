import { messageOf, TabServeError } from '../../contract/errors.js';
import type { KeptMessage } from '../../contract/kept-input.js';
import { duplicate, listTransferables, mapLeaves } from './copy.js';
import type { Message, Prepared } from './inputs.js';
import { keptSources, type Keeper, type KeptInput, type KeptSource, type KnownInputs } from './kept-input.js';

/**
 * Keeps a prepared input, which must not have been sent.
 * @throws `invalid-input` if it has a kept input in it; `not-cloneable` if it has something in it that no copy can be made
 *   of, such as a function
 */
export function keepInput(prepared: Prepared): KeptInput {
  return new OwnInput(prepared);
}

class OwnInput implements KeptInput, KeptSource {
  readonly key = `input/${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
  readonly #copy: unknown;
  readonly #keepers = new Set<WeakRef<Keeper>>();
  #isReleased = false;
  /** The app, and the requests that are not answered yet. */
  #users = 1;

  constructor(prepared: Prepared) {
    try {
      if (prepared.kept?.length)
        throw new TabServeError(
          'invalid-input',
          'keep: the input has an input in it that is kept already. Pass that one in the input of each request.',
        );
      const { value, transferables } = prepared.message()!;
      this.#copy = structuredClone(value, { transfer: [...transferables] });
    } catch (cause) {
      if (cause instanceof TabServeError) throw cause;
      throw new TabServeError('not-cloneable', `The input could not be copied: ${messageOf(cause)}`, { cause });
    } finally {
      prepared.release();
    }
    keptSources.set(this, this);
  }

  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.leave();
    for (const keeper of this.#keepers) keeper.deref()?.forget(this);
    this.#keepers.clear();
  }

  keptBy(keeper: WeakRef<Keeper>): void {
    if (this.#isReleased) keeper.deref()?.forget(this);
    else this.#keepers.add(keeper);
  }

  use(): boolean {
    if (!this.#isReleased) this.#users += 1;
    return !this.#isReleased;
  }

  leave(): void {
    this.#users -= 1;
    if (this.#users === 0) mapLeaves(this.#copy, (leaf) => void (leaf as Partial<ImageBitmap>).close?.());
  }

  /** Pictures are cloned, not transferred: so it can be sent to any number of workers at the same time. */
  message(known: KnownInputs): Message {
    const { key: keptKey } = this;
    if (known.has(this)) return { value: { keptKey } satisfies KeptMessage, transferables: [] };
    const transferables = new Set<Transferable>();
    const value = mapLeaves(this.#copy, (leaf) => {
      const copy = duplicate(leaf);
      if (copy !== leaf) listTransferables(copy, transferables);
      return copy;
    });
    return { value: { keptKey, value } satisfies KeptMessage, transferables: [...transferables] };
  }
}
