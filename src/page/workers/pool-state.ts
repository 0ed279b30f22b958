import type { HandleAnswer } from '../../contract/wire.js';
import type { Backend, Skipped } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { CoreBudget } from './budget.js';
import type { Clock } from '../../shared/clock.js';
import type { SenderEvents } from '../requests/sender.js';
import { Backoff, type OpenLoss } from './recovery.js';
import { type OpenedWorker, type WearLimits, computesElsewhere, type Slot } from './slot.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import { Backlog } from '../requests/queue.js';

/** Says which worker to open. */
export interface OpenWorker {
  /** Backends that are no longer tried, with the reasons. */
  readonly demoted: readonly Skipped[];
  /** The only backend to try: the one that the other workers run on. */
  readonly only?: Backend;
  /** The backend to try first: the one that the lost worker ran on. */
  readonly first?: Backend;
  /** Aborts when the pool is closed. */
  readonly signal: AbortSignal;
}

/** What a pool needs: its clock, its opener and its listeners are injected. */
export interface PoolOptions extends WearLimits {
  readonly clock: Clock;
  readonly cores: CoreBudget;
  readonly open: (request: OpenWorker) => Promise<OpenedWorker>;
  /** Seconds after a loss in which the pool tries to open another worker. Then it fails. */
  readonly maxRetryTimeoutInSec: number;
  readonly log: (what: string) => void;
  readonly on: PoolEvents;
}

/** Events of a pool. */
export interface PoolEvents extends Pick<SenderEvents, 'backend' | 'recover' | 'fail'> {
  /** Reports that a job left the queue after this many milliseconds. */
  queued(milliseconds: number): void;
  /** Reports that a batch of this many rows came back, answered or failed. @param roundTrip in milliseconds */
  ran(rows: number, answer: HandleAnswer, roundTrip: number): void;
}

/** The state of a pool: events change it, and `reconcile` compares it with what it should be. */
export class PoolState {
  readonly slots: Slots;
  /** The requests that no worker has yet. */
  readonly backlog = new Backlog();
  readonly backoff: Backoff;
  settings: Serving = servingOf({});
  /** The backend of the worker that was opened last; undefined before the first one. */
  backend: Backend | undefined;
  /** Why the pool has failed and opens no more workers. */
  failure: TabServeError | undefined;
  /** When the pool may replace its last worker, which was lost, by the pool's clock. */
  healAt = 0;
  /** When the pool may open a worker beside others, by the pool's clock. */
  growAt = 0;
  /** The loss that is not healed yet. */
  loss: OpenLoss | undefined;

  constructor(options: PoolOptions) {
    this.slots = new Slots(options);
    this.backoff = new Backoff(options.maxRetryTimeoutInSec);
  }

  /** Whether requests are accepted: there is a worker, or the pool is replacing a lost one. */
  get serving(): boolean {
    return this.backend !== undefined && this.failure === undefined;
  }

  /** The number of workers that stay, even if they are idle. A GPU has one worker. */
  get minWorkers(): number {
    return computesElsewhere(this.backend!) ? 1 : this.settings.minWorkers;
  }

  /**
   * The number of workers that there should be: `minWorkers`, and while requests wait one more than there are, up to
   * `maxWorkers`.
   */
  get wantedWorkers(): number {
    if (computesElsewhere(this.backend!)) return 1;
    const { minWorkers, maxWorkers } = this.settings;
    const { isWaiting, hasReplays } = this.backlog;
    const requestsWait = isWaiting && !this.slots.free({ hasReplays });
    return Math.min(maxWorkers, Math.max(minWorkers, requestsWait ? this.slots.counted.length + 1 : 0));
  }

  /** Forgets every earlier worker and loss. */
  restart(settings: Serving): void {
    this.settings = settings;
    this.failure = undefined;
    this.backend = undefined;
    this.growAt = 0;
    this.backoff.restart();
  }

  /** Decides when to replace the last worker, which was lost. Returns false if it is too late for another attempt. */
  scheduleHealing(now: number): boolean {
    const at = this.backoff.next(now);
    this.healAt = at ?? Infinity;
    return at !== undefined;
  }
}

/** The slots of a pool by what they do. */
interface Lists {
  readonly all: readonly Slot[];
  readonly opening: readonly Slot[];
  readonly ready: readonly Slot[];
  readonly draining: readonly Slot[];
  readonly counted: readonly Slot[];
}

interface FreeOptions {
  /** Whether jobs wait to be replayed. The least busy slot of all is then reserved for them. */
  readonly hasReplays: boolean;
  /** Whether no other request could join the batch. @default false */
  readonly isFull?: boolean;
}

/** All slots of a pool. */
export class Slots {
  readonly #slots = new Set<Slot>();
  readonly #wear: WearLimits;
  /** Number of slots so far. */
  #added = 0;
  /**
   * A cache, because the pool asks several times for each request and slots seldom change. Undefined after a change.
   */
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

  /**
   * The slots that count as workers: those that are ready, and those that are opening unless they replace a ready one.
   */
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
    slot.number = ++this.#added;
    this.#slots.add(slot);
    this.#lists = undefined;
    slot.onState = () => (this.#lists = undefined);
  }

  delete(slot: Slot): void {
    this.#slots.delete(slot);
    this.#lists = undefined;
  }

  /** Returns the least busy slot that takes a batch from the queue. */
  free({ hasReplays, isFull = false }: FreeOptions): Slot | undefined {
    const { ready } = this;
    const reserved = hasReplays ? leastBusy(ready) : undefined;
    return leastBusy(ready, (slot) => slot !== reserved && slot.takes(isFull));
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
