import type { Backend, Skipped } from '../../contract/backends.js';
import { asTabServeError, TabServeError, type ErrorCode } from '../../contract/errors.js';
import { servingOf, type Serving } from '../../contract/settings.js';
import type { HandleAnswer } from '../../contract/wire.js';
import type { Batch } from '../requests/batch.js';
import type { Connection } from './connection.js';
import type { Job } from '../requests/job.js';
import type { OpenedWorker } from '../selection/open.js';
import { Pool, type Loss, type Seat } from './pool.js';
import { JobQueue } from '../requests/queue.js';

/** Seconds before each try to open a worker again, counted from the last one that answered: TorchServe's. */
const BACKOFF = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55];

/** A backend whose workers are lost so many times in a row, without an answer in between, is left for the next. */
const STRIKES = 2;

/** A worker that was there for so long was well, whether or not anything was asked of it. */
const WELL_MS = 60_000;

/** What no further try can mend. */
const FATAL: ReadonlySet<ErrorCode> = new Set([
  'disposed',
  'model-format',
  'model-config',
  'unknown-handler',
  'unsupported',
]);

export interface Reopening {
  /** Candidates that have been given up, with reasons. */
  readonly demoted: readonly Skipped[];
  /** Only this one will do. */
  readonly only?: Backend;
  /** The one to begin with. */
  readonly first?: Backend;
  readonly signal: AbortSignal;
}

export interface SupervisorOptions {
  readonly open: (how: Reopening) => Promise<OpenedWorker>;
  /** Seconds for which healing is tried before the client fails for good. */
  readonly maxRetryTimeoutInSec: number;
  readonly maxRuns: number | undefined;
  readonly maxMemory: number | undefined;
  readonly tell: (what: string) => void;
  readonly on: {
    backend(backend: Backend): void;
    /** A job has left the queue, after so many milliseconds. */
    queued(milliseconds: number): void;
    ran(batch: Batch, answer: HandleAnswer, roundTrip: number): void;
    recover(recovery: Recovery): void;
    fail(error: TabServeError): void;
  };
}

/** A worker was lost, and another one has taken its place. */
export interface Recovery {
  readonly backend: Backend;
  readonly cause: TabServeError;
  /** Milliseconds from the loss until a worker took requests again. */
  readonly took: number;
}

