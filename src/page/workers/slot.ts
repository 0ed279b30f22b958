import type { Backend } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import type { LargerRun } from '../../contract/wire.js';
import type { Batch } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import type { RetainedValue } from '../requests/retained-value.js';
import type { WorkerStatus } from '../requests/sender.js';
import type { Connection } from './connection.js';

/** What the pool needs of a connection to a worker. */
export type WorkerConnection = Pick<Connection, 'call' | 'tell' | 'setPaused' | 'close' | 'ended' | 'error'>;

/** A worker that has opened the model on a backend that was proven correct. */
export interface OpenedWorker {
  readonly connection: WorkerConnection;
  readonly backend: Backend;
  /** How many batches its handler works on at once, if it has set it. */
  readonly batchesAtOnce?: number | undefined;
  /**
   * Compares runs on much larger inputs than those that the backend was proven on with WASM.
   * @throws the error with which it has closed the connection: `backend-wrong`, or why the worker ended meanwhile
   */
  readonly compareLarger?: ((runs: readonly LargerRun[]) => Promise<void>) | undefined;
}

/**
 * With two batches, a GPU runs one while the next is preprocessed, and a WASM worker need not wait for the page between
 * two full batches.
 */
export const MAX_BATCHES = 2;

/** Under Node, images are decoded and models run on native threads: while one batch is decoded, others run. */
const BATCHES_ON_CPU = 4;

/**
 * One worker of the pool, from its opening to its end.
 *
 * - `opening`: a worker is being opened; it counts as a worker.
 * - `ready`: it takes batches.
 * - `draining`: it finishes its batches, takes no more, and is then ended.
 * - `lost`: its worker has ended, or could not be opened. The pool forgets it.
 */
export class Slot {
  #state: 'opening' | 'ready' | 'draining' | 'lost' = 'opening';
  /** Counts the pool's slots from 1; the pool sets it. */
  number = 0;
  /** Called when the state has changed. */
  onState: (() => void) | undefined;
  /** Undefined while it is opening. */
  worker: OpenedWorker | undefined;
  readonly #batches = new Set<Batch>();
  /** The values that the page retains and of which its worker has cached something, as the worker has said. */
  readonly cached = new WeakSet<RetainedValue>();
  /**
   * Its replays, explanations and streams, which `load` and `takes` count differently. They are in a list of their own
   * because there are seldom any, and the pool counts several times for each request.
   */
  readonly #others = new Set<Batch>();
  /** Batches that it has run. */
  runs = 0;
  /** The comparisons that all of its answers wait for; undefined if there were none. */
  comparing: Promise<unknown> | undefined;
  /** When it became ready, and when it last became idle, by the pool's clock. */
  readySince = 0;
  idleSince = 0;
  /** Bytes of its engine's memory after the first batch, and after the last. */
  readonly #memory: { first?: number; last?: number } = {};
  /** Releases the cores that are reserved for it; undefined while none are. */
  releaseCores: (() => void) | undefined;

  /** The worn slot that its worker is to replace; undefined once it has. */
  replaces: Slot | undefined;

  constructor({ releaseCores, replaces }: Partial<Pick<Slot, 'releaseCores' | 'replaces'>> = {}) {
    this.releaseCores = releaseCores;
    this.replaces = replaces;
  }

  get state(): 'opening' | 'ready' | 'draining' | 'lost' {
    return this.#state;
  }

  set state(state) {
    this.#state = state;
    this.onState?.();
  }

  get backend(): Backend | undefined {
    return this.worker?.backend;
  }

  /** Adds a batch that its worker is going to run. */
  add(batch: Batch): void {
    this.#batches.add(batch);
    if (batch.isReplay || batch.isExplanation || batch.chunks) this.#others.add(batch);
  }

  /** Removes a batch that has come back. Returns whether it was there. */
  delete(batch: Batch): boolean {
    this.#others.delete(batch);
    return this.#batches.delete(batch);
  }

  get isIdle(): boolean {
    return this.#batches.size === 0;
  }

  /** The number of batches that keep it busy: those that are not paused by the reader of a stream. */
  get load(): number {
    return this.#batches.size - this.#count(({ isPaused }) => isPaused);
  }

