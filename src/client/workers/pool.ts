import type { Backend } from '../../contract/backends.js';
import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import type { HandleAnswer } from '../../contract/wire.js';
import { Backlog, type JobQueueStatus } from '../requests/backlog.js';
import { Batch, checkAnswer, failureOf } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import { Backoff } from './backoff.js';
import type { WorkerMethod } from './connection.js';
import type { OpenWorker, PoolOptions } from './pool-options.js';
import { triage, type OpenLoss } from './recovery.js';
import { isGpu, Slot, type OpenedWorker } from './slot.js';
import { leastBusy, Slots } from './slots.js';

/** How long a worker beyond `minWorkers` may be idle before the pool ends it. */
export const IDLE_MS = 10_000;
/** How long the pool waits after it could not add a worker before it tries again. */
export const PAUSE_MS = 10_000;
/** How long a worker must be ready for its loss to have nothing to do with earlier losses. */
export const WELL_MS = 60_000;

/**
 * Runs the requests of one queue on workers, as a state machine. Each event (a request arrived; a batch came back; a worker was opened or lost; a
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
  /** The backend of the worker that was opened last; undefined before the first. */
  #backend: Backend | undefined;
  /** When the pool may open the next worker: to replace the last one that was lost, or beside others. */
  #healAt = 0;
  #growAt = 0;
  #loss: OpenLoss | undefined;
  #failure: TabServeError | undefined;
  #cancelTimer: () => void = () => {};
  /** Callers that wait until a worker is ready or the pool has failed. */
  #waiters: (() => void)[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#slots = new Slots(options);
    this.#backoff = new Backoff(options.maxRetryTimeoutInSec);
  }

  /** Whether requests are accepted: there is a worker, or the pool is replacing a lost one. */
  get serving(): boolean {
    return this.#backend !== undefined && this.#failure === undefined;
  }

  /** Why the pool has failed and opens no more workers. */
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

  /** Checks that the queue has room for another request. @throws `queue-full` */
  checkRoom(): void {
    this.#backlog.checkRoom(this.#settings.jobQueueSize);
  }

  /** Reserves a place in the queue for a request while its input is being prepared. */
  prepare<T>(preparing: Promise<T>): Promise<T> {
    return this.#backlog.prepare(preparing);
  }

  // ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts the pool with its first worker, or starts it again after a failure. */
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
   * Calls a worker directly, past the queue. If none is ready, waits for the next one.
   * @throws what the worker throws, or the pool's failure
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
          // The worker was retired meanwhile: call another one.
          if (connection.error?.code !== 'disposed') throw error;
        }
      }
    }
  }

  /** Ends all workers and rejects everything that is pending. The pool opens no more workers. */
  close(error: TabServeError): void {
    this.#closed.abort(error);
    this.#stop(error);
  }

  #opened(slot: Slot, worker: OpenedWorker): void {
    const { clock, on, cores, log } = this.#options;
    const { backend, connection } = worker;
    if (slot.state !== 'opening') return connection.close(this.#failure ?? notNeeded());
    // A client's only worker gets its cores even if none are left.
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
      const isFinal = blameOf(error.code) === 'archive' && !error.retriable;
      if (isFinal || !this.#scheduleHealing(now)) return this.#fail(error);
    }
    this.#reconcile();
  }

  /** A worker was lost. Its requests are replayed, or fail. */
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
    // An aborted replay may be the last thing that a recovery waits for.
    for (const job of replays) job.onAbandon = () => this.#reconcile();
    const [replayed, failed] = [replays.length, jobs.length - replays.length];
    const fate = `of its requests ${replayed} are replayed, ${failed} failed`;
    this.#options.log(`The worker on ${nameOf(backend)} was lost; ${fate}: ${error.message}`);

    const wasLast = wasReady && this.#slots.ready.length === 0;
    if (now - slot.readySince > WELL_MS) this.#backoff.reset();
    // A replayed request runs alone: if it ends its worker, the request is to blame.
    if (wasLast && !wasReplay) this.#backoff.countLoss(backend, error);
    // This worker was lost before it ran anything: do not open another one now.
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

  /** Compares the workers and requests with what they should be, and acts. */
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

  /** Replays each job whose worker was lost, once, alone in a worker. */
  #replay(): void {
    for (const slot of this.#slots.ready) {
      const job = slot.isIdle ? this.#backlog.takeReplay() : undefined;
      if (job) void this.#run(slot, [job]);
    }
  }

  /** Sends batches to slots as long as there are both. @returns milliseconds until the next batch is due, if known */
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

  /** Ends workers that were replaced, that were idle for too long, or that have drained. */
  #retire(now: number): void {
    const { ready } = this.#slots;
    for (const slot of ready) {
      if (slot.replaces?.state === 'ready') slot.replaces.state = 'draining';
      // Nothing refers to a replaced worker any more.
      slot.replaces = undefined;
    }
    const staying = ready.filter(({ state }) => state === 'ready');
    const idle = staying.filter((slot) => slot.isIdle && now - slot.idleSince >= IDLE_MS);
    const surplus = Math.max(0, staying.length - this.#minWorkers);
    for (const slot of idle.slice(0, surplus)) slot.state = 'draining';
    for (const slot of this.#slots.draining) if (slot.isIdle) this.#drop(slot);
  }

  /** Opens a worker if there are fewer than wanted, or if one is worn; one at a time. */
  #grow(now: number): void {
    const { counted, opening, ready, worn } = this.#slots;
    if (opening.length > 0) return;
    const backend = this.#backend!;
    const { cores, log } = this.#options;
    const { signal } = this.#closed;
    if (ready.length === 0) {
      if (now >= this.#healAt) this.#open(new Slot(), { demoted: this.#backoff.demoted, first: backend, signal });
      return;
    }
    if (now < this.#growAt) return;
    const request: OpenWorker = { demoted: [], only: backend, signal };
    if (counted.length < this.#wanted) {
      const releaseCores = cores.reserve(backend.threads, { must: false });
      if (releaseCores) return this.#open(new Slot({ releaseCores }), request);
      if (counted.length < this.#settings.minWorkers) {
        log(`There are ${counted.length} workers: other models use the remaining cores.`);
        this.#growAt = now + PAUSE_MS;
      }
    }
    const [replaces] = worn;
    // The worn worker is ended as soon as the new one is ready: for that time both have cores.
    if (replaces)
      this.#open(new Slot({ replaces, releaseCores: cores.reserve(backend.threads, { must: true })! }), request);
  }

  /** A GPU has one worker. */
  get #minWorkers(): number {
    return isGpu(this.#backend!) ? 1 : this.#settings.minWorkers;
  }

  get #wanted(): number {
    const { isWaiting, hasReplays } = this.#backlog;
    const requestsWait = isWaiting && !this.#slots.free({ full: false, hasReplays });
    return this.#slots.wanted(this.#backend!, this.#settings, requestsWait);
  }

  /** Sets the timer for the next moment at which there is something to do even if no event comes. */
  #schedule(now: number, dueIn: number | undefined): void {
    this.#cancelTimer();
    const { counted, opening, ready, worn } = this.#slots;
    const moments: number[] = dueIn === undefined ? [] : [now + dueIn];
    if (opening.length === 0 && ready.length === 0) moments.push(this.#healAt);
    if (opening.length === 0 && (counted.length < this.#wanted || worn.length > 0)) moments.push(this.#growAt);
    if (ready.length > this.#minWorkers) {
      const idle = ready.filter((slot) => slot.isIdle);
      moments.push(...idle.map(({ idleSince }) => idleSince + IDLE_MS));
    }
    const next = Math.min(...moments.filter((at) => at > now));
    if (next < Infinity) this.#cancelTimer = this.#options.clock.schedule(() => this.#reconcile(), next - now);
  }

  /** Announces that a loss is healed: a worker is ready, and no lost request is left to replay. */
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

  /** Runs jobs together. Each job settles, or `#lost` takes it. */
  async #run(slot: Slot, jobs: readonly Job[]): Promise<void> {
    const { clock, on } = this.#options;
    const { connection } = slot.worker!;
    const batch = new Batch(jobs, ({ id }) => connection.tell((worker) => worker.cancel(id)));
    slot.batches.add(batch);
    const sentAt = clock.now();
    let memory: number | undefined;
    try {
      const answer = await connection.call<HandleAnswer>((worker) => worker.handle(batch.message()), batch.id);
      checkAnswer(answer, batch.size);
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

  /** Rejects a batch that failed. If it could not be sent, sends it job by job instead: one of them is at fault. */
  #failed(slot: Slot, batch: Batch, error: TabServeError): void {
    const jobs = batch.pending;
    if (error.code !== 'not-cloneable' || jobs.length < 2) return batch.reject(error);
    batch.rollback();
    for (const job of jobs) void this.#run(slot, [job]);
  }

  /** Removes a slot, and ends its worker. */
  #drop(slot: Slot, error: TabServeError = notNeeded()): void {
    this.#slots.delete(slot);
    slot.end(error);
  }

  /** Schedules the next attempt to open a worker. @returns whether there will be one */
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