/**
 * Keeps workers at work on one queue. When the last one is lost, opens the next: on the same backend, then, should that be lost again before it has answered
 * anything, on another. What was in a lost worker is sent once more, each request alone, so that one that kills its worker fails for itself and no backend
 * is blamed for it.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #closed = new AbortController();
  readonly #pool: Pool;
  readonly #queue = new JobQueue();
  #limits: Serving = servingOf({});
  /** Until the next batch is due. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Of the last worker, and when it took over. */
  #backend: Backend | undefined;
  #seated = 0;
  #healing = false;
  #failure: TabServeError | undefined;
  /** Requests whose input is being prepared. */
  #coming = 0;
  /** Were in a worker that was lost. */
  readonly #replays: Job[] = [];
  #demoted: Skipped[] = [];
  /** Since a worker last answered: losses of one backend, tries, and when the first loss was. */
  #strikes = 0;
  #tries = 0;
  /** Why each of them failed. */
  #reasons: string[] = [];
  #since: number | undefined;
  /** Wait for a worker, or the end. */
  #hopeful: (() => void)[] = [];

  constructor(options: SupervisorOptions) {
    const { open, maxRuns, maxMemory, tell, on } = options;
    this.#options = options;
    this.#pool = new Pool({
      maxRuns,
      maxMemory,
      tell,
      open: (only) => open({ demoted: [], only, signal: this.#closed.signal }),
      on: { room: () => this.#pump(), ran: on.ran, answered: () => this.#answered(), lost: (loss) => this.#lost(loss) },
    });
  }

  /** Whether requests are taken: there is a worker, or one is being opened in the place of a lost one. */
  get serving(): boolean {
    return this.#failure === undefined && (this.#pool.size > 0 || this.#healing);
  }

  /** Why there will be no more workers. */
  get failure(): TabServeError | undefined {
    return this.#failure;
  }

  /** Workers at work. */
  get workers(): number {
    return this.#pool.size;
  }

  /** Requests that wait, and how many more may. */
  get jobQueueStatus(): { readonly remainingCapacity: number; readonly pendingRequests: number } {
    const pendingRequests = this.#queue.size + this.#coming;
    return { remainingCapacity: Math.max(0, this.#limits.jobQueueSize - pendingRequests), pendingRequests };
  }

  /** The first worker, or one after all was given up. */
  start(open: OpenedWorker, limits: Serving): void {
    this.#failure = undefined;
    this.#answered();
    this.#demoted = [];
    this.#limits = limits;
    this.#pool.limits = limits;
    this.#backend = open.backend;
    this.#seated = performance.now();
    this.#pool.sit(open);
  }

  /** Why a further request is refused; undefined while there is room. */
  get refusal(): TabServeError | undefined {
    const { remainingCapacity, pendingRequests } = this.jobQueueStatus;
    if (remainingCapacity > 0) return undefined;
    return new TabServeError(
      'queue-full',
      `${pendingRequests} requests wait already, as many as may (jobQueueSize: ${this.#limits.jobQueueSize}). Try again later, or send fewer.`,
    );
  }

  /** A request whose input is still being prepared has its place in the queue already. */
  async prepared<T>(preparing: Promise<T>): Promise<T> {
    this.#coming += 1;
    try {
      return await preparing;
    } finally {
      this.#coming -= 1;
    }
  }

  /** The job will settle. */
  run(job: Job): void {
    if (this.#failure) return job.reject(this.#failure);
    if (job.settled) return;
    this.#queue.push(job);
    this.#pump();
  }

  /** Asks a worker something aside from the queue; where one is being replaced, the next. @throws what the worker throws, or why there will be none */
  async ask<T>(method: Parameters<typeof Connection.prototype.call<T>>[0]): Promise<T> {
    for (;;) {
      if (this.#failure) throw this.#failure;
      const connection = this.#pool.any?.connection;
      try {
        if (connection) return await connection.call(method);
        await new Promise<void>((resolve) => this.#hopeful.push(resolve));
      } catch (error) {
        // One that was sent home had nothing to do with it.
        if (connection?.error?.code !== 'disposed') throw error;
      }
    }
  }

  /** Ends the workers; whatever is pending is rejected with `error`. */
  close(error: TabServeError): void {
    this.#closed.abort(error);
    this.#failure = error;
    clearTimeout(this.#timer);
    this.#pool.close(error);
    this.#rejectAll(error);
  }

  /** Gives batches to workers as long as there are both. */
  #pump(): void {
    clearTimeout(this.#timer);
    for (;;) {
      const idle = this.#pool.free({ full: false });
      const seat = idle ?? this.#pool.free({ full: true });
      const due = seat && this.#queue.take(this.#limits, { full: !idle });
      if (!due?.jobs) {
        if (due?.dueIn !== undefined) this.#timer = setTimeout(() => this.#pump(), due.dueIn);
        if (!idle && this.#queue.size > 0) this.#pool.grow();
        return;
      }
      const now = performance.now();
      for (const job of due.jobs) this.#options.on.queued((job.queued = now - job.since));
      void this.#pool.send(seat!, due.jobs);
    }
  }

  #answered(): void {
    this.#strikes = 0;
    this.#tries = 0;
    this.#reasons = [];
    this.#since = undefined;
  }

  #lost({ backend, jobs, error, retired }: Loss): void {
    for (const job of jobs) {
      if (this.#closed.signal.aborted) job.reject(error);
      else if (job.loss) job.reject(blamed(error, job.loss));
      else if (job.replayable) {
        job.loss = error;
        this.#replays.push(job);
      } else job.reject(lost(error));
    }
    if (this.#closed.signal.aborted) return;
    const failed = jobs.filter(({ settled }) => settled).length;
    this.#options.tell(
      `The worker on ${backend.engine}/${backend.name} was lost, ${jobs.length - failed} of its requests are run again, ${failed} failed: ${error.message}`,
    );
    const blameless = jobs.length === 1 && jobs[0]!.loss !== undefined && jobs[0]!.settled;
    if (!retired && !blameless && this.#pool.size === 0) this.#strike(backend, error);
    if (this.#replays.length > 0 || this.#pool.size === 0) void this.#heal(error);
    else this.#pump();
  }

  #strike({ engine, name }: Backend, { message }: TabServeError): void {
    this.#strikes += 1;
    if (this.#strikes < STRIKES) return;
    this.#demoted.push({ engine, name, reason: `It was lost ${this.#strikes} times in a row: ${message}` });
    this.#strikes = 0;
  }

  /** Until a worker has run what is to be run again, and takes requests. */
  async #heal(cause: TabServeError): Promise<void> {
    if (this.#healing) return;
    this.#healing = true;
    const started = performance.now();
    // Losses that are far apart have nothing to do with one another.
    if (started - this.#seated > WELL_MS) this.#answered();
    const since = (this.#since ??= started);
    const before = this.#backend;
    try {
      while (!this.#closed.signal.aborted) {
        const seat = this.#pool.any ?? (await this.#reopen(cause, since));
        if (!seat) return;
        await this.#pool.hold(seat);
        while (this.#pool.has(seat) && this.#replays.length > 0) await this.#pool.send(seat, [this.#replays.shift()!]);
        if (!this.#pool.has(seat)) continue;
        this.#healing = false;
        if (before?.engine !== seat.backend.engine || before.name !== seat.backend.name)
          this.#options.on.backend(seat.backend);
        this.#options.on.recover({ backend: seat.backend, cause, took: performance.now() - started });
        this.#pool.release(seat);
        return;
      }
    } finally {
      this.#healing = false;
    }
  }

  async #reopen(cause: TabServeError, since: number): Promise<Seat | undefined> {
    const { signal } = this.#closed;
    for (;;) {
      const seconds = BACKOFF[Math.min(this.#tries++, BACKOFF.length - 1)]!;
      if (performance.now() - since + seconds * 1000 > this.#options.maxRetryTimeoutInSec * 1000)
        return void this.#fail(cause);
      await delay(seconds * 1000, signal);
      if (signal.aborted) return undefined;
      try {
        const open = await this.#options.open({ demoted: this.#demoted, first: this.#backend!, signal });
        this.#backend = open.backend;
        this.#seated = performance.now();
        const seat = this.#pool.sit(open);
        void this.#pool.hold(seat);
        this.#wake();
        return seat;
      } catch (error) {
        cause = asTabServeError(error);
        if (signal.aborted) return undefined;
        this.#reasons.push(cause.message);
        this.#options.tell(`No worker could be put in its place: ${cause.message}`);
        if (FATAL.has(cause.code)) return void this.#fail(cause);
      }
    }
  }

  #fail(cause: TabServeError): void {
    const reasons = [...new Set(this.#reasons)].join(' ');
    this.#failure = new TabServeError(
      'no-backend',
      `The worker was lost, and ${this.#reasons.length} tries to put another one in its place failed. ${reasons || cause.message}`,
      {
        cause,
      },
    );
    this.#rejectAll(this.#failure);
    this.#options.on.fail(this.#failure);
  }

  #rejectAll(error: TabServeError): void {
    for (const job of this.#replays.splice(0)) job.reject(error);
    this.#queue.rejectAll(error);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#hopeful.splice(0)) resolve();
  }
}

function lost(cause: TabServeError): TabServeError {
  return new TabServeError(
    'worker-lost',
    `The worker was lost with this request in it, whose input is gone: ${cause.message}`,
    { cause },
  );
}

function blamed(cause: TabServeError, before: TabServeError): TabServeError {
  if (cause.code === 'out-of-memory') return cause;
  return new TabServeError(
    'worker-lost',
    `This request has ended two workers, the second one alone: ${cause.message} The first: ${before.message}`,
    { cause },
  );
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const listening = new AbortController();
    const timer = setTimeout(() => {
      listening.abort();
      resolve();
    }, ms);
    const stop = (): void => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener('abort', stop, { once: true, signal: listening.signal });
  });
}