  /** Counts replays, explanations and streams. */
  #count(counts: (batch: Batch) => boolean): number {
    let count = 0;
    for (const batch of this.#others) if (counts(batch)) count += 1;
    return count;
  }

  /** The jobs in it that a caller still waits for. */
  get pending(): readonly Job[] {
    return [...this.#batches].flatMap(({ pending }) => pending);
  }

  /** Whether it runs one job and no other, not even an aborted one. */
  get hasLoneJob(): boolean {
    return [...this.#batches].reduce((sum, { jobs }) => sum + jobs, 0) === 1;
  }

  /**
   * Whether it runs a replay. A replay runs alone, except for paused streams. The replay of an explanation starts
   * alone, and lets other requests in.
   */
  get isReplaying(): boolean {
    return this.#count(({ isReplay, isExplanation, isPaused }) => isReplay && !isExplanation && !isPaused) > 0;
  }

  /** Whether it runs an explanation; it runs at most one. */
  get isExplaining(): boolean {
    return this.#count(({ isExplanation }) => isExplanation) > 0;
  }

  becomeReady(worker: OpenedWorker, now: number): void {
    this.worker = worker;
    this.state = 'ready';
    this.readySince = this.idleSince = now;
  }

  /**
   * Returns whether it may take a batch from the queue. WASM preprocesses and runs on one thread, so a second batch
   * saves only the round trip to the page. It should therefore be full, because requests that arrive later could not
   * join it. A handler that works on more batches at once gets them as they come. An explanation takes no request's
   * position: the worker pauses it for them.
   * @param isFull whether no other request could join the batch
   */
  takes(isFull: boolean): boolean {
    if (this.state !== 'ready') return false;
    if (this.isIdle) return true;
    if (this.isReplaying) return false;
    const requests = this.#batches.size - this.#count(({ isExplanation, isPaused }) => isExplanation || isPaused);
    if (requests === 0) return true;
    const { batchesAtOnce = 0, backend } = this.worker!;
    const most = batchesAtOnce || (backend.name === 'cpu' ? BATCHES_ON_CPU : MAX_BATCHES);
    return requests < most && (isFull || batchesAtOnce > MAX_BATCHES || computesElsewhere(backend));
  }

  /** Records a batch that it has run. @param memory bytes of its engine's memory; undefined if the batch failed */
  ran(memory: number | undefined, now: number): void {
    this.runs += 1;
    if (this.isIdle) this.idleSince = now;
    if (memory === undefined) return;
    this.#memory.first ??= memory;
    this.#memory.last = memory;
  }

  /**
   * Returns whether it must be replaced because of `maxRuns` or `maxMemory`. A worker that needed more than `maxMemory`
   * from the start stays, because its replacement would need as much.
   */
  isWorn({ maxRuns = Infinity, maxMemory = Infinity }: WearLimits): boolean {
    const { first = 0, last = 0 } = this.#memory;
    const grown = last > maxMemory && first <= maxMemory;
    return this.runs >= maxRuns || grown;
  }

  /** What its worker is doing. A pool has no slot that is lost. */
  get status(): WorkerStatus {
    const { number, state, backend, worker, runs } = this;
    return {
      number,
      state: state as WorkerStatus['state'],
      backend,
      batches: this.#batches.size,
      runs,
      memory: this.#memory.last,
      end: worker && (() => worker.connection.close(new TabServeError('worker-lost', 'The app has ended the worker.'))),
    };
  }

  /** Ends the worker, if there is one, and releases its cores. */
  end(error: TabServeError): void {
    this.state = 'lost';
    this.releaseCores?.();
    this.worker?.connection.close(error);
  }
}

export interface WearLimits {
  /** Batches. */
  readonly maxRuns?: number | undefined;
  /** Bytes of the engine's memory. */
  readonly maxMemory?: number | undefined;
}

/**
 * Returns whether a backend computes beside its worker: on a GPU, in WebNN or on a server. It has one worker, because a
 * GPU's kernels run one after the other, and a client asks a server for one thing at a time.
 */
export function computesElsewhere({ name }: Pick<Backend, 'name'>): boolean {
  return name === 'webgpu' || name === 'webgl' || name === 'webnn' || name === 'remote';
}
