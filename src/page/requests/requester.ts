import { errorFromData, type ErrorData } from '../../contract/error-data.js';
import { PredictionError, asTabServeError, messageOf, TabServeError } from '../../contract/errors.js';
import type { HandleRequest } from '../../contract/wire.js';
import { abortError, timeoutError, unlessAborted } from '../../shared/abort.js';
import type { ServingMetrics } from '../metrics/client-metrics.js';
import type { ClientEvents } from './sender.js';
import type { RequestOptions } from './request-options.js';
import { type Prepared, prepare, type PrepareOptions } from './inputs.js';
import { Job, type JobAnswer, type SequenceState } from './job.js';
import { type Chunks } from './chunks.js';
import { readRequestOptions, type CheckedOptions } from './request-options.js';
import type { Sender } from './sender.js';
import { describeValue } from '../../contract/describe-value.js';

/** What a requester needs of its client. */
export interface RequesterOptions {
  /** Returns what answers the requests now. */
  readonly sender: () => Pick<Sender, 'parallelism' | 'checkRoom' | 'prepare' | 'add'>;
  readonly metrics: ServingMetrics;
  /** Aborts when the client is disposed of. */
  readonly disposed: AbortSignal;
  /** @throws `disposed`, `not-initialized` */
  readonly checkOpen: () => void;
  readonly onResponse: (response: ClientEvents['response']) => void;
}

/** How a request is sent. */
export interface Sending {
  /** @default 'predict' */
  readonly request?: HandleRequest['request'];
  /** Whether the inputs are a batch of their own, which no other request joins. @default false */
  readonly exclusive?: boolean;
  /** The chunks of the answer, if it is streamed. `stop` aborts when they are no longer read. */
  readonly streamed?: { readonly chunks: Chunks; readonly stop: AbortSignal };
  /**
   * The sequence that the request belongs to. Its state is updated when the answer is there. `ended` aborts when it has
   * ended.
   */
  readonly sequence?: { readonly current: SequenceState; readonly ended: AbortSignal };
  /** Whether it was accepted before, by another client, so that it needs no slot in the queue. @default false */
  readonly isReplay?: boolean;
  /** Called when it is answered. */
  readonly onRan?: (ran: RanRequest) => void;
}

/** How an answered request has run. */
export type RanRequest = Omit<JobAnswer, 'rows'> & {
  /** Milliseconds in the queue. */
  readonly queued: number;
};

/**
 * Sends the requests of one client: checks and prepares what the caller passed, queues it, and returns the rows of the
 * answer.
 */
export class Requester {
  readonly #options: RequesterOptions;
  /** Number of requests so far. */
  #requests = 0;

  constructor(options: RequesterOptions) {
    this.#options = options;
  }

  /** Aborts when the client is disposed of. */
  get disposed(): AbortSignal {
    return this.#options.disposed;
  }

  /** How many requests keep the workers busy. */
  get parallelism(): number {
    return this.#options.sender().parallelism;
  }

  /** @throws `disposed`, `not-initialized` */
  checkOpen(): void {
    this.#options.checkOpen();
  }

  /**
   * Sends one request of one row or more. Returns the rows' answers; a row that failed is a `PredictionError`.
   * @throws what `Client.predict` throws, except a row's own failure
   */
  async send(
    inputs: readonly unknown[],
    options: RequestOptions,
    { request = 'predict', exclusive = false, streamed, sequence, isReplay = false, onRan }: Sending,
  ): Promise<unknown[]> {
    const arrivedAt = performance.now();
    const { sender, metrics, disposed, checkOpen } = this.#options;
    return await metrics.follow(inputs.length, arrivedAt, async () => {
      checkOpen();
      const checked = readRequestOptions(options);
      const { timeout, transfer } = checked;
      const ends = [checked.signal, streamed?.stop, sequence?.ended].filter((signal) => signal !== undefined);
      const signal = ends.length > 1 ? AbortSignal.any(ends) : ends[0];
      if (signal?.aborted) throw abortError(signal);
      if (!isReplay) sender().checkRoom();
      const order = ++this.#requests;
      const preparing = prepareRows(inputs, { transfer, timeout, signals: [disposed, ...ends] });
      const rows = preparing instanceof Promise ? await sender().prepare(preparing) : preparing;
      const prepared = rows.filter((row): row is Prepared => !(row instanceof PredictionError));
      const own = { chunks: streamed?.chunks, sequence: sequence?.current };
      const job = { ...checked, signal, order, request, exclusive, arrivedAt, ...own };
      const answers = prepared.length > 0 ? await this.#run(new Job(prepared, job), onRan) : [];
      let at = 0;
      return rows.map((row) => (row instanceof PredictionError ? row : answers[at++]));
    });
  }

