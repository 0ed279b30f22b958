import type { Backend } from '../../contract/backends.js';
import { errorFromData, type ErrorData } from '../../contract/error-data.js';
import { asTabServeError, TabServeError, type ErrorCode } from '../../contract/errors.js';
import type { Serving } from '../../contract/settings.js';
import type { HandleAnswer } from '../../contract/wire.js';
import { Batch } from '../requests/batch.js';
import { reserve } from './budget.js';
import type { Connection } from './connection.js';
import type { Job } from '../requests/job.js';
import type { OpenedWorker } from '../selection/open.js';

/** What only another worker mends. */
const LOSSES: ReadonlySet<ErrorCode> = new Set(['worker-lost', 'device-lost', 'out-of-memory']);

/** A worker beyond `minWorkers` that has had nothing to do for so long is ended. */
const REST_MS = 10_000;

/** No other worker is tried for so long after one that could not be opened. */
const PAUSE_MS = 10_000;

/** Batches in one worker: a GPU works on one while the next is preprocessed, and no worker waits for the page between two. */
const DEPTH = 2;

/** A worker at work. */
export interface Seat {
  readonly connection: Connection;
  readonly backend: Backend;
  readonly batches: Set<Batch>;
  /** Gives its threads back to the page's budget. */
  readonly leave: () => void;
  /** Takes no batches from the queue. */
  held: boolean;
  /** Called when it has nothing more to do, or was lost. */
  onIdle: (() => void) | undefined;
  /** Batches that it has run. */
  runs: number;
  /** Bytes that the engine held after the first batch, and after the last. */
  memory: { readonly first: number; readonly last: number } | undefined;
  /** Until it has rested long enough to be ended. */
  resting: ReturnType<typeof setTimeout> | undefined;
}

export interface PoolOptions {
  /** Batches after which a worker is replaced. */
  readonly maxRuns: number | undefined;
  /** Bytes that an engine may hold before its worker is replaced. */
  readonly maxMemory: number | undefined;
  /** Opens another worker on the backend of those that are there. */
  readonly open: (only: Backend) => Promise<OpenedWorker>;
  readonly tell: (what: string) => void;
  readonly on: {
    /** A worker may take another batch. */
    room(): void;
    /** A batch came back, after so many milliseconds: whether it was answered or failed. */
    ran(batch: Batch, answer: HandleAnswer, roundTrip: number): void;
    answered(): void;
    lost(loss: Loss): void;
  };
}

/** A worker that was lost, with what was in it. */
export interface Loss {
  readonly backend: Backend;
  readonly jobs: readonly Job[];
  readonly error: TabServeError;
  /** Another one had taken its place already. */
  readonly retired: boolean;
}

