import { transfer } from 'comlink';
import { TabServeError } from '../errors.js';
import type { HandleAnswer, HandleRequest } from '../wire.js';
import { abortion } from './abort.js';
import type { Prepared } from './inputs.js';

export interface JobLimits {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds from now. */
  readonly timeout?: number | undefined;
}

/** One batch on its way: settles once, whatever happens to the workers that it is sent to. */
export class Job {
  readonly answer: Promise<HandleAnswer>;
  /** It was in a worker that died, and goes alone from now on. */
  lone = false;
  /** Tells the worker that nobody waits any more. */
  cancel: (() => void) | undefined;
  readonly #call: Omit<HandleRequest, 'rows'>;
  readonly #rows: readonly Prepared[];
  #listening: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settle!: { resolve: (answer: HandleAnswer) => void; reject: (error: TabServeError) => void };
  #settled = false;

  constructor(call: Omit<HandleRequest, 'rows'>, rows: readonly Prepared[], { signal, timeout }: JobLimits) {
    this.#call = call;
    this.#rows = rows;
    this.answer = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    if (signal) {
      this.#listening = new AbortController();
      signal.addEventListener('abort', () => this.#giveUp(abortion(signal)), { signal: this.#listening.signal });
    }
    if (timeout !== undefined) this.#timer = setTimeout(() => this.#giveUp(new TabServeError('timeout', `The request was not answered within its ${timeout} ms.`)), timeout);
  }

  get id(): string {
    return this.#call.id;
  }

  get request(): HandleRequest['request'] {
    return this.#call.request;
  }

  /** Rows. */
  get size(): number {
    return this.#rows.length;
  }

  get settled(): boolean {
    return this.#settled;
  }

  /** Whether the page still holds all of its input. */
  get repeatable(): boolean {
    return this.#rows.every((row) => row.repeatable);
  }

  /** What is sent; made afresh at each call, and only while `repeatable`. */
  message(): HandleRequest {
    const messages = this.#rows.map((row) => row.message()!);
    return transfer({ ...this.#call, rows: messages.map(({ value }) => value) }, [...new Set(messages.flatMap(({ transferables }) => transferables))]);
  }

  resolve(answer: HandleAnswer): void {
    if (this.#end()) this.#settle.resolve(answer);
  }

  reject(error: TabServeError): void {
    if (this.#end()) this.#settle.reject(error);
  }

  #giveUp(error: TabServeError): void {
    this.cancel?.();
    this.reject(error);
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
