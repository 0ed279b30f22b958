import type { Backend, Skipped } from '../contract.js';
import { asTabServeError, errorFromData, TabServeError, type ErrorCode, type ErrorData } from '../errors.js';
import type { HandleAnswer } from '../wire.js';
import type { Connection } from './connection.js';
import type { Job } from './job.js';
import type { Open } from './open.js';
import type { Story } from './story.js';

/** Seconds before each try to open a worker again, counted from the last one that answered: TorchServe's. */
const BACKOFF = [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55];

/** A backend whose workers are lost so many times in a row, without an answer in between, is left for the next. */
const STRIKES = 2;

/** What only another worker mends. */
const LOSSES: ReadonlySet<ErrorCode> = new Set(['worker-lost', 'device-lost', 'out-of-memory']);

/** What no further try can mend. */
const FATAL: ReadonlySet<ErrorCode> = new Set(['disposed', 'model-format', 'model-config', 'unknown-handler', 'unsupported']);

export interface Reopening {
  /** Candidates that have been given up, with reasons. */
  readonly demoted: readonly Skipped[];
  /** Only this one will do. */
  readonly only?: Backend;
  readonly signal: AbortSignal;
}

export interface SupervisorOptions {
  readonly open: (how: Reopening) => Promise<Open>;
  /** Seconds for which healing is tried before the client fails for good. */
  readonly maxRetryTimeoutInSec: number;
  /** Batches after which a worker is replaced. */
  readonly maxRuns: number | undefined;
  /** Bytes that an engine may hold before its worker is replaced. */
  readonly maxMemory: number | undefined;
  readonly story: Story;
  readonly on: {
    backend(backend: Backend): void;
    /** A batch came back, after so many milliseconds: whether it was answered or failed. */
    ran(job: Job, answer: HandleAnswer, roundTrip: number): void;
    recover(recovery: Recovery): void;
    fail(error: TabServeError): void;
  };
}

/** A worker was lost, and another one has taken its place. */
export interface Recovery {
  readonly backend: Backend;
  readonly cause: TabServeError;
  /** Milliseconds from the loss until the new worker took requests. */
  readonly took: number;
}

/** A worker at work. */
interface Seat {
  readonly connection: Connection;
  readonly backend: Backend;
  readonly jobs: Set<Job>;
  runs: number;
  /** Bytes that the engine held after the first batch, and after the last. */
  memory: { readonly first: number; readonly last: number } | undefined;
}

/**
 * Keeps a worker at work. When one is lost, opens the next: on the same backend, then, should that be lost again before it has answered anything, on another.
 * What was in the lost worker is sent once more, each request alone, so that one that kills its worker fails for itself and no backend is blamed for it.
 */
