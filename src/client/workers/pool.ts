import type { Backend, Skipped } from '../../contract/backends.js';
import { asTabServeError, blameOf, ERROR_CODES, TabServeError } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import type { HandleAnswer } from '../../contract/wire.js';
import { Backlog, type JobQueueStatus } from '../requests/backlog.js';
import { Batch, failureOf } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import { Backoff } from './backoff.js';
import type { CoreBudget } from './budget.js';
import type { Clock } from './clock.js';
import type { WorkerMethod } from './connection.js';
import { triage, type OpenLoss, type Recovery } from './recovery.js';
import { Slot, type OpenedWorker, type WearLimits } from './slot.js';
import { leastBusy, Slots } from './slots.js';

/** A worker beyond `minWorkers` that was idle for so long is ended. */
export const IDLE_MS = 10_000;
/** After a worker that could not be added, none is added for so long. */
export const PAUSE_MS = 10_000;
/** A worker that was ready for so long was well: its loss has nothing to do with earlier ones. */
export const WELL_MS = 60_000;

/** Which worker to open. */
export interface OpenWorker {
  /** Backends that were given up, with the reasons. */
  readonly demoted: readonly Skipped[];
  /** The only backend that will do: that of the workers beside it. */
  readonly only?: Backend;
  /** The backend to try first: that of the worker that was lost. */
  readonly first?: Backend;
  /** Aborts when the pool is closed. */
  readonly signal: AbortSignal;
}

export interface PoolOptions extends WearLimits {
  readonly clock: Clock;
  readonly cores: CoreBudget;
  readonly open: (request: OpenWorker) => Promise<OpenedWorker>;
  /** Seconds from a loss for which another worker is tried, before the pool fails. */
  readonly maxRetryTimeoutInSec: number;
  readonly log: (what: string) => void;
  readonly on: PoolEvents;
}

export interface PoolEvents {
  /** The workers run on this backend now. */
  backend(backend: Backend): void;
  /** A job has left the queue after so many milliseconds. */
  queued(milliseconds: number): void;
  /** A batch has come back after so many milliseconds, answered or failed. */
  ran(batch: Batch, answer: HandleAnswer, roundTrip: number): void;
  recover(recovery: Recovery): void;
  fail(error: TabServeError): void;
}