/** The workers of one model, all on one backend: as many as `minWorkers`, and under load up to `maxWorkers`, where that is WASM. A GPU has one. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #seats = new Set<Seat>();
  /** Workers that others have replaced, with their last batches. */
  readonly #retired = new Set<Seat>();
  #limits: Pick<Serving, 'minWorkers' | 'maxWorkers'> = { minWorkers: 1, maxWorkers: 1 };
  #closed: TabServeError | undefined;
  #opening = false;
  /** When another worker may be tried. */
  #notBefore = 0;
  #paused: ReturnType<typeof setTimeout> | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#seats.size;
  }

  has(seat: Seat): boolean {
    return this.#seats.has(seat);
  }

  /** A worker, with the fewest batches. */
  get any(): Seat | undefined {
    return leastBusy(this.#seats);
  }

  /**
   * One that may take a batch, with the fewest. WASM runs on the thread that preprocesses, so that a worker with a batch gains nothing by another one but
   * the way to the page and back: that one should be `full`, or requests that come meanwhile would miss it.
   */
  free({ full }: { readonly full: boolean }): Seat | undefined {
    return leastBusy(
      [...this.#seats].filter(
        ({ held, batches, backend }) => !held && batches.size < (full || isGpu(backend) ? DEPTH : 1),
      ),
    );
  }

  set limits(limits: Pick<Serving, 'minWorkers' | 'maxWorkers'>) {
    this.#limits = limits;
  }

  /** Puts a worker to work; one that must be may be more than the budget has. */
  sit({ connection, backend }: OpenedWorker, leave = reserve(backend.threads, { must: true })!): Seat {
    const seat: Seat = {
      connection,
      backend,
      batches: new Set(),
      leave,
      held: false,
      onIdle: undefined,
      runs: 0,
      memory: undefined,
      resting: undefined,
    };
    this.#seats.add(seat);
    const lost = (): void => this.#lost(seat, connection.error!);
    if (this.#closed) connection.close(this.#closed);
    if (connection.error) queueMicrotask(lost);
    else connection.ended.addEventListener('abort', lost, { once: true });
    this.#replenish();
    return seat;
  }

  /** Sends jobs together; each will settle, or be among those of a loss. */
  async send(seat: Seat, jobs: readonly Job[]): Promise<void> {
    const waiting = jobs.filter(({ settled }) => !settled);
    if (waiting.length === 0) return;
    const { connection } = seat;
    const batch = new Batch(waiting, ({ id }) => connection.tell((worker) => worker.cancel(id)));
    clearTimeout(seat.resting);
    seat.batches.add(batch);
    const sent = performance.now();
    try {
      const answer = await connection.call((worker) => worker.handle(batch.message()), batch.id);
      this.#options.on.ran(batch, answer, performance.now() - sent);
      const failure = failureIn(answer);
      if (!failure || !LOSSES.has(failure.code)) this.#options.on.answered();
      if (failure) throw failure;
      seat.batches.delete(batch);
      seat.memory = { first: seat.memory?.first ?? answer.memory, last: answer.memory };
      batch.resolve(answer);
    } catch (cause) {
      const error = asTabServeError(cause);
      if (LOSSES.has(error.code)) connection.close(error);
      else if (error.code === 'not-cloneable' && waiting.length > 1 && seat.batches.delete(batch)) {
        // All at once: each must be among those of a loss.
        await Promise.all(batch.takeApart().map((job) => this.send(seat, [job])));
      } else if (seat.batches.delete(batch)) batch.reject(error);
    }
    this.#afterRun(seat);
  }

  /** From now on it takes no batches from the queue. Fulfilled when it has done those that it has, or was lost. */
  hold(seat: Seat): Promise<void> {
    seat.held = true;
    if (seat.batches.size === 0 || !this.has(seat)) return Promise.resolve();
    return new Promise((resolve) => (seat.onIdle = resolve));
  }

  release(seat: Seat): void {
    seat.held = false;
    this.#options.on.room();
  }

  /** Puts another worker to work beside the others, where there may be one more. */
  grow(): void {
    const backend = this.any?.backend;
    if (
      !backend ||
      this.#opening ||
      this.#closed ||
      isGpu(backend) ||
      this.size >= this.#limits.maxWorkers ||
      performance.now() < this.#notBefore
    )
      return;
    const leave = reserve(backend.threads, { must: false });
    if (leave) void this.#grow(backend, leave);
    else if (this.size < this.#limits.minWorkers)
      this.#pause(`There are ${this.size} workers of at least ${this.#limits.minWorkers}: the page's cores are taken.`);
  }

  /** Opens no more for a while, then as many as there must be. */
  #pause(why: string): void {
    if (this.#closed) return;
    this.#options.tell(why);
    this.#notBefore = performance.now() + PAUSE_MS;
    clearTimeout(this.#paused);
    this.#paused = setTimeout(() => this.#replenish(), PAUSE_MS);
  }

  async #grow(backend: Backend, leave: () => void): Promise<void> {
    const joined = await this.#open(backend, (open) => {
      const seat = this.sit(open, leave);
      this.#rest(seat);
      this.#options.tell(
        `Worker ${this.size} of at most ${this.#limits.maxWorkers} has begun on ${backend.engine}/${backend.name}.`,
      );
    });
    if (!joined) leave();
    else this.#options.on.room();
  }

  /** Opens one more, and has it put to work if it is wanted still. */
  async #open(backend: Backend, use: (open: OpenedWorker) => void): Promise<boolean> {
    this.#opening = true;
    try {
      const open = await this.#options.open(backend);
      const wanted =
        !this.#closed && this.any?.backend.engine === backend.engine && this.any.backend.name === backend.name;
      this.#opening = false;
      if (wanted) use(open);
      else open.connection.close(this.#closed ?? new TabServeError('disposed', 'The worker is not wanted any more.'));
      return wanted;
    } catch (cause) {
      this.#pause(`Another worker could not be opened: ${asTabServeError(cause).message}`);
      return false;
    } finally {
      this.#opening = false;
    }
  }

  /** Ends all workers; what is in them is told as lost. */
  close(error: TabServeError): void {
    this.#closed = error;
    clearTimeout(this.#paused);
    for (const { connection } of [...this.#seats, ...this.#retired]) connection.close(error);
  }

  #afterRun(seat: Seat): void {
    seat.runs += 1;
    if (seat.batches.size === 0) seat.onIdle?.();
    if (this.#retired.has(seat)) this.#dismissRetired(seat);
    else if (this.has(seat)) {
      if (this.#isWorn(seat)) void this.#recycle(seat);
      this.#rest(seat);
      this.#replenish();
      this.#options.on.room();
    }
  }

  #replenish(): void {
    if (this.size < this.#limits.minWorkers) this.grow();
  }

  /** One that was replaced ends with its last batch. */
  #dismissRetired(seat: Seat): void {
    if (seat.batches.size === 0) this.#dismiss(seat, 'The worker was replaced.');
  }

  #dismiss(seat: Seat, why: string): void {
    this.#forget(seat);
    seat.connection.close(new TabServeError('disposed', why));
  }

  #forget(seat: Seat): { readonly known: boolean; readonly retired: boolean } {
    clearTimeout(seat.resting);
    seat.leave();
    const retired = this.#retired.delete(seat);
    return { known: this.#seats.delete(seat) || retired, retired };
  }

  #rest(seat: Seat): void {
    if (seat.batches.size > 0 || this.size <= this.#limits.minWorkers) return;
    clearTimeout(seat.resting);
    seat.resting = setTimeout(() => {
      if (seat.batches.size > 0 || seat.held || this.size <= this.#limits.minWorkers || !this.has(seat)) return;
      this.#dismiss(seat, 'The worker had nothing to do.');
      this.#options.tell(`A worker that had nothing to do was ended; ${this.size} left.`);
    }, REST_MS);
  }

  /** A worker that is past the mark with its first batch needs that much: another one would too. */
  #isWorn({ runs, memory }: Seat): boolean {
    const { maxRuns = Infinity, maxMemory = Infinity } = this.#options;
    return runs >= maxRuns || (memory !== undefined && memory.last > maxMemory && memory.first <= maxMemory);
  }

  /** Replaces a worker that has run for long, behind the requests' back: the old one ends with its last batch. */
  async #recycle(seat: Seat): Promise<void> {
    if (this.#opening || seat.held) return;
    const replaced = await this.#open(seat.backend, (open) => {
      if (!this.#seats.delete(seat))
        return open.connection.close(new TabServeError('disposed', 'The worker to be replaced was lost.'));
      this.#retired.add(seat);
      this.sit(open);
      this.#dismissRetired(seat);
    });
    if (replaced) return this.#options.on.room();
    // The old one goes on, and the next try is as far away as this one was.
    seat.runs = 0;
    seat.memory = undefined;
  }

  #lost(seat: Seat, error: TabServeError): void {
    const { known, retired } = this.#forget(seat);
    if (!known) return;
    const jobs = [...seat.batches].flatMap(({ pending }) => pending);
    seat.batches.clear();
    seat.onIdle?.();
    if (seat.runs === 0 && this.size > 0)
      this.#pause('No other worker is opened for a while: this one has run nothing.');
    this.#options.on.lost({ backend: seat.backend, jobs, error, retired });
    this.#replenish();
  }
}

function isGpu({ name }: Backend): boolean {
  return name === 'webgpu' || name === 'webgl';
}

function leastBusy(seats: Iterable<Seat>): Seat | undefined {
  let least: Seat | undefined;
  for (const seat of seats) if (!least || seat.batches.size < least.batches.size) least = seat;
  return least;
}

/** That of the whole batch, or a loss that came as the failure of a row. */
function failureIn({ rows, failure }: HandleAnswer): TabServeError | undefined {
  if (failure !== undefined) return asTabServeError(errorFromData(failure as ErrorData));
  for (const row of rows) {
    if (!row.ok && LOSSES.has((row.error as ErrorData).code as ErrorCode))
      return asTabServeError(errorFromData(row.error as ErrorData));
  }
  return undefined;
}
