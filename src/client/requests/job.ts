import type { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { Envelope, HandleAnswer, HandleRequest } from '../../contract/wire.js';
import { abortError, timeoutError } from '../../shared/abort.js';
import type { Message, Prepared } from './inputs.js';
import type { Parts } from './parts.js';

export type JobOptions = Pick<
  Job,
  'order' | 'request' | 'params' | 'priority' | 'exclusive' | 'signal' | 'arrivedAt' | 'timeout'
> &
  Partial<Pick<Job, 'parts' | 'sequence'>>;

/** A sequence as the page holds it. Each run of one of its jobs gets the same state, a replay too. */
export interface SequenceState {
  readonly id: string;
  /** What the handler set at the sequence's last answered request; undefined at its start. */
  state: unknown;
}

/** The answer to a job: its own rows of the batch that it ran in. */
export interface JobAnswer extends Pick<HandleAnswer, 'timings' | 'nodes' | 'handlerTime' | 'memory'> {
  readonly rows: readonly Envelope<unknown>[];
  /** The new state of the job's sequence; undefined if that stays as it was. */
  readonly state: unknown;
  /** Rows of the whole batch. */
  readonly batchSize: number;
}

/** A worker that was lost while it ran a job. */
export interface Loss {
  readonly error: TabServeError;
  /** Whether it ran no other job. */
  readonly alone: boolean;
}

/** One call of the app, of one row or more. It settles once, whatever happens to the workers that it is sent to. */
export class Job {
  /** Position among the client's calls, from 1. */
  readonly order: number;
  readonly request: HandleRequest['request'];
  readonly params: Params;
  /** Jobs of a higher priority run first. */
  readonly priority: number;
  /** Whether the rows are one batch as given, which no other job joins. */
  readonly exclusive: boolean;
  readonly signal: AbortSignal | undefined;
  /** Arrival time, by `performance.now()`. */
  readonly arrivedAt: number;
  /** Milliseconds from the arrival after which the job is rejected. */
  readonly timeout: number | undefined;
  /** The parts of its answer, if it is streamed. Then it has one row, and runs alone: a slow reader would hold back the other rows of its batch. */
  readonly parts: Parts | undefined;
  readonly sequence: SequenceState | undefined;

  readonly answer: Promise<JobAnswer>;
  /** The workers that were lost while they ran this job. A job that has lost a worker is replayed alone. */
  readonly losses: Loss[] = [];
  /** Milliseconds that it waited in the queue. */
  queued = 0;
  /** Called once when the caller aborts or the timeout passes; whoever holds the job then lets it go. */
  onAbandon: (() => void) | undefined;
  readonly #rows: readonly Prepared[];
  readonly #onAbort = (): void => this.#abandon(abortError(this.signal!));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settle!: { resolve: (answer: JobAnswer) => void; reject: (error: TabServeError) => void };
  #settled = false;

  constructor(rows: readonly Prepared[], options: JobOptions) {
    ({
      order: this.order,
      request: this.request,
      params: this.params,
      priority: this.priority,
      exclusive: this.exclusive,
      signal: this.signal,
      arrivedAt: this.arrivedAt,
      timeout: this.timeout,
      parts: this.parts,
      sequence: this.sequence,
    } = options);
    this.#rows = rows;
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    const { signal, arrivedAt, timeout } = options;
    if (timeout !== undefined) {
      const left = timeout - (performance.now() - arrivedAt);
      this.#timer = setTimeout(() => this.#abandon(timeoutError(timeout)), left);
    }
    // Last, since it ends the timer.
    if (signal?.aborted) this.reject(abortError(signal));
    else signal?.addEventListener('abort', this.#onAbort);
  }

  get id(): string {
    return String(this.order);
  }

  /** Whether other jobs may run in one batch with it. */
  get batchable(): boolean {
    return !this.exclusive && !this.parts && this.request === 'predict';
  }

  /** Whether it explains an answer. That takes long, and its worker answers other requests in between. */
  get isExplanation(): boolean {
    return this.request === 'explain';
  }

  /** Number of rows. */
  get size(): number {
    return this.#rows.length;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether its worker waits until the caller reads a part of the answer. */
  get isHeldBack(): boolean {
    return !this.#settled && this.parts?.isFull === true;
  }

  /** Whether the page can still send all of its input, and the caller has read no part of an answer. */
  get replayable(): boolean {
    return !this.parts?.wasRead && this.#rows.every((row) => row.replayable);
  }

  /** Returns a message for each row, made afresh at each call. To be called only while `replayable`. */
  messages(): readonly Message[] {
    return this.#rows.map((row) => row.message()!);
  }

  /** Copies what the caller may change once its call has returned. */
  snapshot(): void {
    if (!this.#settled) for (const row of this.#rows) row.snapshot();
  }

  /** Records that it has lost its worker and will be replayed: its answer starts again. */
  lose(loss: Loss): void {
    this.losses.push(loss);
    this.parts?.clear();
  }

  /** Undoes `messages`, which could not be sent: all of the input is still on the page. */
  rollback(): void {
    for (const row of this.#rows) row.rollback();
  }

  resolve(answer: JobAnswer): void {
    if (this.#end()) this.#settle.resolve(answer);
  }

  reject(error: TabServeError): void {
    if (this.#end()) this.#settle.reject(error);
  }

  #abandon(error: TabServeError): void {
    this.reject(error);
    this.onAbandon?.();
  }

  #end(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    if (this.#timer !== undefined) clearTimeout(this.#timer);
    this.signal?.removeEventListener('abort', this.#onAbort);
    for (const row of this.#rows) row.release();
    return true;
  }
}
