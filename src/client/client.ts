import type { Progress } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import { errorFromData, type ErrorData } from '../contract/error-data.js';
import { PredictionError, TabServeError } from '../contract/errors.js';
import type { FormName, Handler, ParamsOf, ResultFor, ResultOf } from '../contract/handler.js';
import { CLIENT_SETTINGS, servingOf } from '../contract/settings.js';
import type { HandleRequest } from '../contract/wire.js';
import { abortError, unlessAborted } from '../shared/abort.js';
import { diagnosis } from './diagnose.js';
import { Emitter, notify } from './events.js';
import { EventLog } from './log.js';
import { ServingMetrics, type ClientMetrics } from './metrics/client-metrics.js';
import type {
  ClientEvents,
  ClientInput,
  Description,
  InitializeOptions,
  RequestOptions,
  RequestParams,
} from './options.js';
import type { JobQueueStatus } from './requests/backlog.js';
import type { Prepared } from './requests/inputs.js';
import { Job } from './requests/job.js';
import { readInitializeOptions, readRequestOptions } from './requests/request-options.js';
import { prepareRows, readList } from './requests/prepare-rows.js';
import { WorkerOpener, type OpenerHooks, type OpenerOptions } from './worker-opener.js';
import { pageCores } from './workers/budget.js';
import { browserClock } from '../shared/clock.js';
import { WorkerPool } from './workers/pool.js';
import type { WorkerFactory } from './workers/start.js';

/** An `initialize` that is under way. */
interface Opening {
  readonly done: Promise<void>;
  readonly signal: AbortSignal | undefined;
  readonly listeners: Set<(progress: Progress) => void>;
}

