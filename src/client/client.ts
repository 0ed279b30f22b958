import type { Archive, ModelConfig, Progress } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import { errorFromData, type ErrorData } from '../contract/error-data.js';
import { asTabServeError, PredictionError, TabServeError } from '../contract/errors.js';
import type { FormName, Handler, ParamsOf, ResultFor, ResultOf } from '../contract/handler.js';
import { describeValue } from '../contract/describe-value.js';
import { CLIENT_SETTINGS, resolveSettings, SERVING, servingOf } from '../contract/settings.js';
import type { HandleRequest } from '../contract/wire.js';
import { abortError, unlessAborted } from '../shared/abort.js';
import { diagnosis } from './diagnose.js';
import { Emitter, notify } from './events.js';
import { EventLog } from './log.js';
import { ServingMetrics, type ClientMetrics } from './metrics/client-metrics.js';
import type {
  ClientEvents,
  ClientInput,
  ClientOptions,
  Description,
  InitializeOptions,
  RequestOptions,
  RequestParams,
} from './options.js';
import type { JobQueueStatus } from './requests/backlog.js';
import type { Prepared } from './requests/inputs.js';
import { Job } from './requests/job.js';
import { readInitializeOptions, readRequestOptions } from './requests/request-options.js';
import { prepareRows } from './requests/prepare-rows.js';
import { browserVerdicts } from './selection/browser-verdicts.js';
import { openModel, type OpenOptions } from './selection/open.js';
import { absoluteUrl, folderUrl } from './url.js';
import { pageCores } from './workers/budget.js';
import { browserClock } from '../shared/clock.js';
import { WorkerPool } from './workers/pool.js';
import type { OpenedWorker } from './workers/slot.js';
import type { WorkerFactory } from './workers/start.js';

/** An `initialize` that is under way. */
interface Opening {
  readonly done: Promise<void>;
  readonly signal: AbortSignal | undefined;
  readonly listeners: Set<(progress: Progress) => void>;
}

