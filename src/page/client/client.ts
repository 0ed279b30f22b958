import type { Backend, Probe } from '../../contract/backends.js';
import { PredictionError, TabServeError } from '../../contract/errors.js';
import type { Handler } from '../../contract/handler.js';
import type {
  ExplanationOf,
  FormName,
  HasExplanations,
  PartOf,
  ResultFor,
  ResultOf,
} from '../../contract/handler-types.js';
import type { Tensors } from '../../contract/tensors.js';
import { diagnosis } from './log.js';
import { ClientReports } from './client-reports.js';
import { ClientSender } from './client-sender.js';
import { ServingMetrics, type ClientMetrics } from '../metrics/client-metrics.js';
import type { ClientEvents, Description, WorkerStatus } from '../requests/sender.js';
import type { ClientFrames, FramesOptions } from '../streams/frame-source.js';
import type {
  ClientInput,
  ExplainOptions,
  InitializeOptions,
  KeepableInput,
  RequestOptions,
  RequestParams,
} from '../requests/request-options.js';
import type { JobQueueStatus } from '../requests/queue.js';
import { prepare } from '../requests/inputs.js';
import type { KeptInput } from '../requests/retained-value.js';
import { explainInput } from './explain.js';
import { readList } from '../requests/requester.js';
import { Initializer } from './initializer.js';
import { Requester } from '../requests/requester.js';
import type { FrameAnswer } from '../streams/frame-reader.js';
import { answerFrames } from '../streams/frames.js';
import { streamAnswer } from '../streams/answer-stream.js';
import { Sequence, type SequenceOptions } from '../sequences/sequence.js';
import type { Sender } from '../requests/sender.js';
import { loadScript } from '../../shared/load-script.js';
import type { ShareEnvironment } from '../sharing/election.js';
import { type OpenerOptions } from '../options/client-options.js';
import { pageCores, type CoreBudget } from '../workers/budget.js';
import { browserClock } from '../../shared/clock.js';
import type { WorkerFactory } from '../workers/worker-factory.js';

/** What a client gets from its environment: the worker factory, the cores, and what sharing needs. */
export interface ClientEnvironment {
  /** Whether the factory makes the built-in worker. @default false: it is the app's own */
  readonly isBuiltIn?: boolean;
  /** The cores that its workers share with other clients. @default the page's */
  readonly cores?: CoreBudget;
  /** What sharing needs of the browser; or why that is missing. @default what the browser has */
  readonly shareEnvironment?: ShareEnvironment | string;
  /** Aborts when the client is disposed of; its sequences listen to it. @default one of its own */
  readonly disposed?: AbortController;
}