/** The page's side of a model: sends requests to its workers, and returns their answers. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every client is a `Client`, whatever its handler
export class Client<H extends Handler = any, Result = ResultOf<H>> implements AsyncDisposable {
  readonly #warned = new Set<string>();
  readonly #events = new Emitter<ClientEvents>();
  readonly #log = new EventLog();
  readonly #metrics: ServingMetrics;
  readonly #opener: WorkerOpener;
  readonly #pool: WorkerPool;
  readonly #disposed = new AbortController();
  #opening: Opening | undefined;
  /** Number of requests so far. */
  #requests = 0;

  constructor(factory: WorkerFactory, options: OpenerOptions, { isPossible }: Pick<OpenerHooks, 'isPossible'> = {}) {
    const log = (message: string, since?: number): void => this.#log.add(message, since);
    this.#opener = new WorkerOpener(factory, options, {
      isPossible,
      log,
      warn: (message) => this.#warn(message),
      opened: (backend, milliseconds) => this.#metrics.loaded(backend, milliseconds),
    });
    this.#metrics = new ServingMetrics(
      () => this.#opener.archive?.manifest.model,
      (message) => this.#warn(message),
    );
    this.#pool = new WorkerPool({
      clock: browserClock,
      cores: pageCores,
      maxRetryTimeoutInSec: options.maxRetryTimeoutInSec ?? CLIENT_SETTINGS.maxRetryTimeoutInSec.default,
      maxRuns: options.maxRuns,
      maxMemory: options.maxMemory,
      log,
      open: (request) => this.#opener.open(request),
      on: {
        backend: (backend) => this.#changed(backend),
        queued: (milliseconds) => this.#metrics.queued(milliseconds),
        ran: ({ size }, answer, roundTrip) => {
          this.#metrics.recorded(answer.metrics);
          this.#metrics.ran(size, answer, roundTrip);
        },
        recover: (recovery) => this.#events.emit('recover', recovery),
        fail: (error) => {
          this.#log.add(error.message);
          this.#events.emit('fail', error);
        },
      },
    });
  }

  /** The backend that runs the model, and why the preferred ones do not; undefined before `initialize`. */
  get backend(): Backend | undefined {
    return this.#pool.backend;
  }

  /** The browser's capabilities, as a worker sees them; undefined before `initialize`. */
  get probe(): Probe | undefined {
    return this.#opener.probe;
  }

  /** How full the queue is now. Check it to hold back a request that would be refused with `queue-full`. */
  get jobQueueStatus(): JobQueueStatus {
    return this.#pool.queueStatus;
  }

  /** The metrics of this client. They stay in the page. */
  get metrics(): ClientMetrics {
    return this.#metrics;
  }

  /** Adds a listener. Returns a function that removes it. */
  on<E extends keyof ClientEvents>(event: E, listener: (event: ClientEvents[E]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Downloads the model and opens it on the first backend that runs it correctly. A call during another one waits for that one; a call after
   * a success returns at once. A call after a failure tries again, and downloads only what is missing.
   * @throws `model-not-found`, `model-format`, `model-config`, `network`, `unknown-handler`, `handler-failed`, `no-backend`, `worker-failed`,
   *   `aborted`, `disposed`; `unsupported` where there are no workers, as on a server; `invalid-input` for a wrong option of the call
   */
  async initialize(options: InitializeOptions = {}): Promise<void> {
    const { signal, onProgress } = readInitializeOptions(options);
    if (this.#disposed.signal.aborted) throw disposed();
    if (this.#pool.serving) return;
    const joined = this.#opening;
    if (!joined) return await this.#begin(signal, onProgress).done;
    if (onProgress) joined.listeners.add(onProgress);
    try {
      await unlessAborted(joined.done, signal);
    } catch (error) {
      // The caller that started it has aborted, but this caller has not: start again.
      if (!joined.signal?.aborted || signal?.aborted) throw error;
      await this.initialize(options);
    }
  }

  #begin(signal: AbortSignal | undefined, onProgress: InitializeOptions['onProgress']): Opening {
    const listeners = new Set(onProgress ? [onProgress] : []);
    const ends = AbortSignal.any([this.#disposed.signal, ...(signal ? [signal] : [])]);
    const done = this.#initialize(ends, listeners).finally(() => (this.#opening = undefined));
    return (this.#opening = { done, signal, listeners });
  }

  async #initialize(signal: AbortSignal, listeners: Opening['listeners']): Promise<void> {
    const onProgress = (progress: Progress): void => listeners.forEach((listener) => notify(listener, progress));
    const worker = await this.#opener.open({ signal, onProgress });
    this.#pool.start(worker, servingOf(this.#opener.archive!.config));
    // A listener of `backendchange` may have disposed of this client.
    if (signal.aborted) throw abortError(signal);
  }

  #changed(backend: Backend): void {
    this.#metrics.changed(backend);
    this.#events.emit('backendchange', backend);
  }

  /** Reports what is wrong and stops nothing: once, though each worker may find it. */
  #warn(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#log.add(message);
    console.warn(`tabserve: ${message}`);
    this.#events.emit('warn', { message });
  }

  /**
   * Predicts one input.
   * @throws `PredictionError`, `not-initialized`, `disposed`, `aborted`, `timeout`, `queue-full`, `worker-lost`, `invalid-input`, `not-cloneable`
   */
  async predict<Form extends FormName<H> = never>(
    input: ClientInput<H>,
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<ResultFor<H, Form, Result>> {
    const [result] = await this.#request('predict', [input], options, false);
    if (result instanceof PredictionError) throw result;
    return result as ResultFor<H, Form, Result>;
  }

  /**
   * Runs the inputs as one batch, and returns a list of the same length: TorchServe's contract. A row that fails is a `PredictionError` in its place.
   * @throws what `predict` throws, except a row's own failure; `batch-contract`; `invalid-input` for an empty batch
   */
  async handle<Form extends FormName<H> = never>(
    inputs: readonly ClientInput<H>[],
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<(ResultFor<H, Form, Result> | PredictionError)[]> {
    const rows = readList(inputs);
    return (await this.#request('predict', rows, options, true)) as (ResultFor<H, Form, Result> | PredictionError)[];
  }

  /** Returns the handler's explanation of the model's answer to one input. @throws `unsupported` if the handler has no explanations */
  async explain(input: ClientInput<H>, options: RequestOptions<ParamsOf<H>> = {}): Promise<unknown> {
    const [explanation] = await this.#request('explain', [input], options, true);
    if (explanation instanceof PredictionError) throw explanation;
    return explanation;
  }

  /** Returns a description of the model, its config, its backend and its metrics. It does not wait in the queue. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost`, `not-cloneable`, what `describeHandle` throws */
  async describe(): Promise<Description> {
    this.#checkOpen();
    const info = await this.#pool.ask(({ describe }) => describe());
    const { manifest, config } = this.#opener.archive!;
    const { modelName, modelVersion } = manifest.model;
    return {
      modelName,
      modelVersion,
      ...info,
      config: { ...config, ...servingOf(config) },
      backend: this.#pool.backend!,
      workers: this.#pool.workers,
      jobQueueStatus: this.jobQueueStatus,
      metrics: this.#metrics.snapshot(),
    };
  }

  /** Returns the round trip to a worker, in milliseconds. A worker that is running a batch answers after it. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost` */
  async ping(): Promise<number> {
    this.#checkOpen();
    const started = performance.now();
    await this.#pool.ask(({ ping }) => ping());
    return performance.now() - started;
  }

  /** @throws `disposed`, `not-initialized` */
  #checkOpen(): void {
    if (this.#disposed.signal.aborted) throw disposed();
    if (!this.#pool.serving && !this.#pool.failure)
      throw new TabServeError(
        'not-initialized',
        'The client is not initialized. Call initialize() first, and wait for it.',
      );
  }

  /** @param exclusive whether the inputs are a batch of their own, which no other request joins */
  async #request(
    request: HandleRequest['request'],
    inputs: readonly unknown[],
    options: RequestOptions,
    exclusive: boolean,
  ): Promise<unknown[]> {
    const arrivedAt = performance.now();
    return await this.#metrics.follow(inputs.length, async () => {
      this.#checkOpen();
      const checked = readRequestOptions(options);
      const { signal, timeout, transfer } = checked;
      if (signal?.aborted) throw abortError(signal);
      this.#pool.checkRoom();
      const order = ++this.#requests;
      const signals = [this.#disposed.signal, ...(signal ? [signal] : [])];
      const preparing = prepareRows(inputs, { transfer, timeout, signals });
      const rows = preparing instanceof Promise ? await this.#pool.prepare(preparing) : preparing;
      const prepared = rows.filter((row): row is Prepared => !(row instanceof PredictionError));
      const answers =
        prepared.length > 0
          ? await this.#run(new Job(prepared, { ...checked, order, request, exclusive, arrivedAt }))
          : [];
      return rows.map((row) => (row instanceof PredictionError ? row : answers.shift()));
    });
  }

  async #run(job: Job): Promise<unknown[]> {
    this.#pool.add(job);
    job.snapshot();
    const { rows, batchSize, timings } = await job.answer;
    this.#events.emit('response', { rows: rows.length, batchSize, queued: job.queued, timings });
    return rows.map((row) => (row.ok ? row.value : PredictionError.from(errorFromData(row.error as ErrorData))));
  }

  /** Returns text for a bug report: versions, the browser's capabilities, the backends that were tried, and the log with its times. */
  diagnose(): string {
    return diagnosis({
      model: this.#opener.options.model,
      archive: this.#opener.archive,
      probe: this.#opener.probe,
      backend: this.#pool.backend,
      events: this.#log.entries,
    });
  }

  /** Ends the workers, and rejects every pending call with `disposed`. */
  dispose(): Promise<void> {
    this.#disposed.abort(disposed());
    this.#pool.close(disposed());
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

function disposed(): TabServeError {
  return new TabServeError('disposed', 'The client has been disposed of.');
}
