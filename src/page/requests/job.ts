import type { TabServeError } from '../../contract/errors.js';
import type { Params } from '../../contract/handler.js';
import type { HttpExchange } from '../../contract/http.js';
import type { Envelope, HandleAnswer, HandleRequest, SequenceData } from '../../contract/wire.js';
import { abortError, timeoutError } from '../../shared/abort.js';
import type { Chunk, Chunks } from './chunks.js';
import type { Message, Prepared } from './inputs.js';
import { RetainedValue, type KnownValues, NONE_KNOWN } from './retained-value.js';

export type JobOptions = Pick<
  Job,
  'order' | 'request' | 'params' | 'priority' | 'exclusive' | 'signal' | 'arrivedAt' | 'timeout'
> &
  Partial<Pick<Job, 'chunks' | 'sequence' | 'http'>>;

/** A sequence as the page retains it. Each run of one of its jobs gets the same state, also a replay. */
export interface SequenceState {
  readonly id: string;
  /** What the handler set at the sequence's last answered request; undefined at its start. */
  state: RetainedValue | undefined;
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
  /**
   * The chunks of its answer, if it is streamed. Then it has one row, and runs alone: a slow reader would delay the
   * other rows of its batch.
   */
  readonly chunks: Chunks | undefined;
  readonly sequence: SequenceState | undefined;
  /** What will be the sequence's state. */
  readonly #nextState: RetainedValue | undefined;
  /** The request over HTTP that has brought it, if one has. */
  readonly http: HttpExchange | undefined;

  readonly answer: Promise<JobAnswer>;
  /** The workers that were lost while they ran this job. A job that has lost a worker is replayed alone. */
  readonly losses: Loss[] = [];
  /** Milliseconds that it waited in the queue. */
  queued = 0;
  /** Called once when the caller aborts or the timeout passes. The queue, or the batch, then drops the job. */
  onAbandon: (() => void) | undefined;
  readonly #rows: readonly Prepared[];
  readonly #onAbort = (): void => this.#abandon(abortError(this.signal!));
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settle!: { resolve: (answer: JobAnswer) => void; reject: (error: TabServeError) => void };
  #settled = false;
  /** Whether its retained values are sent to any worker in full. */
  #sendsInFull = false;

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
      chunks: this.chunks,
      sequence: this.sequence,
      http: this.http,
    } = options);
    this.#rows = rows;
    this.#nextState = this.sequence && new RetainedValue(undefined);
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    const { signal, arrivedAt, timeout } = options;
    if (timeout !== undefined) {
      const left = timeout - (performance.now() - arrivedAt);
      this.#timer = setTimeout(() => this.#abandon(timeoutError(timeout)), left);
    }
    // This comes last, because it ends the timer.
    if (signal?.aborted) this.reject(abortError(signal));
    else signal?.addEventListener('abort', this.#onAbort);
  }

  get id(): string {
    return String(this.order);
  }

  /** Whether other jobs may run in one batch with it. */
  get batchable(): boolean {
    return !this.exclusive && !this.chunks && this.request === 'predict';
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

  /** Whether its worker waits until the caller reads a chunk of the answer. */
  get isPaused(): boolean {
    return !this.#settled && this.chunks?.isFull === true;
  }

  /** Whether the page can still send all of its input, and the answer may begin again, or continue. */
  get replayable(): boolean {
    return this.chunks?.replayable !== false && this.#rows.every((row) => row.replayable);
  }

  /** What the page retains of it: the kept inputs in its rows, and its sequence's state, this one and the next. */
  get retained(): readonly RetainedValue[] {
    const inputs = this.#rows.flatMap((row) => row.retained ?? []);
    const states = [this.sequence?.state, this.#nextState].filter((state) => state !== undefined);
    return states.length > 0 ? [...inputs, ...states] : inputs;
  }

  /**
   * Returns a message for each row, a new one at each call. To be called only while `replayable`.
   * @param known the values of which the worker needs only the key
   */
  messages(known: KnownValues): readonly Message[] {
    const messages = this.#messages(this.#sendsInFull ? NONE_KNOWN : known);
    if (this.#sendsInFull || this.retained.length === 0 || this.replayable) return messages;
    // An input that moves to the worker can be sent only once, so everything that the worker may need goes with it.
    this.rollback();
    this.#sendsInFull = true;
    return this.#messages(NONE_KNOWN);
  }

  #messages(known: KnownValues): readonly Message[] {
    return this.#rows.map((row) => row.message(known)!);
  }

  /**
   * Returns what a worker needs of its sequence. To be called after `messages`.
   * @param transferables where what moves to the worker is added
   */
  sequenceData(known: KnownValues, transferables: Set<Transferable>): SequenceData | undefined {
    const { sequence } = this;
    if (!sequence) return undefined;
    const state = sequence.state?.message(this.#sendsInFull ? NONE_KNOWN : known);
    for (const one of state?.transferables ?? []) transferables.add(one);
    return { id: sequence.id, ...(state && { state: state.value }), nextKey: this.#nextState!.key };
  }

  /**
   * Sends the retained values in full from now on, because a worker no longer had them.
   * @returns whether the job should be sent again: not if nobody waits for it, or if that was done or is impossible
   */
  sendInFull(): boolean {
    if (this.#settled || this.#sendsInFull || !this.replayable) return false;
    return (this.#sendsInFull = true);
  }

  /** Copies what the caller may change once its call has returned. */
  snapshot(): void {
    if (!this.#settled) for (const row of this.#rows) row.snapshot();
  }

  /** Records that it has lost its worker and will be replayed: its answer begins again, or continues. */
  lose(loss: Loss): void {
    this.losses.push(loss);
    this.chunks?.lose();
  }

  /** Adds a chunk of its answer. Losses before it no longer count: the answer has made progress. */
  receive(chunk: Chunk): void {
    if (this.#settled) return;
    if (chunk.resume !== undefined) this.losses.length = 0;
    if (chunk.http) this.http?.onAnswer(chunk.http);
    this.chunks?.push(chunk);
  }

  /** Returns the rows for another job that runs instead of this one: they are not released when that job settles. */
  borrowRows(): readonly Prepared[] {
    return this.#rows.map((row) => ({
      get replayable() {
        return row.replayable;
      },
      retained: row.retained ?? [],
      message: (known) => row.message(known),
      snapshot() {},
      rollback: () => row.rollback(),
      release() {},
    }));
  }

  /** Undoes `messages`, which could not be sent: all of the input is still on the page. */
  rollback(): void {
    for (const row of this.#rows) row.rollback();
  }

  resolve(answer: JobAnswer): void {
    if (this.#settled) return;
    const { sequence } = this;
    if (sequence && answer.state !== undefined) {
      this.#nextState!.value = answer.state;
      sequence.state?.release();
      sequence.state = this.#nextState;
    }
    this.#end();
    this.#settle.resolve(answer);
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
    if (this.sequence?.state !== this.#nextState) this.#nextState?.release();
    return true;
  }
}
