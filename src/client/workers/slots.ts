import type { Slot, WearLimits } from './slot.js';

/** All slots of a pool. */
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
    return this.#in('opening');
  }

  get ready(): readonly Slot[] {
    return this.#in('ready');
  }

  get draining(): readonly Slot[] {
    return this.#in('draining');
  }

  /** The pool asks several times for each request, so it takes one pass and one list. */
  #in(state: Slot['state']): readonly Slot[] {
    const found: Slot[] = [];
    for (const slot of this.#slots) if (slot.state === state) found.push(slot);
    return found;
  }

  /** The ready slots whose worker must be replaced because of `maxRuns` or `maxMemory`. */
  get worn(): readonly Slot[] {
    const { maxRuns, maxMemory } = this.#wear;
    if (maxRuns === undefined && maxMemory === undefined) return [];
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
   * @param fullAt the time, if the batch is full
   * @param hasReplays whether jobs wait to be replayed. The least busy slot of all is then reserved for them
   */
  free({ fullAt, hasReplays }: { readonly fullAt?: number; readonly hasReplays: boolean }): Slot | undefined {
    const { ready } = this;
    const reserved = hasReplays ? leastBusy(ready) : undefined;
    return leastBusy(ready.filter((slot) => slot !== reserved && slot.takes(fullAt)));
  }
}

/** Returns the slot with the fewest batches to work on. */
export function leastBusy(slots: readonly Slot[]): Slot | undefined {
  let least: Slot | undefined;
  for (const slot of slots) if (!least || slot.load < least.load) least = slot;
  return least;
}
