import { candidateName, isSameCandidate, type Backend } from '../../contract/backends.js';
import { asTabServeError, blameOf, TabServeError } from '../../contract/errors.js';
import type { Serving } from '../../contract/settings.js';
import type { HandleAnswer } from '../../contract/wire.js';
import type { JobQueueStatus } from '../requests/queue.js';
import { Batch, checkAnswer, failureOf } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import type { RetainedValue, ValueCache } from '../requests/retained-value.js';
import type { WorkerStatus } from '../requests/sender.js';
import type { WorkerMethod } from './connection.js';
import { passChunks } from './pass-chunks.js';
import { type OpenWorker, type PoolOptions, PoolState, leastBusy } from './pool-state.js';
import { PAUSE_MS, Reconciler } from './reconciler.js';
import { addLoss, triage } from './recovery.js';
import { computesElsewhere, MAX_BATCHES, Slot, type OpenedWorker } from './slot.js';

/** A worker that was ready for this long is stable: its loss does not count together with earlier losses. */
export const STABLE_MS = 60_000;

/**
 * Runs the requests of one queue on workers, as a state machine. Each event (a request arrived; a batch came back; a
 * worker was opened or lost) changes the `PoolState`, and then calls the `Reconciler`, which compares what there is
 * with what there should be, and acts: replay, dispatch, retire, open. `ARCHITECTURE.md` has a diagram.
 */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #state: PoolState;
  readonly #reconciler: Reconciler;
  readonly #closed = new AbortController();
  /** Callers that wait until a worker is ready or the pool has failed. */
  #waiters: (() => void)[] = [];
  readonly #self = new WeakRef<ValueCache>(this);

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#state = new PoolState(options);
    this.#reconciler = new Reconciler(this.#state, options, {
      signal: this.#closed.signal,
      open: (slot, request) => this.#open(slot, request),
      run: (slot, jobs) => void this.#run(slot, jobs),
      drop: (slot) => this.#drop(slot),
    });
  }

  /** Whether requests are accepted: there is a worker, or the pool is replacing a lost one. */
  get serving(): boolean {
    return this.#state.serving;
  }

  /** The backend that the workers run on; undefined before the first one was opened. */
  get backend(): Backend | undefined {
    return this.#state.backend;
  }

  /** Why the pool has failed and opens no more workers. */
  get failure(): TabServeError | undefined {
    return this.#state.failure;
  }

  /** Number of workers that take requests. */
  get workers(): number {
    return this.#state.slots.ready.length;
  }

  /** How many batches keep the workers busy: on a GPU or a server, one is preprocessed while another one runs. */
  get parallelism(): number {
    const { backend } = this.#state;
    return backend && computesElsewhere(backend) ? MAX_BATCHES : Math.max(1, this.workers);
  }

  get queueStatus(): JobQueueStatus {
    return this.#state.backlog.status(this.#state.settings.jobQueueSize);
  }

  get workerStatus(): readonly WorkerStatus[] {
    return this.#state.slots.all.map(({ status }) => status);
  }

  /** Checks that the queue has room for another request. @throws `queue-full` */
  checkRoom(): void {
    this.#state.backlog.checkRoom(this.#state.settings.jobQueueSize);
  }

  /** Reserves a slot in the queue for a request while its input is being prepared. */
  prepare<T>(preparing: Promise<T>): Promise<T> {
    return this.#state.backlog.prepare(preparing);
  }

  // ── Events ─────────────────────────────────────────────────────────────────────────────────────────────────────────

  /** Starts the pool with its first worker, or starts it again after a failure. */
  start(worker: OpenedWorker, settings: Serving): void {
    if (this.#closed.signal.aborted) return worker.connection.close(this.#closed.signal.reason as TabServeError);
    this.#state.restart(settings);
    const slot = new Slot();
    this.#state.slots.add(slot);
    this.#opened(slot, worker);
  }

  /** Adds a request to the queue. The job will settle. */
  add(job: Job): void {
    if (this.#state.failure) return job.reject(this.#state.failure);
    if (job.settled) return;
    this.#state.backlog.push(job);
    this.#reconciler.reconcile();
  }

  /**
   * Calls a worker directly, past the queue. If none is ready, waits for the next one.
   * @throws what the worker throws, or the pool's failure
   */
  async ask<T>(method: WorkerMethod<T>): Promise<T> {
    for (;;) {
      if (this.#state.failure) throw this.#state.failure;
      const connection = leastBusy(this.#state.slots.ready)?.worker?.connection;
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

  forget(value: RetainedValue): void {
    for (const { cached, worker } of this.#state.slots.ready)
      if (cached.delete(value)) worker!.connection.tell(({ forget }) => forget(value.key));
  }

  /** Ends all workers and rejects everything that is pending. The pool opens no more workers. */
  close(error: TabServeError): void {
    this.#closed.abort(error);
    this.#stop(error);
  }

  #opened(slot: Slot, worker: OpenedWorker): void {
    const { clock, on, cores, log } = this.#options;
    const { backend, connection } = worker;
    if (slot.state !== 'opening') return connection.close(this.#state.failure ?? notNeeded());
    // A client's only worker gets its cores even if none are left.
    slot.releaseCores ??= cores.reserve(backend.threads, { must: true });
    slot.becomeReady(worker, clock.now());
    const onEnd = (): void => this.#lost(slot, connection.error!);
    if (connection.ended.aborted) queueMicrotask(onEnd);
    else connection.ended.addEventListener('abort', onEnd, { once: true });
    const isChange = !isSameCandidate(backend, this.#state.backend);
    this.#state.backend = backend;
    log(`Worker ${this.workers} is ready on ${candidateName(backend)}.`);
    this.#wake();
    if (isChange) on.backend(backend);
    this.#reconciler.reconcile();
  }

  #openFailed(slot: Slot, error: TabServeError): void {
    if (slot.state !== 'opening') return;
    const now = this.#options.clock.now();
    const state = this.#state;
    this.#drop(slot);
    this.#options.log(`Another worker could not be opened: ${error.message}`);
    if (state.slots.ready.length > 0) state.growAt = now + PAUSE_MS;
    else {
      state.backoff.countFailure(error);
      // Another attempt cannot repair the archive.
      const isFinal = blameOf(error.code) === 'archive' && !error.retriable;
      if (isFinal || !state.scheduleHealing(now)) return this.#fail(error);
    }
    this.#reconciler.reconcile();
  }

  /** Removes the slot of a worker that was lost. Replays its requests, or fails them. */
  #lost(slot: Slot, error: TabServeError): void {
    if (slot.state === 'lost') return;
    const now = this.#options.clock.now();
    const state = this.#state;
    const { slots, backlog, backoff } = state;
    const backend = slot.backend!;
    const wasReady = slot.state === 'ready';
    const jobs = slot.pending;
    const { isReplaying: wasReplay, hasLoneJob } = slot;
    this.#drop(slot);
    const isWrong = error.code === 'backend-wrong';
    const replays = triage(jobs, { error, alone: hasLoneJob && !isWrong });
    backlog.replay(replays);
    // An aborted replay may be the last thing that a recovery waits for.
    for (const job of replays) job.onAbandon = () => this.#reconciler.reconcile();
    const [replayed, failed] = [replays.length, jobs.length - replays.length];
    const fate = `of its requests ${replayed} are replayed, ${failed} failed`;
    this.#options.log(`The worker on ${candidateName(backend)} was lost; ${fate}: ${error.message}`);

    const wasLast = wasReady && slots.ready.length === 0;
    // No other worker, and no other backend, would end what the model's files do not let end.
    const isEndless = blameOf(error.code) === 'archive';
    if (isEndless || now - slot.readySince > STABLE_MS) backoff.reset();
    // A replayed request runs alone, so if its worker is lost, the request is to blame.
    if (wasLast && !isEndless && (!wasReplay || isWrong)) backoff.countLoss(backend, error);
    // This worker was lost before it ran anything: do not open another one now.
    if (!wasLast && slot.runs === 0) state.growAt = now + PAUSE_MS;
    if (wasLast || replayed > 0) state.loss = addLoss(state.loss, { cause: error, at: now, replayed, failed });
    const mustHeal = wasLast && slots.opening.length === 0;
    if (mustHeal && !state.scheduleHealing(now)) return this.#fail(error);
    this.#reconciler.reconcile();
  }

  // ── Actions
  // ───────────────────────────────────────────────────────────────────────────────────────────────────────────

  #open(slot: Slot, request: OpenWorker): void {
    this.#state.slots.add(slot);
    this.#options.open(request).then(
      (worker) => this.#opened(slot, worker),
      (error: unknown) => this.#openFailed(slot, asTabServeError(error)),
    );
  }

  /** Runs jobs together. Each job settles, or `#lost` takes it. */
  async #run(slot: Slot, jobs: readonly Job[]): Promise<void> {
    const { clock, on } = this.#options;
    const { connection } = slot.worker!;
    const batch = new Batch(jobs, ({ id }) => {
      // It no longer waits for a reader, so the watchdog must notice if it hangs.
      connection.setPaused(id, false);
      connection.tell((worker) => worker.cancel(id));
    });
    const sentAt = clock.now();
    slot.add(batch);
    // An aborted job forgets its retained values, although the worker may continue.
    const { retained } = batch;
    let answered: HandleAnswer | undefined;
    try {
      const answer = await connection.call<HandleAnswer>(
        ({ handle }) => handle(...batch.message(slot.cached)),
        batch.id,
        passChunks(batch, connection, {
          onPause: () => this.#reconciler.reconcile(),
          onProgress: () => this.#state.backoff.reset(),
        }),
      );
      checkAnswer(answer, batch.size);
      if (answer.larger) slot.comparing = Promise.all([slot.comparing, slot.worker!.compareLarger?.(answer.larger)]);
      if (slot.comparing) await slot.comparing;
      // It was lost meanwhile, and its jobs run again.
      if (connection.error) throw connection.error;
      this.#recordCached(slot, retained, answer.kept ?? []);
      on.ran(batch.size, answer, clock.now() - sentAt);
      if (answer.http) batch.passHttp(answer.http);
      const failure = failureOf(answer);
      if (!failure || blameOf(failure.code) !== 'worker') this.#state.backoff.reset();
      if (failure) throw failure;
      slot.delete(batch);
      for (const job of batch.resolve(answer)) void this.#run(slot, [job]);
      answered = answer;
    } catch (cause) {
      const error = asTabServeError(cause);
      // Closing calls `#lost`, which takes the batch's jobs; a comparison that found the backend wrong has closed.
      if (blameOf(error.code) === 'worker') connection.close(error);
      else if (slot.state !== 'lost' && slot.delete(batch)) this.#failed(slot, batch, error);
    }
    if (slot.state === 'lost') return;
    slot.ran(answered?.memory, clock.now());
    this.#reconciler.reconcile();
  }

  /**
   * Rejects a batch that failed. If it could not be sent, sends it job by job instead: one of them is at fault. If the
   * worker no longer had the retained values, sends them again in full.
   */
  #failed(slot: Slot, batch: Batch, error: TabServeError): void {
    if (error.code === 'state-lost') {
      for (const job of batch.pending)
        if (job.sendInFull()) void this.#run(slot, [job]);
        else job.reject(error);
      return;
    }
    if (error.code !== 'not-cloneable' || batch.jobs < 2) return batch.reject(error);
    batch.rollback();
    for (const job of batch.pending) void this.#run(slot, [job]);
  }

  /** Removes a slot, and ends its worker. */
  #drop(slot: Slot, error: TabServeError = notNeeded()): void {
    this.#state.slots.delete(slot);
    slot.end(error);
  }

  #fail(cause: TabServeError): void {
    const { reasons } = this.#state.backoff;
    const why = [...new Set(reasons)].join(' ') || cause.message;
    const message = `The worker was lost, and could not be replaced. ${why}`;
    const failure = new TabServeError('no-backend', message, { cause });
    this.#stop(failure);
    this.#options.on.fail(failure);
  }

  #stop(error: TabServeError): void {
    const { slots, backlog } = this.#state;
    this.#state.failure = error;
    this.#state.loss = undefined;
    this.#reconciler.stop();
    const jobs = slots.all.flatMap(({ pending }) => pending);
    for (const slot of slots.all) this.#drop(slot, error);
    for (const job of jobs) job.reject(error);
    backlog.rejectAll(error);
    this.#wake();
  }

  /**
   * Records what a worker has cached of a batch's retained values. Values that were released meanwhile are freed there.
   * @param keys the keys of the values that the worker has cached
   */
  #recordCached({ cached }: Slot, values: readonly RetainedValue[], keys: readonly string[]): void {
    for (const value of values) {
      cached.delete(value);
      if (!keys.includes(value.key)) continue;
      cached.add(value);
      value.cachedBy(this.#self);
    }
  }

  #wake(): void {
    for (const resolve of this.#waiters.splice(0)) resolve();
  }
}

function notNeeded(): TabServeError {
  return new TabServeError('disposed', 'The worker is not needed any more.');
}