/** The page's side of a model: sends requests to its workers, and returns their answers. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every client is a `Client`, whatever its handler
export class Client<H extends Handler = any, Result = ResultOf<H>> implements AsyncDisposable {
  readonly #model: OpenerOptions['model'];
  readonly #reports = new ClientReports();
  readonly #metrics: ServingMetrics;
  readonly #disposed: AbortController;
  readonly #sending: ClientSender;
  readonly #requester: Requester;
  readonly #initializer: Initializer;

  constructor(factory: WorkerFactory, options: OpenerOptions, environment: ClientEnvironment = {}) {
    const { disposed = new AbortController(), cores = pageCores, isBuiltIn = false } = environment;
    this.#model = options.model;
    this.#disposed = disposed;
    this.#metrics = new ServingMetrics(() => this.#sender.archive?.manifest.model, this.#reports.warn);
    this.#sending = new ClientSender({
      factory,
      options,
      cores,
      metrics: this.#metrics,
      events: this.#reports,
      isBuiltIn,
      environment: environment.shareEnvironment,
      disposed: disposed.signal,
    });
    this.#initializer = new Initializer({
      disposed: disposed.signal,
      isServing: () => this.#sender.serving,
      open: (signal, onProgress) => this.#sending.open({ signal, onProgress }),
    });
    this.#requester = new Requester({
      sender: () => this.#sender,
      metrics: this.#metrics,
      disposed: disposed.signal,
      checkOpen: () => this.#checkOpen(),
      onResponse: (response) => this.#reports.emit('response', response),
    });
  }

  get #sender(): Sender {
    return this.#sending.current;
  }

  /** The backend that runs the model, and why the preferred ones do not; undefined before `initialize`. */
  get backend(): Backend | undefined {
    return this.#sender.backend;
  }

  /** The browser's capabilities, as a worker sees them; undefined before `initialize`. */
  get probe(): Probe | undefined {
    return this.#sender.probe;
  }

  /** How full the queue is now. Check it to hold back a request that would be refused with `queue-full`. */
  get jobQueueStatus(): JobQueueStatus {
    return this.#sender.queueStatus;
  }

  /**
   * What its workers are doing now, for tools such as the panel of `tabserve/devtools`. With the option `share`, only
   * the host tab has any.
   */
  get workerStatus(): readonly WorkerStatus[] {
    return this.#sender.workerStatus;
  }

  /** The metrics of this client. They stay in the page. */
  get metrics(): ClientMetrics {
    return this.#metrics;
  }

  /** Adds a listener. Returns a function that removes it. @throws `invalid-input` for an unknown event */
  on<E extends keyof ClientEvents>(event: E, listener: (event: ClientEvents[E]) => void): () => void {
    return this.#reports.on(event, listener);
  }

  /**
   * Downloads the model and opens it on the first backend that runs it correctly. A call during another one waits for
   * that one; a call after a success returns at once. A call after a failure tries again, and downloads only what is
   * missing.
   * @throws `model-not-found`, `model-format`, `model-config`, `network`, `unknown-handler`, `handler-failed`,
   *   `no-backend`, `worker-failed`, `aborted`, `disposed`; `unsupported` where there are no workers, as on a server or in a
   *   service worker; `invalid-input` for a wrong option of the call
   */
  async initialize(options: InitializeOptions = {}): Promise<void> {
    await this.#initializer.initialize(options);
  }

  /**
   * Predicts one input.
   * @throws `PredictionError`, `not-initialized`, `disposed`, `aborted`, `timeout`, `queue-full`, `worker-lost`,
   *   `invalid-input`, `not-cloneable`
   */
  async predict<Form extends FormName<H> = never>(
    input: ClientInput<H>,
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<ResultFor<H, Form, Result>> {
    const [result] = await this.#requester.send([input], options, {});
    if (result instanceof PredictionError) throw result;
    return result as ResultFor<H, Form, Result>;
  }

  /**
   * Keeps an input that is asked about several times, such as a photo that is clicked. Pass what it returns instead of
   * the input, or instead of the input's image. A handler that caches what it computes from an input, as
   * `promptable_segmenter` does, computes it once in each worker. For other handlers, it is as if the input itself was
   * passed. Requests of other clients accept it as well.
   * @throws `disposed`, `invalid-input`, also if it contains a kept input; `image-decode`, `not-cloneable`,
   *   `worker-failed` if a script of TabServe cannot be loaded
   */
  async keep(input: KeepableInput<H>): Promise<KeptInput> {
    if (this.#disposed.signal.aborted) throw disposed();
    const prepared = prepare(input);
    if (!(prepared instanceof Promise)) prepared.snapshot();
    const [own, keepInput] = await Promise.all([
      prepared,
      loadScript(async () => (await import('../requests/keep.js')).keepInput),
    ]);
    return keepInput(own);
  }

  /**
   * Opens a sequence: requests that build on one another, such as the segments of a recording. Many sequences share
   * workers and batches.
   * @throws `not-initialized`, `disposed`, `invalid-input`
   */
  openSequence(options: SequenceOptions = {}): Sequence<H> {
    this.#checkOpen();
    return new Sequence<H>(options, {
      clock: browserClock,
      disposed: this.#disposed.signal,
      request: (input, given, sequence) => this.#requester.send([input], given, { sequence }),
      frames: (source, given, sequence) => answerFrames(this.#requester, source, given, sequence),
    });
  }

  /**
   * Runs the inputs as one batch, and returns a list of the same length: TorchServe's contract. The result of a row
   * that fails is a `PredictionError`.
   * @throws what `predict` throws, except a row's own failure; `batch-contract`; `invalid-input` for an empty batch
   */
  async handle<Form extends FormName<H> = never>(
    inputs: readonly ClientInput<H>[],
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): Promise<(ResultFor<H, Form, Result> | PredictionError)[]> {
    const rows = readList(inputs);
    return (await this.#requester.send(rows, options, { exclusive: true })) as (
      | ResultFor<H, Form, Result>
      | PredictionError
    )[];
  }

  /**
   * Runs the model on its inputs, with their batch axis, and returns its outputs. No stage of the handler runs: for
   * tensors that are prepared elsewhere.
   * @throws what `predict` throws; `invalid-input` if a tensor is missing, unknown, or has the wrong dtype or dims;
   *   `unsupported` if the handler has no model of its own
   */
  async infer(inputs: Tensors, options: Omit<RequestOptions, 'params'> = {}): Promise<Tensors> {
    const [outputs] = await this.#requester.send([inputs], options, { request: 'infer', exclusive: true });
    if (outputs instanceof PredictionError) throw outputs;
    return outputs as Tensors;
  }

  /**
   * Returns the answer to one input piece by piece: the parts that the handler sends with `context.send`, in order, and
   * its result as the last item. Handlers that write send pieces of their text; those that take long send
   * `{ done, total }`; of others, the result is the only item. The request is sent when the stream is first read, and
   * aborted when the loop is left. While the caller reads nothing, the handler waits. A `timeout` counts from the first
   * read until the last part. If the worker is lost, the request is sent again; after a part was read, only if the
   * handler has said how to go on after it.
   *
   * Reading throws what `predict` throws; `worker-lost` if the worker is lost after a part was read, and the handler has
   * not said how to go on; `invalid-input` if the stream is read twice.
   */
  stream<Form extends FormName<H> = never>(
    input: ClientInput<H>,
    options: RequestOptions<RequestParams<H, Form>> = {},
  ): AsyncIterable<PartOf<H> | ResultFor<H, Form, Result>> {
    return streamAnswer(this.#requester, [input], options);
  }

  /**
   * Returns the answers to the frames of a camera, a video or a stream, in their order: the latest frame wins, and the
   * others are dropped and counted. A frame is sent once: one that is lost with its worker is dropped too, and the
   * stream continues. It ends with the source, and stops the work when the loop is left.
   *
   * Reading throws what `predict` throws for a frame, which ends the stream; `aborted`; `disposed`; `invalid-input` for
   * a wrong option or source, or if the stream is read twice; `unsupported` if this browser cannot deliver the frames
   * of the source.
   */
  frames<Form extends FormName<H> = never>(
    source: ClientFrames<H>,
    options: FramesOptions<RequestParams<H, Form>> = {},
  ): AsyncIterable<FrameAnswer<ResultFor<H, Form, Result>>> {
    return answerFrames(this.#requester, source, options);
  }

  /**
   * Explains the model's answer to one input: which parts of it support a class.
   * @throws what `predict` throws; `unsupported` if the handler has no explanations. The input of such a handler does
   *   not compile
   */
  async explain(
    input: HasExplanations<H> extends true ? ClientInput<H> : never,
    options: ExplainOptions<H> = {} as ExplainOptions<H>,
  ): Promise<ExplanationOf<H>> {
    return (await explainInput(this.#requester, input, options)) as ExplanationOf<H>;
  }

  /**
   * Returns a description of the model, its config, its backend and its metrics. It does not wait in the queue.
   * @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost`, `not-cloneable`, what `describeHandle` throws
   */
  async describe(): Promise<Description> {
    this.#checkOpen();
    const description = await this.#sender.describe();
    const { alone } = this.#sending;
    return { ...description, ...(alone !== undefined && { sharing: { role: 'alone', reason: alone } }) };
  }

  /**
   * Returns the round trip to a worker, in milliseconds. A worker that is running a batch answers after it.
   * @throws `not-initialized`, `disposed`, `no-backend`, `worker-lost`
   */
  async ping(): Promise<number> {
    this.#checkOpen();
    const started = performance.now();
    await this.#sender.ping();
    return performance.now() - started;
  }

  /** @throws `disposed`, `not-initialized` */
  #checkOpen(): void {
    if (this.#disposed.signal.aborted) throw disposed();
    if (!this.#sender.serving && !this.#sender.failure)
      throw new TabServeError(
        'not-initialized',
        'The client is not initialized. Call initialize() first, and wait for it.',
      );
  }

  /**
   * Returns text for a bug report: versions, the browser's capabilities, the backends that were tried, and the log with
   * its times.
   */
  diagnose(): string {
    const { archive, probe, backend } = this.#sender;
    return diagnosis({ model: this.#model, archive, probe, backend, events: this.#reports.entries });
  }

  /**
   * Ends the workers, and rejects every pending call with `disposed`. A worker that has a VideoFrame closes it first,
   * and the host tab of a share first answers what it has accepted from other tabs; each for a second at most.
   */
  dispose(): Promise<void> {
    this.#disposed.abort(disposed());
    return this.#sender.close(disposed());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.dispose();
  }
}

function disposed(): TabServeError {
  return new TabServeError('disposed', 'The client has been disposed of.');
}
