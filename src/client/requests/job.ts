import type { Params } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import type { Envelope, HandleAnswer, HandleRequest } from '../../contract/wire.js';
import { abortion } from '../abort.js';
import type { Message, Prepared } from './inputs.js';

export interface JobOptions {
  /** Of the client's calls, from 1. */
  readonly order: number;
  readonly request: HandleRequest['request'];
  readonly params: Params;
  readonly priority: number;
  /** It is a batch as given: no other request joins it. */
  readonly whole: boolean;
  readonly signal: AbortSignal | undefined;
  /** When it came, by `performance.now()`. */
  readonly since: number;
  /** Milliseconds from then. */
  readonly timeout: number | undefined;
}

/** What a job is answered with: its own rows of what its batch has brought. */
export interface JobAnswer extends Pick<HandleAnswer, 'timings'> {
  readonly rows: readonly Envelope<unknown>[];
  /** Rows of that batch. */
  readonly batchSize: number;
}

/** One call of a caller's, of one row or more: settles once, whatever happens to the workers that it is sent to. */
export class Job {
  readonly answer: Promise<JobAnswer>;
  /** The loss of a worker that it was in: since then it goes alone. */
  loss: TabServeError | undefined;
  /** Milliseconds from its coming until it left the queue. */
  queued = 0;
  /** Called once when nobody waits for it any more: by whoever holds it, to let it go. */
  onAbandon: (() => void) | undefined;
  readonly #options: JobOptions;
  readonly #rows: readonly Prepared[];
  #listening: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settle!: { resolve: (answer: JobAnswer) => void; reject: (error: TabServeError) => void };
  #settled = false;

  constructor(rows: readonly Prepared[], options: JobOptions) {
    const { signal, since, timeout } = options;
    this.#options = options;
    this.#rows = rows;
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    if (signal?.aborted) this.reject(abortion(signal));
    else if (signal) {
      this.#listening = new AbortController();
      signal.addEventListener('abort', () => this.#giveUp(abortion(signal)), { signal: this.#listening.signal });
    }
    if (timeout !== undefined)
      this.#timer = setTimeout(() => this.#giveUp(tooLate(timeout)), timeout - (performance.now() - since));
  }

  get id(): string {
    return String(this.order);
  }

  get order(): number {
    return this.#options.order;
  }

  get request(): HandleRequest['request'] {
    return this.#options.request;
  }

  /** When it came, by `performance.now()`. */
  get since(): number {
    return this.#options.since;
  }

  get params(): Params {
    return this.#options.params;
  }

  get priority(): number {
    return this.#options.priority;
  }

  /** Whether others may run in one batch with it. */
  get sociable(): boolean {
    return !this.#options.whole && this.request === 'predict';
  }

  /** Rows. */
  get size(): number {
    return this.#rows.length;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether the page still holds all of its input. */
  get replayable(): boolean {
    return this.#rows.every((row) => row.replayable);
  }

  /** What is sent, row by row; made afresh at each call, and only while `replayable`. */
  messages(): readonly Message[] {
    return this.#rows.map((row) => row.message()!);
  }

  /** Copies what the caller may change, before its call returns. */
  snapshot(): void {
    if (!this.#settled) for (const row of this.#rows) row.snapshot();
  }

  /** What `messages` gave could not be sent: it is all still here. */
  rollback(): void {
    for (const row of this.#rows) row.rollback();
  }

  resolve(answer: JobAnswer): void {
    if (this.#end()) this.#settle.resolve(answer);
  }

  reject(error: TabServeError): void {
    if (this.#end()) this.#settle.reject(error);
  }

  #giveUp(error: TabServeError): void {
    this.reject(error);
    this.onAbandon?.();
  }

  #end(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#timer);
    this.#listening?.abort();
    for (const row of this.#rows) row.release();
    return true;
  }
}

export function tooLate(timeout: number): TabServeError {
  return new TabServeError('timeout', `The request was not answered within its ${timeout} ms.`);
}
