import type { Backend } from '../../contract/backends.js';
import type { TabServeError } from '../../contract/errors.js';
import type { HandleAnswer } from '../../contract/wire.js';
import type { Batch } from '../requests/batch.js';
import type { Job } from '../requests/job.js';
import type { Connection } from './connection.js';

/** What the pool needs of a connection to a worker. */
export type WorkerConnection = Pick<Connection, 'call' | 'tell' | 'holdBack' | 'close' | 'ended' | 'error'>;

/** A worker that has opened the model on a backend that was proven correct. */
export interface OpenedWorker {
  readonly connection: WorkerConnection;
  readonly backend: Backend;
  /** Present if it is a session that tabs share. It queues and batches the requests of all of them itself, so it takes whatever there is, at once. */
  readonly shared?: {
    /** Sets the listener for another backend of the session. */
    onBackend(listener: (backend: Backend) => void): void;
  };
}

/** With two batches, a GPU runs one while the next is preprocessed, and a WASM worker need not wait for the page between two full batches. */
export const MAX_BATCHES = 2;

/** The milliseconds of work that a WASM worker has in full batches: a model that takes less than a message there and back need not wait for the page. */
const AHEAD_MS = 8;

/** The milliseconds that a batch takes at least, with its share of a message. */
const LEAST_MS = 0.25;

/** The most batches whose answers the page has not taken: it takes none while the app's own code runs. */
const MOST_UNANSWERED = 128;

/** The milliseconds of work, and the most batches, in one message: the first answer comes after the last one has run. */
const TOGETHER_MS = 4;
const MOST_TOGETHER = 8;

/**
 * The place of one worker in the pool.
 *
 * - `opening`: a worker is being opened; it counts as a worker.
 * - `ready`: it takes batches.
 * - `draining`: it finishes its batches, takes no more, and is then ended.
 * - `lost`: its worker has ended, or could not be opened. The pool forgets it.
 */
export class Slot {
  #state: 'opening' | 'ready' | 'draining' | 'lost' = 'opening';
  /** Called when the state has changed. */
  onState: (() => void) | undefined;
  /** Undefined while it is opening. */
  worker: OpenedWorker | undefined;
  readonly #batches = new Set<Batch>();
  /** Those that may count differently: replays, explanations and streams. There are seldom any, and the pool counts several times for each request. */
  readonly #others = new Set<Batch>();
  /** Batches that it has run. */
  runs = 0;
  /** When it became ready, and when it last became idle, by the pool's clock. */
  readySince = 0;
  idleSince = 0;
  /** Milliseconds that the last full batch took. Undefined before the first. */
  #last: number | undefined;
  /**
   * How long a full batch takes, in milliseconds: as long as the quicker of the last two, because the other may have been interrupted; but it falls
   * by at most a tenth with each batch, because a quick one may be an exception.
   */
  #took = Infinity;
  /** When its worker will probably have run its batches, by the pool's clock. */
  #doneAt = 0;
  /**
   * Whether it is being filled up to `AHEAD_MS` of work. Once full, it takes no more until a whole message fits; otherwise each answer would be followed by
   * a message of one batch or two.
   */
  #fills = true;
  /** Bytes that its engine held after the first batch, and after the last. */
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

  /** Whether its worker is a session that tabs share. */
  get isShared(): boolean {
    return this.worker?.shared !== undefined;
  }

  /** Adds a batch that its worker is going to run. */
  add(batch: Batch, now: number): void {
    this.#batches.add(batch);
    this.#doneAt = Math.max(this.#doneAt, now) + this.#took;
    if (batch.isReplay || batch.isExplanation || batch.parts) this.#others.add(batch);
  }

  /** Removes a batch that has come back. Returns whether it was there. */
  delete(batch: Batch): boolean {
    this.#others.delete(batch);
    return this.#batches.delete(batch);
  }

  get isIdle(): boolean {
    return this.#batches.size === 0;
  }

