import type { Serving } from '../../contract/settings.js';
import type { Backend } from '../../contract/backends.js';
import { isGpu, type Slot, type WearLimits } from './slot.js';

/** All slots of a pool, and how many of them there should be. */
export class Slots {
  readonly #slots = new Set<Slot>();
  readonly #wear: WearLimits;

  constructor(wear: WearLimits) {
    this.#wear = wear;
  }

  get all(): readonly Slot[] {
    return [...this.#slots];
  }

  get opening(): readonly Slot[] {
    return this.all.filter(({ state }) => state === 'opening');
  }

  get ready(): readonly Slot[] {
    return this.all.filter(({ state }) => state === 'ready');
  }

  get draining(): readonly Slot[] {
    return this.all.filter(({ state }) => state === 'draining');
  }

  /** Those that are ready, and have run long enough to be replaced. */
  get worn(): readonly Slot[] {
    return this.ready.filter((slot) => slot.isWorn(this.#wear));
  }

  /** The slots that count as workers: those that are ready, and those that are opening but do not replace another one. */
  get counted(): readonly Slot[] {
    return this.all.filter(
      ({ state, replaces }) => state === 'ready' || (state === 'opening' && replaces?.state !== 'ready'),
    );
  }

  add(slot: Slot): void {
    this.#slots.add(slot);
  }

  delete(slot: Slot): void {
    this.#slots.delete(slot);
  }

  /**
   * Returns the least busy slot that takes a batch from the queue.
   * @param hasReplays whether jobs wait to be replayed: then the least busy slot of all is left to them
   */
  free({ full, hasReplays }: { readonly full: boolean; readonly hasReplays: boolean }): Slot | undefined {
    const { ready } = this;
    const reserved = hasReplays ? leastBusy(ready) : undefined;
    return leastBusy(ready.filter((slot) => slot !== reserved && slot.takes({ full })));
  }

  /** Returns how many workers there should be: `minWorkers`, and while requests wait one more than there are, up to `maxWorkers`. */
  wanted(backend: Backend, { minWorkers, maxWorkers }: Serving, requestsWait: boolean): number {
    if (isGpu(backend)) return 1;
    return Math.min(maxWorkers, Math.max(minWorkers, requestsWait ? this.counted.length + 1 : 0));
  }
}

/** Returns the slot with the fewest batches. */
export function leastBusy(slots: readonly Slot[]): Slot | undefined {
  let least: Slot | undefined;
  for (const slot of slots) if (!least || slot.batches.size < least.batches.size) least = slot;
  return least;
}