export class Supervisor {
  readonly #options: SupervisorOptions;
  readonly #closed = new AbortController();
  #seat: Seat | undefined;
  /** Workers that others have replaced, with their last jobs. */
  readonly #retired = new Set<Seat>();
  /** Of the last worker. */
  #backend: Backend | undefined;
  #healing = false;
  #recycling = false;
  #failure: TabServeError | undefined;
  /** Wait for a worker. */
  readonly #waiting: Job[] = [];
  /** Were in a worker that was lost. */
  readonly #replays: Job[] = [];
  #demoted: Skipped[] = [];
  /** Since a worker last answered: losses of one backend, tries, and when the first loss was. */
  #strikes = 0;
  #tries = 0;
  /** Why each of them failed. */
  #reasons: string[] = [];
  #since: number | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
  }

  /** Whether requests are taken: there is a worker, or one is being opened in the place of a lost one. */
  get serving(): boolean {
    return this.#seat !== undefined || this.#healing;
  }

  /** Why there will be no more workers. */
  get failure(): TabServeError | undefined {
    return this.#failure;
  }

  /** The first worker, or one after all was given up. */
  start(open: Open): void {
    this.#failure = undefined;
    this.#answered();
    this.#demoted = [];
    this.#sit(open);
  }

  /** The job will settle. */
  run(job: Job): void {
    if (this.#failure) job.reject(this.#failure);
    else if (this.#seat && !this.#healing) void this.#send(this.#seat, job);
    else this.#waiting.push(job);
  }

  /** Ends the worker; whatever is pending is rejected with `error`. */
  close(error: TabServeError): void {
    this.#closed.abort(error);
    const seats = [this.#seat, ...this.#retired];
    this.#seat = undefined;
    for (const seat of seats) seat?.connection.close(error);
    this.#rejectAll(error);
  }

  #sit({ connection, backend }: Open): Seat {
    const seat: Seat = { connection, backend, jobs: new Set(), runs: 0, memory: undefined };
    this.#seat = seat;
    this.#backend = backend;
    if (connection.error) queueMicrotask(() => this.#lost(seat, connection.error!));
    connection.ended.addEventListener('abort', () => this.#lost(seat, connection.error!), { once: true });
    return seat;
  }

  async #send(seat: Seat, job: Job): Promise<void> {
    if (job.settled) return;
    seat.jobs.add(job);
    job.cancel = () => seat.connection.tell((worker) => worker.cancel(job.id));
    const sent = performance.now();
    try {
      const answer = await seat.connection.call((worker) => worker.handle(job.message()));
      this.#options.on.ran(job, answer, performance.now() - sent);
      const failure = failureIn(answer);
      if (failure) throw failure;
      seat.jobs.delete(job);
      this.#answered();
      seat.memory = { first: seat.memory?.first ?? answer.memory, last: answer.memory };
      job.resolve(answer);
    } catch (cause) {
      const error = asTabServeError(cause);
      // The jobs of a worker that has ended are `#lost`'s.
      if (LOSSES.has(error.code)) seat.connection.close(error);
      else if (seat.jobs.delete(job)) job.reject(error);
    }
    this.#afterRun(seat);
  }

  #answered(): void {
    this.#strikes = 0;
    this.#tries = 0;
    this.#reasons = [];
    this.#since = undefined;
  }

  #afterRun(seat: Seat): void {
    seat.runs += 1;
    this.#dismiss(seat);
    if (seat === this.#seat && this.#isWorn(seat)) void this.#recycle(seat);
  }

  /** One that was replaced ends with its last job. */
  #dismiss(seat: Seat): void {
    if (this.#retired.has(seat) && seat.jobs.size === 0) seat.connection.close(new TabServeError('disposed', 'The worker was replaced.'));
  }

  /** A worker that is past the mark with its first batch needs that much: another one would too. */
  #isWorn({ runs, memory }: Seat): boolean {
    const { maxRuns = Infinity, maxMemory = Infinity } = this.#options;
    return runs >= maxRuns || (memory !== undefined && memory.last > maxMemory && memory.first <= maxMemory);
  }

  #lost(seat: Seat, error: TabServeError): void {
    const jobs = [...seat.jobs].filter(({ settled }) => !settled);
    seat.jobs.clear();
    for (const job of jobs) {
      if (this.#closed.signal.aborted) job.reject(error);
      else if (job.lone) job.reject(blamed(error));
      else if (job.repeatable) {
        job.lone = true;
        this.#replays.push(job);
      } else job.reject(lost(error));
    }
    this.#tellLoss(seat, error, jobs);
    if (this.#retired.delete(seat) && jobs.length > 0) void this.#heal(error);
    if (this.#seat !== seat) return;
    this.#seat = undefined;
    const blameless = jobs.length === 1 && jobs[0]!.settled && jobs[0]!.lone;
    if (!blameless) this.#strikes += 1;
    if (this.#strikes >= STRIKES) {
      const { engine, name } = seat.backend;
      this.#demoted.push({ engine, name, reason: `It was lost ${this.#strikes} times in a row: ${error.message}` });
      this.#strikes = 0;
    }
    void this.#heal(error);
  }

  /** One that was ended on purpose, with nothing in it, is no loss. */
  #tellLoss(seat: Seat, error: TabServeError, jobs: readonly Job[]): void {
    if (this.#closed.signal.aborted || (this.#seat !== seat && jobs.length === 0)) return;
    const failed = jobs.filter(({ settled }) => settled).length;
    const { engine, name } = seat.backend;
    this.#options.story.tell(`The worker on ${engine}/${name} was lost, ${jobs.length - failed} of its requests are run again, ${failed} failed: ${error.message}`);
  }

  /** Opens workers until one has taken over, and has run what is to be run again. */
  async #heal(cause: TabServeError): Promise<void> {
    this.#since ??= performance.now();
    if (this.#healing) return;
    this.#healing = true;
    const started = performance.now();
    const before = this.#backend;
    try {
      while (!this.#closed.signal.aborted) {
        const seat = this.#seat ?? (await this.#reopen(cause));
        if (!seat) return;
        while (this.#seat === seat && this.#replays.length > 0) await this.#send(seat, this.#replays.shift()!);
        if (this.#seat !== seat) continue;
        this.#healing = false;
        if (before?.engine !== seat.backend.engine || before.name !== seat.backend.name) this.#options.on.backend(seat.backend);
        this.#options.on.recover({ backend: seat.backend, cause, took: performance.now() - started });
        for (const job of this.#waiting.splice(0)) this.run(job);
        return;
      }
    } finally {
      this.#healing = false;
    }
  }

  async #reopen(cause: TabServeError): Promise<Seat | undefined> {
    const { signal } = this.#closed;
    for (;;) {
      const seconds = BACKOFF[Math.min(this.#tries++, BACKOFF.length - 1)]!;
      if (performance.now() - this.#since! + seconds * 1000 > this.#options.maxRetryTimeoutInSec * 1000) return void this.#fail(cause);
      await delay(seconds * 1000, signal);
      if (signal.aborted) return undefined;
      try {
        return this.#sit(await this.#options.open({ demoted: this.#demoted, signal }));
      } catch (error) {
        cause = asTabServeError(error);
        if (signal.aborted) return undefined;
        this.#reasons.push(cause.message);
        if (FATAL.has(cause.code)) return void this.#fail(cause);
      }
    }
  }

  #fail(cause: TabServeError): void {
    const reasons = [...new Set(this.#reasons)].join(' ');
    this.#failure = new TabServeError('no-backend', `The worker was lost, and ${this.#reasons.length} tries to put another one in its place failed. ${reasons || cause.message}`, {
      cause,
    });
    this.#rejectAll(this.#failure);
    this.#options.on.fail(this.#failure);
  }

  #rejectAll(error: TabServeError): void {
    for (const job of [...this.#replays.splice(0), ...this.#waiting.splice(0)]) job.reject(error);
  }

  /** Replaces a worker that has run for long, behind the requests' back: the old one ends with its last job. */
  async #recycle(seat: Seat): Promise<void> {
    if (this.#recycling || this.#healing) return;
    this.#recycling = true;
    try {
      const open = await this.#options.open({ demoted: [], only: seat.backend, signal: this.#closed.signal });
      if (this.#seat !== seat) return open.connection.close(new TabServeError('disposed', 'Another worker has taken the place.'));
      this.#retired.add(seat);
      this.#sit(open);
      this.#dismiss(seat);
    } catch {
      // The old one goes on, and the next try is as far away as this one was.
      seat.runs = 0;
      seat.memory = undefined;
    } finally {
      this.#recycling = false;
    }
  }
}

/** That of the whole batch, or a loss that came as the failure of a row. */
function failureIn({ rows, failure }: HandleAnswer): TabServeError | undefined {
  if (failure !== undefined) return asTabServeError(errorFromData(failure as ErrorData));
  for (const row of rows) {
    if (!row.ok && LOSSES.has((row.error as ErrorData).code as ErrorCode)) return asTabServeError(errorFromData(row.error as ErrorData));
  }
  return undefined;
}

function lost(cause: TabServeError): TabServeError {
  return new TabServeError('worker-lost', `The worker was lost with this request in it, whose input is gone: ${cause.message}`, { cause });
}

function blamed(cause: TabServeError): TabServeError {
  if (cause.code === 'out-of-memory') return cause;
  return new TabServeError('worker-lost', `This request has ended two workers, the second one alone: ${cause.message}`, { cause });
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
