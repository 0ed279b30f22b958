import type { Backend } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { Batch } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import type { Connection } from './connection.js';

/** What the pool needs of a connection to a worker. */
export type WorkerConnection = Pick<Connection, 'call' | 'tell' | 'close' | 'ended' | 'error'>;

/** A worker that has opened the model, proven right. */
export interface OpenedWorker {
  readonly connection: WorkerConnection;
  readonly backend: Backend;
}

/** Two batches: a GPU runs one while the next is preprocessed, and a full WASM worker need not wait for the page. */
const MAX_BATCHES = 2;

/**
 * The place of one worker in the pool.
 *
 * - `opening`: a worker is being opened; it counts as one that is there.
 * - `ready`: it takes batches.
 * - `draining`: it finishes its batches, takes no more, and is then ended.
 * - `lost`: its worker has ended, or could not be opened. The pool forgets it.
 */
export class Slot {
  state: 'opening' | 'ready' | 'draining' | 'lost' = 'opening';
  /** Undefined while it is opening. */
  worker: OpenedWorker | undefined;
  readonly batches = new Set<Batch>();
  /** Batches that it has run. */
  runs = 0;
  /** When it became ready, and when it last became idle, by the pool's clock. */
  readySince = 0;
  idleSince = 0;
  /** Bytes that its engine held after the first batch, and after the last. */
  #memory: { readonly first: number; readonly last: number } | undefined;
  /** Releases the cores that are reserved for it; undefined while none are. */
  releaseCores: (() => void) | undefined;

  /** The worn slot that its worker is to replace; undefined once it has. */
  replaces: Slot | undefined;

  constructor({ releaseCores, replaces }: Partial<Pick<Slot, 'releaseCores' | 'replaces'>> = {}) {
    this.releaseCores = releaseCores;
    this.replaces = replaces;
  }

  get backend(): Backend | undefined {
    return this.worker?.backend;
  }

  get isIdle(): boolean {
    return this.batches.size === 0;
  }

  /** The jobs in it that somebody still waits for. */
  get pending(): readonly Job[] {
    return [...this.batches].flatMap(({ pending }) => pending);
  }

  /** Whether a replay, which runs alone, is in it. */
  get isReplaying(): boolean {
    return [...this.batches].some(({ isReplay }) => isReplay);
  }

  becomeReady(worker: OpenedWorker, now: number): void {
    this.worker = worker;
    this.state = 'ready';
    this.readySince = this.idleSince = now;
  }

  /**
   * Whether it may take a batch from the queue. WASM runs on the thread that preprocesses: with one batch in it, a second one gains only the
   * way to the page and back, so that one should be full; requests that arrive meanwhile would miss it.
   */
  takes({ full }: { readonly full: boolean }): boolean {
    if (this.state !== 'ready' || this.isReplaying) return false;
    return this.batches.size < (full || isGpu(this.backend!) ? MAX_BATCHES : 1);
  }

  /** Records a batch that it has run. @param memory bytes that its engine holds; undefined where the batch failed */
  ran(memory: number | undefined, now: number): void {
    this.runs += 1;
    if (this.isIdle) this.idleSince = now;
    if (memory !== undefined) this.#memory = { first: this.#memory?.first ?? memory, last: memory };
  }

  /** Whether it has run long enough to be replaced. A worker that needs more than `maxMemory` from the start is not: another one would too. */
  isWorn({ maxRuns = Infinity, maxMemory = Infinity }: WearLimits): boolean {
    const grown = this.#memory !== undefined && this.#memory.last > maxMemory && this.#memory.first <= maxMemory;
    return this.state === 'ready' && (this.runs >= maxRuns || grown);
  }

  /** Ends the worker, or what opens it. */
  end(error: TabServeError): void {
    this.state = 'lost';
    this.releaseCores?.();
    this.worker?.connection.close(error);
  }
}

export interface WearLimits {
  /** Batches. */
  readonly maxRuns?: number | undefined;
  /** Bytes that the engine holds. */
  readonly maxMemory?: number | undefined;
}

/** A GPU has one worker, whatever is asked for: its kernels run one after the other. */
export function isGpu({ name }: Pick<Backend, 'name'>): boolean {
  return name === 'webgpu' || name === 'webgl';
}