/** The page's side of a handler. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every client is a `Client`, whatever its handler
export class Client<H extends Handler = any, Result = ResultOf<H>> implements AsyncDisposable {
  readonly #factory: WorkerFactory;
  readonly #isPossible: () => boolean;
  readonly #options: ClientOptions & { readonly handler?: string | undefined };
  readonly #events = new Emitter<ClientEvents>();
  readonly #log = new EventLog();
  readonly #metrics: ServingMetrics;
  readonly #pool: WorkerPool;
  readonly #disposed = new AbortController();
  #opening: Opening | undefined;
  #archive: Archive | undefined;
  #backend: Backend | undefined;
  #probe: Probe | undefined;
  /** Number of requests so far. */
  #requests = 0;

  /** @param isPossible whether there are workers here at all; a factory of the app's own knows best */
  constructor(
    factory: WorkerFactory,
    options: ClientOptions & { readonly handler?: string | undefined },
    { isPossible = () => true }: { readonly isPossible?: () => boolean } = {},
  ) {
    this.#factory = factory;
    this.#isPossible = isPossible;
    this.#options = options;
    this.#metrics = new ServingMetrics(
      () => this.#archive?.manifest.model,
      (message) => this.#warn(message),
    );
    this.#pool = new WorkerPool({
      clock: browserClock,
      cores: pageCores,
      maxRetryTimeoutInSec: options.maxRetryTimeoutInSec ?? CLIENT_SETTINGS.maxRetryTimeoutInSec.default,
      maxRuns: options.maxRuns,
      maxMemory: options.maxMemory,
      log: (what) => this.#log.add(what),
      open: (request) => this.#openWorker(request),
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

  /** What runs, and why everything before it does not; undefined before `initialize`. */
  get backend(): Backend | undefined {
    return this.#backend;
  }

  /** What the browser has, as seen in a worker; undefined before `initialize`. */
  get probe(): Probe | undefined {
    return this.#probe;
  }

  /** How full the queue is now. A caller that looks here first can hold back a request that would be refused. */
  get jobQueueStatus(): JobQueueStatus {
    return this.#pool.queueStatus;
  }

  /** What has been counted and timed here; it is sent nowhere. */
  get metrics(): ClientMetrics {
    return this.#metrics;
  }

  /** Adds a listener. Returns a function that removes it. */
  on<E extends keyof ClientEvents>(event: E, listener: (event: ClientEvents[E]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Downloads the model and opens it on the first backend that runs it right. A call that comes while another one is under way waits for
   * it; one that comes later has nothing to do. After a failure it tries again, with what has been downloaded.
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
      // The caller that began it may have aborted, and this one has not.
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
    const open = await this.#openWorker({ signal, onProgress });
    this.#pool.start(open, servingOf(this.#archive!.config));
    // A listener of `backendchange` may have disposed of it.
    if (signal.aborted) throw abortError(signal);
  }

  #changed(backend: Backend): void {
    this.#backend = backend;
    this.#metrics.changed(backend);
    this.#events.emit('backendchange', backend);
  }

  #warn(message: string): void {
    this.#log.add(message);
    console.warn(`tabserve: ${message}`);
  }

  /** Opens a worker. Ends with `signal`, whatever it waits for. */
  async #openWorker(how: Pick<OpenOptions, 'signal'> & Partial<OpenOptions>): Promise<OpenedWorker> {
    if (!this.#isPossible()) throw noWorkers();
    const started = performance.now();
    const { model, handler, backends, assets } = this.#options;
    const { prefer = 'first', verify = 'golden', verdicts = browserVerdicts } = this.#options;
    const { measureBudget } = resolveSettings(CLIENT_SETTINGS, { ...this.#options });
    const opening = openModel({
      factory: this.#factory,
      source: isFile(model) ? model : absoluteUrl(model, 'model'),
      handler,
      backends,
      config: this.#config,
      assets: assets === undefined ? undefined : folderUrl(absoluteUrl(assets, 'assets')),
      prefer,
      measureBudget,
      verify,
      verdicts,
      onProbe: (probe) => (this.#probe = probe),
      log: (message, since) => this.#log.add(message, since),
      onProgress: undefined,
      archive: this.#archive,
      onArchive: (archive) => (this.#archive = archive),
      ...how,
    });
    try {
      const open = await unlessAborted(opening, how.signal);
      this.#metrics.loaded(open.backend, performance.now() - started);
      return open;
    } catch (error) {
      void opening.then(
        ({ connection }) => connection.close(disposed()),
        () => {},
      );
      throw error instanceof TabServeError ? error : unusable(error);
    }
  }

  /** The caller's config, with the settings of serving among the options. */
  get #config(): ModelConfig {
    const set = Object.entries(this.#options).filter(([key, value]) => key in SERVING && value !== undefined);
    return { ...this.#options.config, ...Object.fromEntries(set) };
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
   * Runs one batch as given: TorchServe's contract, list in, list of the same length out. A row that fails is a `PredictionError` in its place.
   * @throws what `predict` throws but for a row's failure; `batch-contract`; `invalid-input` for an empty batch
   */
  async handle<Form extends FormName<H> = never>(
    inputs: readonly ClientInput<H>[],
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<(ResultFor<H, Form, Result> | PredictionError)[]> {
    const rows = readList(inputs);
    return (await this.#request('predict', rows, options, true)) as (ResultFor<H, Form, Result> | PredictionError)[];
  }

  /** Asks what about the input made the model answer as it does, in the handler's own form. @throws `unsupported` if the handler explains nothing */
  async explain(input: ClientInput<H>, options: RequestOptions<ParamsOf<H>> = {}): Promise<unknown> {
    const [explanation] = await this.#request('explain', [input], options, true);
    if (explanation instanceof PredictionError) throw explanation;
    return explanation;
  }

  /** Returns what is served, and how it is doing. It waits in no queue. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost`, `not-cloneable`, what `describeHandle` throws */
  async describe(): Promise<Description> {
    this.#checkOpen();
    const info = await this.#pool.ask(({ describe }) => describe());
    const { manifest, config } = this.#archive!;
    const { modelName, modelVersion } = manifest.model;
    return {
      modelName,
      modelVersion,
      ...info,
      config: { ...config, ...servingOf(config) },
      backend: this.#backend!,
      workers: this.#pool.workers,
      jobQueueStatus: this.jobQueueStatus,
      metrics: this.#metrics.snapshot(),
    };
  }

  /** Returns milliseconds to a worker and back; one that computes answers between two batches. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost` */
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
      throw new TabServeError('not-initialized', 'Call initialize() first, and wait for it.');
  }

  /** @param exclusive whether the inputs are one batch, which no other request joins */
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
    return rows.map((row) => (row.ok ? row.value : errorFromData(row.error as ErrorData)));
  }

  /** Returns text for a bug report: versions, what the browser has, what was tried, what happened and how long it took. */
  diagnose(): string {
    return diagnosis({
      model: this.#options.model,
      archive: this.#archive,
      probe: this.#probe,
      backend: this.#backend,
      events: this.#log.entries,
    });
  }

  /** Ends the workers. What is pending is rejected with `disposed`. */
  dispose(): Promise<void> {
    this.#disposed.abort(disposed());
    this.#pool.close(disposed());
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** Returns a copy of a list, whose holes are undefined. @throws `invalid-input` unless it is a list of at least one input */
function readList<T>(inputs: readonly T[]): readonly T[] {
  try {
    if (Array.isArray(inputs) && inputs.length > 0)
      return Array.from({ length: inputs.length }, (_, at) => inputs[at]!);
  } catch {
    // Reported below: a proxy may throw at any look.
  }
  const got = describeValue(inputs);
  throw new TabServeError('invalid-input', `handle expects a list of at least one input, got ${got}.`);
}

/** `instanceof` throws for a revoked proxy. */
function isFile(model: ClientOptions['model']): model is File {
  try {
    return typeof File !== 'undefined' && model instanceof File;
  } catch {
    return false;
  }
}

/** What a worker that is not TabServe's answers may break anything. */
function unusable(cause: unknown): TabServeError {
  const why = asTabServeError(cause).message;
  return new TabServeError('worker-failed', `The model could not be opened with what the worker answered: ${why}`, {
    cause,
  });
}

function disposed(): TabServeError {
  return new TabServeError('disposed', 'The client has been disposed of.');
}

function noWorkers(): TabServeError {
  const message =
    'There are no Web Workers here: this is a server, or another environment that is not a browser. Call load() or initialize() in the ' +
    'browser; importing tabserve and calling connect() work anywhere.';
  return new TabServeError('unsupported', message);
}