/**
 * Keeps workers at work on one queue: a state machine. Each event (a request arrived; a batch came back; a worker was opened or lost; a
 * timer fired) changes the state of a slot or of the backlog, and then calls `reconcile`, which compares what there is with what there
 * should be, and acts: replay, dispatch, retire, open. `ARCHITECTURE.md` draws it.
 */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #slots: Slots;
  readonly #backlog = new Backlog();
  readonly #backoff: Backoff;
  readonly #closed = new AbortController();
  #settings: Serving = servingOf({});
  /** What the worker that was opened last runs on; undefined before the first. */
  #backend: Backend | undefined;
  /** When the next worker may be opened: in the place of the last one, or beside others. */
  #healAt = 0;
  #growAt = 0;
  #loss: OpenLoss | undefined;
  #failure: TabServeError | undefined;
  #cancelTimer: () => void = () => {};
  /** Callers that wait for a ready worker, or for the end. */
  #waiters: (() => void)[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = new Slots(options);
    this.#backoff = new Backoff(options.maxRetryTimeoutInSec);
  }

  /** Whether requests are accepted: there is a worker, or one is being opened in the place of a lost one. */
  get serving(): boolean {
    return this.#backend !== undefined && this.#failure === undefined;
  }

  /** Why there will be no more workers. */
  get failure(): TabServeError | undefined {
    return this.#failure;
  }

  /** Number of workers that take requests. */
  get workers(): number {
    return this.#slots.ready.length;
  }

  get queueStatus(): JobQueueStatus {
    return this.#backlog.status(this.#settings.jobQueueSize);
  }

  /** @throws `queue-full` if another request has no place */
  checkRoom(): void {
    this.#backlog.checkRoom(this.#settings.jobQueueSize);
  }

  /** Keeps a place in the queue for a request whose input is still being prepared. */
  prepare<T>(preparing: Promise<T>): Promise<T> {
    return this.#backlog.prepare(preparing);
  }

  // ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Begins, or begins again after a failure, with the first worker. */
  start(worker: OpenedWorker, settings: Serving): void {
    if (this.#closed.signal.aborted) return worker.connection.close(this.#closed.signal.reason as TabServeError);
    this.#settings = settings;
    this.#failure = undefined;
    this.#backend = undefined;
    this.#backoff.restart();
    const slot = new Slot();
    this.#slots.add(slot);
    this.#opened(slot, worker);
  }

  /** Adds a request to the queue. The job will settle. */
  add(job: Job): void {
    if (this.#failure) return job.reject(this.#failure);
    if (job.settled) return;
    this.#backlog.push(job);
    this.#reconcile();
  }

  /**
   * Asks a worker something that does not wait in the queue; while there is none, the next one.
   * @throws what the worker throws, or why there will be none
   */
  async ask<T>(method: WorkerMethod<T>): Promise<T> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const connection = leastBusy(this.#slots.ready)?.worker?.connection;
      if (!connection) await new Promise<void>((resolve) => this.#waiters.push(resolve));
      else {
        try {
          return await connection.call(method);
        } catch (error) {
          // A worker that was retired meanwhile says nothing about the question.
          if (connection.error?.code !== 'disposed') throw error;
        }
      }
    }
  }

  /** Ends all workers and rejects everything that is pending. Nothing is opened any more. */
  close(error: TabServeError): void {
    this.#closed.abort(error);
    this.#stop(error);
  }

  #opened(slot: Slot, worker: OpenedWorker): void {
    const { clock, on, cores, log } = this.#options;
    const { backend, connection } = worker;
    if (slot.state !== 'opening') return connection.close(this.#failure ?? notNeeded());
    // The only worker of a client gets its cores even where none are left.
    slot.releaseCores ??= cores.reserve(backend.threads, { must: true });
    slot.becomeReady(worker, clock.now());
    const onEnd = (): void => this.#lost(slot, connection.error!);
    if (connection.ended.aborted) queueMicrotask(onEnd);
    else connection.ended.addEventListener('abort', onEnd, { once: true });
    const isChange = !same(backend, this.#backend);
    this.#backend = backend;
    log(`Worker ${this.workers} is ready on ${nameOf(backend)}.`);
    this.#wake();
    if (isChange) on.backend(backend);
    this.#reconcile();
  }

  #openFailed(slot: Slot, error: TabServeError): void {
    if (slot.state !== 'opening') return;
    const now = this.#options.clock.now();
    this.#drop(slot);
    this.#options.log(`Another worker could not be opened: ${error.message}`);
    if (this.#slots.ready.length > 0) this.#growAt = now + PAUSE_MS;
    else {
      this.#backoff.countFailure(error);
      // Another attempt cannot change what is wrong with the archive.
      const { blames, retriable } = ERROR_CODES[error.code];
      const isFinal = blames === 'archive' && !retriable;
      if (isFinal || !this.#scheduleHealing(now)) return this.#fail(error);
    }
    this.#reconcile();
  }

  /** A worker has ended by itself. What was in it is replayed, or fails. */
  #lost(slot: Slot, error: TabServeError): void {
    if (slot.state === 'lost') return;
    const now = this.#options.clock.now();
    const backend = slot.backend!;
    const wasReady = slot.state === 'ready';
    const jobs = slot.pending;
    const wasReplay = jobs.some(({ lostWorker }) => lostWorker !== undefined);
    this.#drop(slot);
    const replays = triage(jobs, error);
    this.#backlog.replay(replays);
    const [replayed, failed] = [replays.length, jobs.length - replays.length];
    const fate = `of its requests ${replayed} are replayed, ${failed} failed`;
    this.#options.log(`The worker on ${nameOf(backend)} was lost; ${fate}: ${error.message}`);

    const wasLast = wasReady && this.#slots.ready.length === 0;
    if (now - slot.readySince > WELL_MS) this.#backoff.reset();
    // A request that ends its worker alone is to blame itself.
    if (wasLast && !wasReplay) this.#backoff.countLoss(backend, error);
    // A worker that was lost before it ran anything says that another one is of no use now.
    if (!wasLast && slot.runs === 0) this.#growAt = now + PAUSE_MS;
    if (wasLast || replayed > 0) {
      const before = this.#loss ?? { cause: error, at: now, replayed: 0, failed: 0 };
      this.#loss = { ...before, replayed: before.replayed + replayed, failed: before.failed + failed };
    }
    const mustHeal = wasLast && this.#slots.opening.length === 0;
    if (mustHeal && !this.#scheduleHealing(now)) return this.#fail(error);
    this.#reconcile();
  }

  // ── Reconciling ────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Compares what there is with what there should be, and acts. */
  #reconcile(): void {
    if (!this.serving) return;
    const now = this.#options.clock.now();
    this.#replay();
    const dueIn = this.#dispatch(now);
    this.#retire(now);
    this.#grow(now);
    this.#schedule(now, dueIn);
    this.#announceRecovery(now);
  }

  /** Sends each job whose worker was lost once more, alone in a worker. */
  #replay(): void {
    for (const slot of this.#slots.ready) {
      const job = slot.isIdle ? this.#backlog.takeReplay() : undefined;
      if (job) void this.#run(slot, [job]);
    }
  }

  /** Gives batches to slots as long as there are both. @returns milliseconds until the next batch is due, if that is known */
  #dispatch(now: number): number | undefined {
    for (;;) {
      const { hasReplays } = this.#backlog;
      const free = this.#slots.free({ full: false, hasReplays });
      const slot = free ?? this.#slots.free({ full: true, hasReplays });
      const next = slot && this.#backlog.take(this.#settings, now, { onlyFull: !free });
      if (!next?.jobs) return next?.dueIn;
      for (const job of next.jobs) this.#options.on.queued((job.queued = now - job.arrivedAt));
      void this.#run(slot!, next.jobs);
    }
  }

  /** Ends workers that are worn and replaced, that were idle for long, or that have drained. */
  #retire(now: number): void {
    const { counted, worn } = this.#slots;
    const ready = counted.filter(({ state }) => state === 'ready');
    if (worn[0] && ready.length >= this.#wanted) worn[0].state = 'draining';
    const idle = ready.filter((slot) => slot.isIdle && now - slot.idleSince >= IDLE_MS);
    const surplus = Math.max(0, counted.length - this.#settings.minWorkers);
    for (const slot of idle.slice(0, surplus)) slot.state = 'draining';
    for (const slot of this.#slots.draining) if (slot.isIdle) this.#drop(slot);
  }

  /** Opens a worker where there are fewer than wanted, one at a time. */
  #grow(now: number): void {
    const { counted, opening, ready, worn } = this.#slots;
    if (opening.length > 0 || counted.length >= this.#wanted) return;
    const backend = this.#backend!;
    const { signal } = this.#closed;
    if (ready.length === 0) {
      if (now >= this.#healAt) this.#open(new Slot(), { demoted: this.#backoff.demoted, first: backend, signal });
      return;
    }
    if (now < this.#growAt) return;
    const release = this.#options.cores.reserve(backend.threads, { must: worn.length > 0 });
    if (release) this.#open(new Slot(release), { demoted: [], only: backend, signal });
    else if (counted.length < this.#settings.minWorkers) {
      this.#options.log(`There are ${counted.length} workers: other models use the remaining cores.`);
      this.#growAt = now + PAUSE_MS;
    }
  }

  get #wanted(): number {
    const { isWaiting, hasReplays } = this.#backlog;
    const requestsWait = isWaiting && !this.#slots.free({ full: false, hasReplays });
    return this.#slots.wanted(this.#backend!, this.#settings, requestsWait);
  }

  /** Sets the timer for the next moment at which there is something to do though nothing happens. */
  #schedule(now: number, dueIn: number | undefined): void {
    this.#cancelTimer();
    const { counted, opening, ready } = this.#slots;
    const moments: number[] = dueIn === undefined ? [] : [now + dueIn];
    if (opening.length === 0 && ready.length === 0) moments.push(this.#healAt);
    if (opening.length === 0 && counted.length < this.#wanted) moments.push(this.#growAt);
    if (counted.length > this.#settings.minWorkers) {
      const idle = ready.filter((slot) => slot.isIdle);
      moments.push(...idle.map(({ idleSince }) => idleSince + IDLE_MS));
    }
    const next = Math.min(...moments.filter((at) => at > now));
    if (next < Infinity) this.#cancelTimer = this.#options.clock.schedule(() => this.#reconcile(), next - now);
  }

  /** A loss is healed when a worker is ready and nothing of it is left to replay. */
  #announceRecovery(now: number): void {
    const { ready } = this.#slots;
    if (!this.#loss || ready.length === 0 || this.#backlog.hasReplays || ready.some((slot) => slot.isReplaying)) return;
    const { at, ...loss } = this.#loss;
    this.#loss = undefined;
    this.#options.on.recover({ ...loss, backend: this.#backend!, took: now - at });
  }

  // ── Acts ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #open(slot: Slot, request: OpenWorker): void {
    this.#slots.add(slot);
    this.#options.open(request).then(
      (worker) => this.#opened(slot, worker),
      (error: unknown) => this.#openFailed(slot, asTabServeError(error)),
    );
  }

  /** Runs jobs together. Each will settle, or be among those of a lost slot. */
  async #run(slot: Slot, jobs: readonly Job[]): Promise<void> {
    const { clock, on } = this.#options;
    const { connection } = slot.worker!;
    const batch = new Batch(jobs, ({ id }) => connection.tell((worker) => worker.cancel(id)));
    slot.batches.add(batch);
    const sentAt = clock.now();
    let memory: number | undefined;
    try {
      const answer = await connection.call<HandleAnswer>((worker) => worker.handle(batch.message()), batch.id);
      on.ran(batch, answer, clock.now() - sentAt);
      const failure = failureOf(answer);
      if (!failure || blameOf(failure.code) !== 'worker') this.#backoff.reset();
      if (failure) throw failure;
      slot.batches.delete(batch);
      batch.resolve(answer);
      ({ memory } = answer);
    } catch (cause) {
      const error = asTabServeError(cause);
      // Closing calls `#lost`, which takes the batch's jobs.
      if (blameOf(error.code) === 'worker') connection.close(error);
      else if (slot.batches.delete(batch)) this.#failed(slot, batch, error);
    }
    if (slot.state === 'lost') return;
    slot.ran(memory, clock.now());
    this.#reconcile();
  }

  /** A batch that could not be sent is sent job by job: one of them is at fault. */
  #failed(slot: Slot, batch: Batch, error: TabServeError): void {
    const jobs = batch.pending;
    if (error.code !== 'not-cloneable' || jobs.length < 2) return batch.reject(error);
    batch.rollback();
    for (const job of jobs) void this.#run(slot, [job]);
  }

  /** Forgets a slot, and ends its worker. */
  #drop(slot: Slot, error: TabServeError = notNeeded()): void {
    this.#slots.delete(slot);
    slot.end(error);
  }

  /** @returns whether there will be another attempt */
  #scheduleHealing(now: number): boolean {
    const at = this.#backoff.next(now);
    this.#healAt = at ?? Infinity;
    return at !== undefined;
  }

  #fail(cause: TabServeError): void {
    const { reasons } = this.#backoff;
    const why = [...new Set(reasons)].join(' ') || cause.message;
    const message = `The worker was lost, and ${reasons.length} attempts to open another one failed. ${why}`;
    const failure = new TabServeError('no-backend', message, { cause });
    this.#stop(failure);
    this.#options.on.fail(failure);
  }

  #stop(error: TabServeError): void {
    this.#failure = error;
    this.#cancelTimer();
    this.#loss = undefined;
    const jobs = this.#slots.all.flatMap(({ pending }) => pending);
    for (const slot of this.#slots.all) this.#drop(slot, error);
    for (const job of jobs) job.reject(error);
    this.#backlog.rejectAll(error);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

function nameOf({ engine, name }: Backend): string {
  return `${engine}/${name}`;
}

function same(a: Backend, b: Backend | undefined): boolean {
  return a.engine === b?.engine && a.name === b.name;
}

function notNeeded(): TabServeError {
  return new TabServeError('disposed', 'The worker is not needed any more.');
}