  /**
   * Sends a request whose rows are prepared already. It needs no slot in the queue.
   * @throws what `Client.predict` throws, except a row's own failure
   */
  async sendPrepared(
    rows: readonly Prepared[],
    options: CheckedOptions,
    { request = 'predict', exclusive = false, streamed, sequence, onRan }: Sending = {},
  ): Promise<unknown[]> {
    const arrivedAt = performance.now();
    return await this.#options.metrics.follow(rows.length, arrivedAt, async () => {
      this.#options.checkOpen();
      const own = { chunks: streamed?.chunks, sequence: sequence?.current };
      const job = { ...options, order: ++this.#requests, request, exclusive, arrivedAt, ...own };
      return await this.#run(new Job(rows, job), onRan);
    });
  }

  async #run(job: Job, onRan?: Sending['onRan']): Promise<unknown[]> {
    this.#options.sender().add(job);
    job.snapshot();
    const { rows, ...ran } = await job.answer;
    const { queued } = job;
    onRan?.({ ...ran, queued });
    const { timings, nodes, batchSize } = ran;
    // A request whose rows have all failed has no response, whether it ran alone or with others.
    if (rows.some(({ ok }) => ok))
      this.#options.onResponse({ rows: rows.length, batchSize, queued, timings, ...(nodes && { nodes }) });
    return rows.map((row) => (row.ok ? row.value : PredictionError.from(errorFromData(row.error as ErrorData))));
  }
}

/** One row of a call: prepared, or the error of a row that could not be prepared. Such a row fails alone. */
export type PreparedRow = Prepared | PredictionError;

export interface RowOptions {
  readonly transfer: boolean;
  readonly signals: readonly AbortSignal[];
  /** Milliseconds. */
  readonly timeout: number | undefined;
}

/**
 * Returns a copy of a list, whose holes are undefined.
 * @throws `invalid-input` unless it is a list of at least one input
 */
export function readList<T>(inputs: readonly T[]): readonly T[] {
  if (Array.isArray(inputs) && inputs.length > 0) return Array.from(inputs as readonly T[]);
  const got = describeValue(inputs);
  throw new TabServeError('invalid-input', `handle expects a list of at least one input, got ${got}.`);
}

/**
 * Prepares inputs. It is synchronous unless an input takes time, so that most inputs are sent within the call itself.
 * @throws `aborted`, `timeout`
 */
export function prepareRows(
  inputs: readonly unknown[],
  options: RowOptions,
): readonly PreparedRow[] | Promise<readonly PreparedRow[]> {
  let stop: AbortController | undefined;
  // Only downloads need the signal, and few inputs are downloads.
  const shared: PrepareOptions = {
    transfer: options.transfer,
    get signal() {
      return (stop ??= new AbortController()).signal;
    },
  };
  const rows = inputs.map((input) => prepareRow(input, shared));
  if (rows.every((row) => !(row instanceof Promise))) return rows as PreparedRow[];
  // The call returns before these rows are sent.
  for (const row of rows) if ('snapshot' in row) row.snapshot();
  return inTime(Promise.all(rows), options).catch((error: unknown) => {
    stop?.abort(error);
    throw error;
  });
}

async function inTime(
  preparing: Promise<readonly PreparedRow[]>,
  { signals, timeout }: RowOptions,
): Promise<readonly PreparedRow[]> {
  const late = new AbortController();
  const timer = timeout === undefined ? undefined : setTimeout(() => late.abort(timeoutError(timeout)), timeout);
  try {
    return await unlessAborted(preparing, AbortSignal.any([...signals, late.signal]));
  } catch (error) {
    void preparing.then((rows) => rows.forEach((row) => row instanceof PredictionError || row.release()));
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function prepareRow(input: unknown, options: PrepareOptions): PreparedRow | Promise<PreparedRow> {
  try {
    const prepared = prepare(input, options);
    return prepared instanceof Promise ? prepared.catch(failedRow) : prepared;
  } catch (error) {
    return failedRow(error);
  }
}

/**
 * Converts an error to a row's failure. An error that is not ours comes from the browser, such as a RangeError for an
 * input that is nested too deeply.
 */
function failedRow(error: unknown): PredictionError {
  const failure =
    error instanceof TabServeError
      ? error
      : new TabServeError('invalid-input', `The input could not be read: ${messageOf(error)}. Pass plain data.`, {
          cause: error,
        });
  return PredictionError.from(asTabServeError(failure, 'preprocess'));
}
