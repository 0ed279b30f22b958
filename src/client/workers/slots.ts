import type { FullBatch, Slot, WearLimits } from './slot.js';

/** The slots of a pool by what they do. */
interface Lists {
  readonly all: readonly Slot[];
  readonly opening: readonly Slot[];
  readonly ready: readonly Slot[];
  readonly draining: readonly Slot[];
  readonly counted: readonly Slot[];
}

interface FreeOptions {
  readonly hasReplays: boolean;
  readonly full?: FullBatch;
}

/** All slots of a pool. */
export class Slots {
  readonly #slots = new Set<Slot>();
  readonly #wear: WearLimits;
  /** The pool asks several times for each request, and slots seldom change. Undefined once one has. */
  #lists: Lists | undefined;

  constructor(wear: WearLimits) {
    this.#wear = wear;
  }

  get all(): readonly Slot[] {
    return this.#sorted.all;
  }

  get opening(): readonly Slot[] {
    return this.#sorted.opening;
  }

  get ready(): readonly Slot[] {
    return this.#sorted.ready;
  }

  get draining(): readonly Slot[] {
    return this.#sorted.draining;
  }

  /** The slots that count as workers: those that are ready, and those that are opening, but for the replacement of a ready one. */
  get counted(): readonly Slot[] {
    return this.#sorted.counted;
  }

  /** The ready slots whose worker must be replaced because of `maxRuns` or `maxMemory`. */
  get worn(): readonly Slot[] {
    return this.ready.filter((slot) => slot.isWorn(this.#wear));
  }

  get #sorted(): Lists {
    return (this.#lists ??= sorted([...this.#slots]));
  }

  add(slot: Slot): void {
    this.#slots.add(slot);
    this.#lists = undefined;
    slot.onState = () => (this.#lists = undefined);
  }

  delete(slot: Slot): void {
    this.#slots.delete(slot);
    this.#lists = undefined;
  }

  /**
   * Returns the least busy slot that takes a batch from the queue.
   * @param hasReplays whether jobs wait to be replayed. The least busy slot of all is then reserved for them
   * @param full undefined if the batch is not full
   */
  free({ hasReplays, full }: FreeOptions): Slot | undefined {
    const { ready } = this;
    const reserved = hasReplays ? leastBusy(ready) : undefined;
    return leastBusy(ready, (slot) => slot !== reserved && slot.takes(full, this.#wear.maxRuns));
  }
}

/** Returns the slot with the fewest batches to work on, of those that fit. */
export function leastBusy(slots: readonly Slot[], fits: (slot: Slot) => boolean = () => true): Slot | undefined {
  let least: Slot | undefined;
  for (const slot of slots) if (fits(slot) && !(least && least.load <= slot.load)) least = slot;
  return least;
}

function sorted(all: readonly Slot[]): Lists {
  const inState = (wanted: Slot['state']): readonly Slot[] => all.filter(({ state }) => state === wanted);
  const counted = all.filter(
    ({ state, replaces }) => state === 'ready' || (state === 'opening' && replaces?.state !== 'ready'),
  );
  return { all, opening: inState('opening'), ready: inState('ready'), draining: inState('draining'), counted };
}
