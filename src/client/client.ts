import type { Archive, ModelConfig, Progress } from '../contract/archive.js';
import type { Backend, Probe } from '../contract/backends.js';
import type { FormName, Handler, Params, ParamsOf, ResultFor, ResultOf } from '../contract/handler.js';
import type { HandleRequest } from '../contract/wire.js';
import { errorFromData, type ErrorData } from '../contract/error-data.js';
import { PredictionError, TabServeError } from '../contract/errors.js';
import { ServingMetrics, type ClientMetrics } from './metrics/client-metrics.js';
import { CLIENT_SETTINGS, REQUEST_SETTINGS, resolveSettings, SERVING, servingOf } from '../contract/settings.js';
import { abortion, unlessAborted } from './abort.js';
import type { WorkerFactory } from './workers/connection.js';
import { Emitter } from './events.js';
import type { Prepared } from './requests/inputs.js';
import { Job } from './requests/job.js';
import { openModel, type OpenedWorker, type OpenOptions } from './selection/open.js';
import type {
  ClientEvents,
  ClientInput,
  ClientOptions,
  Description,
  InitializeOptions,
  JobQueueStatus,
  RequestOptions,
  RequestParams,
} from './options.js';
import { prepareRows } from './requests/rows.js';
import { Story } from './log.js';
import { Supervisor } from './workers/supervisor.js';
import { browserVerdicts } from './selection/browser-verdicts.js';
import { VERSION } from '../contract/version.js';

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
  readonly #options: ClientOptions & { readonly handler?: string | undefined };
  readonly #events = new Emitter<ClientEvents>();
  #opening: Opening | undefined;
  readonly #supervisor: Supervisor;
  #archive: Archive | undefined;
  #backend: Backend | undefined;
  #probe: Probe | undefined;
  readonly #story = new Story();
  readonly #metrics = new ServingMetrics(
    () => this.#archive?.manifest.model,
    (message) => this.#warn(message),
  );
  readonly #disposed = new AbortController();
  #calls = 0;

  constructor(factory: WorkerFactory, options: ClientOptions & { readonly handler?: string | undefined }) {
    this.#factory = factory;
    this.#options = options;
    const { maxRetryTimeoutInSec = CLIENT_SETTINGS.maxRetryTimeoutInSec.default, maxRuns, maxMemory } = options;
    this.#supervisor = new Supervisor({
      maxRetryTimeoutInSec,
      maxRuns,
      maxMemory,
      tell: (what) => this.#story.tell(what),
      open: (how) => this.#openModel(how),
      on: {
        backend: (backend) => this.#changed(backend),
        queued: (milliseconds) => this.#metrics.queued(milliseconds),
        ran: (batch, answer, roundTrip) => {
          this.#metrics.recorded(answer.metrics);
          this.#metrics.ran(batch.size, answer, roundTrip);
        },
        recover: (recovery) => {
          this.#story.tell(
            `A worker has taken over on ${recovery.backend.engine}/${recovery.backend.name}, after: ${recovery.cause.message}`,
          );
          this.#events.emit('recover', recovery);
        },
        fail: (error) => {
          this.#story.tell(error.message);
          this.#events.emit('fail', error);
        },
      },
    });
  }

  /** What runs, and why everything before it does not; undefined before `initialize`. */
  get backend(): Backend | undefined {
    return this.#backend;
  }

  /** What the browser has, as seen in a worker; undefined until one has looked. */
  get probe(): Probe | undefined {
    return this.#probe;
  }

  /** How full the queue is now: who asks it first can hold a request back that would be refused. */
  get jobQueueStatus(): JobQueueStatus {
    return this.#supervisor.jobQueueStatus;
  }

  /** What has been counted and timed here; it is sent nowhere. */
  get metrics(): ClientMetrics {
    return this.#metrics;
  }

  /** Listens; calling the answer stops it. */
  on<E extends keyof ClientEvents>(event: E, listener: (event: ClientEvents[E]) => void): () => void {
    return this.#events.on(event, listener);
  }

  /**
   * Downloads the model and opens it on the first backend that can run it. Once is enough: a call that comes while another one is under way
   * waits for it, and one that comes later has nothing to do. After a failure, or when the worker or its GPU was lost, it tries anew, with what has been downloaded.
   * @throws `model-not-found`, `model-format`, `model-config`, `network`, `unknown-handler`, `handler-failed`, `no-backend`, `worker-failed`, `aborted`, `disposed`
   */
  async initialize(options: InitializeOptions = {}): Promise<void> {
    if (this.#disposed.signal.aborted) throw disposed();
    if (this.#supervisor.serving) return;
    resolveSettings(CLIENT_SETTINGS, { ...this.#options });
    const joined = this.#opening;
    if (!joined) return await this.#begin(options).done;
    if (options.onProgress) joined.listeners.add(options.onProgress);
    try {
      await unlessAborted(joined.done, options.signal);
    } catch (error) {
      // Who began it may have given up, and this caller has not.
      if (!joined.signal?.aborted || options.signal?.aborted) throw error;
      await this.initialize(options);
    }
  }

  #begin({ signal, onProgress }: InitializeOptions): Opening {
    const listeners = new Set(onProgress ? [onProgress] : []);
    const done = this.#open(AbortSignal.any([this.#disposed.signal, ...(signal ? [signal] : [])]), listeners).finally(
      () => (this.#opening = undefined),
    );
    return (this.#opening = { done, signal, listeners });
  }

  async #open(signal: AbortSignal, listeners: Opening['listeners']): Promise<void> {
    const open = await this.#openModel({
      signal,
      onProgress: (progress) => listeners.forEach((listener) => listener(progress)),
    });
    if (signal.aborted) {
      open.connection.close(abortion(signal));
      throw abortion(signal);
    }
    this.#supervisor.start(open, servingOf(this.#archive!.config));
    this.#changed(open.backend);
  }

  #changed(backend: Backend): void {
    this.#backend = backend;
    this.#metrics.changed(backend);
    this.#events.emit('backendchange', backend);
  }

  /** The caller's: what it has set of `Serving` in the options is a part of it. */
  get #config(): ModelConfig {
    const set = Object.entries(this.#options).filter(([key, value]) => key in SERVING && value !== undefined);
    return { ...this.#options.config, ...Object.fromEntries(set) };
  }

  #warn(message: string): void {
    this.#story.tell(message);
    console.warn(`tabserve: ${message}`);
  }

  async #openModel(how: Pick<OpenOptions, 'signal'> & Partial<OpenOptions>): Promise<OpenedWorker> {
    const started = performance.now();
    const { model, handler, backends, assets } = this.#options;
    const { prefer = 'first', verify = 'golden', verdicts = browserVerdicts } = this.#options;
    const { measureBudget } = resolveSettings(CLIENT_SETTINGS, { ...this.#options });
    const open = await openModel({
      factory: this.#factory,
      source: model instanceof File ? model : absolute(model).href,
      handler,
      backends,
      config: this.#config,
      assets: assets === undefined ? undefined : folder(absolute(assets)),
      prefer,
      measureBudget,
      verify,
      verdicts,
      onProbe: (probe) => (this.#probe = probe),
      log: (message, since) => this.#story.tell(message, since),
      onProgress: undefined,
      archive: this.#archive,
      onArchive: (archive) => (this.#archive = archive),
      ...how,
    });
    this.#metrics.loaded(open.backend, performance.now() - started);
    return open;
  }

  /**
   * One input, one answer.
   * @throws `PredictionError`, `not-initialized`, `disposed`, `aborted`, `worker-lost`, `invalid-input`, `not-cloneable`
   */
  async predict<Form extends FormName<H> = never>(
    input: ClientInput<H>,
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<ResultFor<H, Form, Result>> {
    const [result] = await this.#measured('predict', [input], options, false);
    if (result instanceof PredictionError) throw result;
    return result as ResultFor<H, Form, Result>;
  }

  /**
   * TorchServe's contract: one batch as given, list in, list of the same length out. A row that fails is a `PredictionError` in its place.
   * @throws `not-initialized`, `disposed`, `aborted`, `worker-lost`, `batch-contract`, `not-cloneable`; `invalid-input` for an empty batch
   */
  async handle<Form extends FormName<H> = never>(
    inputs: readonly ClientInput<H>[],
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<(ResultFor<H, Form, Result> | PredictionError)[]> {
    if (!Array.isArray(inputs) || inputs.length === 0)
      throw new TabServeError('invalid-input', 'handle expects a list of at least one input.');
    return (await this.#measured('predict', inputs, options, true)) as (ResultFor<H, Form, Result> | PredictionError)[];
  }

  /** What about the input made the model answer as it does, in the handler's own form. @throws `unsupported` if the handler explains nothing */
  async explain(input: ClientInput<H>, options: RequestOptions<ParamsOf<H>> = {}): Promise<unknown> {
    const [explanation] = await this.#measured('explain', [input], options, true);
    if (explanation instanceof PredictionError) throw explanation;
    return explanation;
  }

  /** What is served, and how it is doing. It waits in no queue. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost`, `not-cloneable`, what `describeHandle` throws */
  async describe(): Promise<Description> {
    this.#checkOpen();
    const card = await this.#supervisor.ask(({ describe }) => describe());
    const { modelName, modelVersion } = this.#archive!.manifest.model;
    const config = { ...this.#archive!.config, ...servingOf(this.#archive!.config) };
    const { workers } = this.#supervisor;
    return {
      modelName,
      modelVersion,
      ...card,
      config,
      backend: this.#backend!,
      workers,
      jobQueueStatus: this.jobQueueStatus,
      metrics: this.#metrics.snapshot(),
    };
  }

  /** Milliseconds to a worker and back; one that computes answers between two batches. @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost` */
  async ping(): Promise<number> {
    this.#checkOpen();
    const started = performance.now();
    await this.#supervisor.ask(({ ping }) => ping());
    return performance.now() - started;
  }

  /** @throws `disposed`, `not-initialized` */
  #checkOpen(): void {
    if (this.#disposed.signal.aborted) throw disposed();
    if (!this.#supervisor.serving && !this.#supervisor.failure)
      throw new TabServeError('not-initialized', 'Call initialize() first, and wait for it.');
  }

  #measured(
    request: HandleRequest['request'],
    inputs: readonly unknown[],
    options: RequestOptions,
    whole: boolean,
  ): Promise<unknown[]> {
    return this.#metrics.follow(inputs.length, () => this.#request(request, inputs, options, whole));
  }

  /** @param whole whether the inputs are one batch, which no other request joins */
  async #request(
    request: HandleRequest['request'],
    inputs: readonly unknown[],
    options: RequestOptions,
    whole: boolean,
  ): Promise<unknown[]> {
    const { signal, timeout, priority = 0, params, transfer = false } = options;
    this.#checkOpen();
    resolveSettings(REQUEST_SETTINGS, { ...options }, 'invalid-input');
    if (signal?.aborted) throw abortion(signal);
    const { refusal } = this.#supervisor;
    if (refusal) throw refusal;
    const since = performance.now();
    const order = ++this.#calls;
    const own = copied(params as Params | undefined);
    const preparing = prepareRows(inputs, {
      transfer,
      timeout,
      signals: [this.#disposed.signal, ...(signal ? [signal] : [])],
    });
    const rows = preparing instanceof Promise ? await this.#supervisor.prepared(preparing) : preparing;
    const good = rows.filter((row): row is Prepared => !(row instanceof PredictionError));
    const job =
      good.length > 0 && new Job(good, { order, request, params: own, priority, whole, signal, since, timeout });
    const answers = job ? await this.#answers(job) : [];
    return rows.map((row) => (row instanceof PredictionError ? row : answers.shift()));
  }

  async #answers(job: Job): Promise<unknown[]> {
    this.#supervisor.run(job);
    job.snapshot();
    const { rows, batchSize, timings } = await job.answer;
    this.#events.emit('response', { rows: rows.length, batchSize, queued: job.queued, timings });
    return rows.map((row) => (row.ok ? row.value : errorFromData(row.error as ErrorData)));
  }

  /** The whole story, for a bug report: versions, what the browser has, what was tried, what happened and how long it took. */
  diagnose(): string {
    const { manifest, files } = this.#archive ?? {};
    const lines = [
      `tabserve ${VERSION}, ${globalThis.navigator?.userAgent}`,
      `model: ${this.#archive?.url ?? String(this.#options.model)}${manifest ? ` (${manifest.model.modelName} ${manifest.model.modelVersion ?? ''})` : ''}`,
      ...Object.entries(files ?? {}).map(([path, { size }]) => `  ${path}: ${size} bytes`),
      ...Object.entries(this.#probe ?? {}).map(([name, facts]) => `${name}: ${JSON.stringify(facts)}`),
      `backend: ${JSON.stringify(this.#backend)}`,
      ...this.#story.lines,
    ];
    return lines.join('\n');
  }

  /** Ends the worker. What is pending is rejected with `disposed`. */
  dispose(): Promise<void> {
    this.#disposed.abort(disposed());
    this.#supervisor.close(disposed());
    return Promise.resolve();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

/** What the caller does to its params after the call changes nothing. @throws `not-cloneable` */
function copied(params: Params | undefined): Params {
  try {
    return params ? structuredClone(params) : {};
  } catch (cause) {
    throw new TabServeError(
      'not-cloneable',
      `params cannot be sent to the worker: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

function disposed(): TabServeError {
  return new TabServeError('disposed', 'The client has been disposed of.');
}

function absolute(url: string | URL): URL {
  return new URL(url, globalThis.document?.baseURI ?? globalThis.location?.href);
}

function folder({ href }: URL): string {
  return href.endsWith('/') ? href : `${href}/`;
}
