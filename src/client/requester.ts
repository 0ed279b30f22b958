import { errorFromData, type ErrorData } from '../contract/error-data.js';
import { PredictionError } from '../contract/errors.js';
import type { HandleAnswer, HandleRequest } from '../contract/wire.js';
import { abortError } from '../shared/abort.js';
import type { ServingMetrics } from './metrics/client-metrics.js';
import type { ClientEvents, RequestOptions } from './options.js';
import type { Prepared } from './requests/inputs.js';
import { Job, type SequenceState } from './requests/job.js';
import type { Parts } from './requests/parts.js';
import { prepareRows } from './requests/prepare-rows.js';
import { readRequestOptions, type CheckedOptions } from './requests/request-options.js';
import type { WorkerPool } from './workers/pool.js';

/** What a client gives its requester. */
export interface RequesterOptions {
  readonly pool: WorkerPool;
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
  /** The parts of the answer, if it is streamed. `stop` aborts when they are no longer read. */
  readonly streamed?: { readonly parts: Parts; readonly stop: AbortSignal };
  /** The sequence that the request belongs to. Its state is updated when the answer is there. `ended` aborts when it has ended. */
  readonly sequence?: { readonly held: SequenceState; readonly ended: AbortSignal };
  /** Whether it was accepted before, by another client, so that it needs no place in the queue. @default false */
  readonly isReplay?: boolean;
  /** Called when it is answered. */
  readonly onRan?: (ran: RanRequest) => void;
}

/** How an answered request has run. */
export type RanRequest = Pick<HandleAnswer, 'timings' | 'nodes' | 'handlerTime' | 'memory' | 'ran'>;

/** Sends the requests of one client: checks and prepares what the caller passed, queues it, and returns the rows of the answer. */
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
    return this.#options.pool.parallelism;
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
    const { pool, metrics, disposed, checkOpen } = this.#options;
    return await metrics.follow(inputs.length, arrivedAt, async () => {
      checkOpen();
      const checked = readRequestOptions(options);
      const { timeout, transfer } = checked;
      const ends = [checked.signal, streamed?.stop, sequence?.ended].filter((signal) => signal !== undefined);
      const signal = ends.length > 1 ? AbortSignal.any(ends) : ends[0];
      if (signal?.aborted) throw abortError(signal);
      if (!isReplay) pool.checkRoom();
      const order = ++this.#requests;
      const preparing = prepareRows(inputs, { transfer, timeout, signals: [disposed, ...ends] });
      const rows = preparing instanceof Promise ? await pool.prepare(preparing) : preparing;
      const prepared = rows.filter((row): row is Prepared => !(row instanceof PredictionError));
      const own = { parts: streamed?.parts, sequence: sequence?.held };
      const job = { ...checked, signal, order, request, exclusive, arrivedAt, ...own };
      const answers = prepared.length > 0 ? await this.#run(new Job(prepared, job), onRan) : [];
      let at = 0;
      return rows.map((row) => (row instanceof PredictionError ? row : answers[at++]));
    });
  }

  /**
   * Sends a request whose one row is prepared already. It needs no place in the queue.
   * @throws what `Client.predict` throws
   */
  async sendPrepared(row: Prepared, options: CheckedOptions): Promise<unknown> {
    const arrivedAt = performance.now();
    const [result] = await this.#options.metrics.follow(1, arrivedAt, async () => {
      this.#options.checkOpen();
      const order = ++this.#requests;
      return await this.#run(new Job([row], { ...options, order, request: 'predict', exclusive: false, arrivedAt }));
    });
    if (result instanceof PredictionError) throw result;
    return result;
  }

  async #run(job: Job, onRan?: Sending['onRan']): Promise<unknown[]> {
    this.#options.pool.add(job);
    job.snapshot();
    const { rows, state, handlerTime, memory, ...answer } = await job.answer;
    const { timings, nodes, batchSize } = answer;
    onRan?.({ timings, ...(nodes && { nodes }), handlerTime, memory, ran: { batchSize, queued: job.queued } });
    if (job.sequence && state !== undefined) job.sequence.state = state;
    // A request whose rows have all failed has no response, whether it ran alone or with others.
    if (rows.some(({ ok }) => ok)) this.#options.onResponse({ ...answer, rows: rows.length, queued: job.queued });
    return rows.map((row) => (row.ok ? row.value : PredictionError.from(errorFromData(row.error as ErrorData))));
  }
}
