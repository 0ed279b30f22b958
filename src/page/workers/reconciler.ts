import type { Job } from '../requests/job.js';
import type { OpenWorker, PoolOptions } from './pool-state.js';
import type { PoolState } from './pool-state.js';
import { Slot } from './slot.js';

/** How long a worker beyond `minWorkers` may be idle before the pool ends it. */
export const IDLE_MS = 10_000;
/** How long the pool waits after it could not add a worker before it tries again. */
export const PAUSE_MS = 10_000;

/** What a reconciler can do. Each action adds to the state at once; its result is an event of the pool. */
export interface PoolActs {
  /** Opens a worker for a new slot. */
  open(slot: Slot, request: OpenWorker): void;
  /** Sends jobs to a worker, as one batch. */
  run(slot: Slot, jobs: readonly Job[]): void;
  /** Removes a slot, and ends its worker. */
  drop(slot: Slot): void;
}

/**
 * Compares the workers and requests of a pool with what they should be, and acts. `ARCHITECTURE.md` has a diagram of
 * the state machine.
 */
export class Reconciler {
  readonly #state: PoolState;
  readonly #options: PoolOptions;
  readonly #acts: PoolActs;
  /** Aborts when the pool is closed. */
  readonly #signal: AbortSignal;
  #cancelTimer: () => void = () => {};

  constructor(
    state: PoolState,
    options: PoolOptions,
    { signal, ...acts }: PoolActs & { readonly signal: AbortSignal },
  ) {
    this.#state = state;
    this.#options = options;
    this.#acts = acts;
    this.#signal = signal;
  }

  /**
   * Replays, dispatches, retires and opens whatever is due, and sets the timer for the next time. To be called after
   * every event.
   */
  reconcile(): void {
    if (!this.#state.serving) return;
    const now = this.#options.clock.now();
    this.#replay();
    const dueIn = this.#dispatch(now);
    this.#retire(now);
    this.#grow(now);
    this.#schedule(now, dueIn);
    this.#announceRecovery(now);
  }

  /** Cancels the timer. */
  stop(): void {
    this.#cancelTimer();
  }

  /** Replays each job whose worker was lost, once, alone in a worker. */
  #replay(): void {
    const { slots, backlog } = this.#state;
    if (!backlog.hasReplays) return;
    for (const slot of slots.ready) {
      const job = slot.load === 0 ? backlog.takeReplay() : undefined;
      if (job) this.#acts.run(slot, [job]);
    }
  }

  /** Sends batches to slots as long as there are both. @returns milliseconds until the next batch is due, if known */
  #dispatch(now: number): number | undefined {
    const { slots, backlog, settings } = this.#state;
    for (;;) {
      if (!backlog.isWaiting) return undefined;
      const { hasReplays } = backlog;
      const free = slots.free({ hasReplays });
      const slot = free ?? slots.free({ hasReplays, isFull: true });
      const next = slot && backlog.take(settings, now, { onlyFull: !free, explanations: !slot.isExplaining });
      if (!next?.jobs) return next?.dueIn;
      for (const job of next.jobs) {
        job.queued = now - job.arrivedAt;
        this.#options.on.queued(job.queued);
      }
      this.#acts.run(slot!, next.jobs);
    }
  }

  /** Ends workers that were replaced, that were idle for too long, or that have drained. */
  #retire(now: number): void {
    const { slots, minWorkers } = this.#state;
    for (const slot of slots.ready) {
      if (slot.replaces?.state === 'ready') slot.replaces.state = 'draining';
      // Nothing refers to a replaced worker any more.
      slot.replaces = undefined;
    }
    const { ready } = slots;
    let surplus = ready.length - minWorkers;
    for (const slot of ready) {
      if (surplus <= 0 || !slot.isIdle || now - slot.idleSince < IDLE_MS) continue;
      slot.state = 'draining';
      surplus -= 1;
    }
    for (const slot of slots.draining) if (slot.isIdle) this.#acts.drop(slot);
  }

  /** Opens a worker if there are fewer than wanted, or if one is worn; one at a time. */
  #grow(now: number): void {
    const state = this.#state;
    const { counted, opening, ready } = state.slots;
    if (opening.length > 0) return;
    const backend = state.backend!;
    const { cores, log } = this.#options;
    const signal = this.#signal;
    if (ready.length === 0) {
      if (now >= state.healAt) this.#acts.open(new Slot(), { demoted: state.backoff.demoted, first: backend, signal });
      return;
    }
    if (now < state.growAt) return;
    const request: OpenWorker = { demoted: [], only: backend, signal };
    if (counted.length < state.wantedWorkers) {
      const releaseCores = cores.reserve(backend.threads, { must: false });
      if (releaseCores) return this.#acts.open(new Slot({ releaseCores }), request);
      if (counted.length < state.settings.minWorkers) {
        log(`There are ${counted.length} workers: all other cores are in use.`);
        state.growAt = now + PAUSE_MS;
      }
    }
    const [replaces] = state.slots.worn;
    // The worn worker is ended as soon as the new one is ready: for that time both have cores.
    if (replaces)
      this.#acts.open(new Slot({ replaces, releaseCores: cores.reserve(backend.threads, { must: true })! }), request);
  }

  /** Sets the timer for the next moment at which there is something to do even if no event comes. */
  #schedule(now: number, dueIn: number | undefined): void {
    this.#cancelTimer();
    const { slots, wantedWorkers, minWorkers, healAt, growAt } = this.#state;
    const { counted, opening, ready, worn } = slots;
    const moments: number[] = dueIn === undefined ? [] : [now + dueIn];
    if (opening.length === 0 && ready.length === 0) moments.push(healAt);
    if (opening.length === 0 && (counted.length < wantedWorkers || worn.length > 0)) moments.push(growAt);
    if (ready.length > minWorkers) {
      const idle = ready.filter((slot) => slot.isIdle);
      moments.push(...idle.map(({ idleSince }) => idleSince + IDLE_MS));
    }
    const next = Math.min(...moments.filter((at) => at > now));
    if (next < Infinity) this.#cancelTimer = this.#options.clock.schedule(() => this.reconcile(), next - now);
  }

  /** Announces that a loss is healed: a worker is ready, and no lost request is left to replay. */
  #announceRecovery(now: number): void {
    const state = this.#state;
    if (!state.loss) return;
    const { ready } = state.slots;
    if (ready.length === 0 || state.backlog.hasReplays || ready.some((slot) => slot.isReplaying)) return;
    const { at, ...loss } = state.loss;
    state.loss = undefined;
    this.#options.on.recover({ ...loss, backend: state.backend!, took: now - at });
  }
}