  /** The number of batches that give it something to do: those that are not held back by the reader of a stream. */
  get load(): number {
    return this.#batches.size - this.#count(({ isHeldBack }) => isHeldBack);
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

  /** Whether it runs a replay. A replay runs alone, but for streams that are held back. That of an explanation is begun alone, and lets other requests in. */
  get isReplaying(): boolean {
    return this.#count(({ isReplay, isExplanation, isHeldBack }) => isReplay && !isExplanation && !isHeldBack) > 0;
  }

  /** Whether it runs an explanation. It runs one at a time. */
  get isExplaining(): boolean {
    return !this.isShared && this.#count(({ isExplanation }) => isExplanation) > 0;
  }

  becomeReady(worker: OpenedWorker, now: number): void {
    this.worker = worker;
    this.state = 'ready';
    this.readySince = this.idleSince = now;
  }

  /**
   * Whether it may take a batch from the queue. WASM preprocesses and runs on one thread, so a second batch saves only the round trip to the page. It
   * should therefore be full, because requests that arrive later could not join it; of quick ones, it has more. An explanation takes no request's place:
   * the worker pauses it for them.
   * @param full undefined if the batch is not full
   * @param maxRuns after as many batches, its worker is replaced: no more are sent ahead
   */
  takes(full: FullBatch | undefined, maxRuns = Infinity): boolean {
    if (this.state !== 'ready') return false;
    if (this.isShared || this.isIdle) return true;
    if (this.isReplaying) return false;
    const requests = this.#batches.size - this.#count(({ isExplanation, isHeldBack }) => isExplanation || isHeldBack);
    if (requests === 0) return true;
    if (requests >= maxRuns - this.runs) return false;
    if (computesElsewhere(this.backend!)) return requests < MAX_BATCHES;
    if (!full) return false;
    return requests < MAX_BATCHES || (!full.mayGrow && requests < MOST_UNANSWERED && this.#hasRoom(full));
  }

  /** Whether batches are quick, and another one would be run within `AHEAD_MS`. */
  #hasRoom({ isOnly, now }: FullBatch): boolean {
    const took = this.#took;
    const left = isOnly ? Math.max(0, this.#doneAt - now) : this.#batches.size * took;
    if (left + took * this.#most <= AHEAD_MS) this.#fills = true;
    if (left + took > AHEAD_MS) this.#fills = false;
    return this.#fills && took < AHEAD_MS / MAX_BATCHES;
  }

  /**
   * Returns of how many batches the message of one that is about to be sent may be: of several if they take so little that their messages cost more, and enough
   * others are with the worker that it does not run dry meanwhile.
   */
  together({ isReplay, isExplanation, parts }: Batch): number {
    if (isReplay || isExplanation || parts || this.isShared || computesElsewhere(this.backend!)) return 1;
    return this.load < MAX_BATCHES ? 1 : this.#most;
  }

  /** The most batches in one message. */
  get #most(): number {
    return Math.max(1, Math.min(MOST_TOGETHER, Math.floor(TOGETHER_MS / this.#took)));
  }

  /** Records a batch that it has run. @param answer undefined if the batch failed. @param fullness its rows over those of a full batch, at most 1 */
  ran(answer: Pick<HandleAnswer, 'handlerTime' | 'memory'> | undefined, fullness: number, now: number): void {
    this.runs += 1;
    if (this.isIdle) this.idleSince = now;
    if (!answer) return;
    const { handlerTime, memory } = answer;
    const took = handlerTime / fullness;
    const earlier = this.#last === undefined ? 0 : 0.9 * this.#took;
    this.#took = Math.max(Math.min(took, this.#last ?? took), earlier, LEAST_MS);
    this.#last = took;
    this.#doneAt = now + this.#batches.size * this.#took;
    this.#memory.first ??= memory;
    this.#memory.last = memory;
  }

  /** Whether it must be replaced because of `maxRuns` or `maxMemory`. A worker that needed more than `maxMemory` from the start is kept: its replacement would too. */
  isWorn({ maxRuns = Infinity, maxMemory = Infinity }: WearLimits): boolean {
    const { first = 0, last = 0 } = this.#memory;
    const grown = last > maxMemory && first <= maxMemory;
    return !this.isShared && (this.runs >= maxRuns || grown);
  }

  /** Ends the worker, if there is one, and releases its cores. */
  end(error: TabServeError): void {
    this.state = 'lost';
    this.releaseCores?.();
    this.worker?.connection.close(error);
  }
}

/** What says whether a slot takes a full batch. */
export interface FullBatch {
  /** Whether another worker could be opened for requests that wait: then a slot has two batches at most, because requests that seem quick may turn out slow. */
  readonly mayGrow: boolean;
  /** Whether no other worker could take it: then those count as run that have had the time for it. Behind a slow batch, they wait no longer than in the queue. */
  readonly isOnly: boolean;
  /** By the pool's clock. */
  readonly now: number;
}

export interface WearLimits {
  /** Batches. */
  readonly maxRuns?: number | undefined;
  /** Bytes that the engine holds. */
  readonly maxMemory?: number | undefined;
}

/**
 * Returns whether a backend computes beside its worker: on a GPU, in WebNN or on a server. It has one worker, because a GPU's kernels run one after the other, and
 * a client asks a server for one thing at a time.
 */
export function computesElsewhere({ name }: Pick<Backend, 'name'>): boolean {
  return name === 'webgpu' || name === 'webgl' || name === 'webnn' || name === 'remote';
}
