import type { HearingProgress } from './hearing-progress.js';
import type { InputOf, ParamsOf, ResultOf } from './handler-types.js';
import type { CandidateName } from './backends.js';
import type { OpenOptions, OutputInfo, Session, TensorInfo, Tensors } from './tensors.js';
import type { DecodeOptions, DecodedImage, ImageInput } from './images.js';
import type { Files, Manifest, ModelConfig } from './archive.js';
import type { KeptValues } from './kept-values.js';
import type { Metrics } from './metrics.js';
import type { PredictionError } from './errors.js';
import type { HttpAnswer, HttpRequest } from './http.js';
import type { HuggingFaceTask } from './hugging-face-task.js';
import type { Signature } from './task.js';

/** Parameters of one request, e.g. `{ topK: 3 }`. */
export type Params = Readonly<Record<string, unknown>>;

/**
 * A handler's access to its model, its archive and the current batch. A handler gets one in `initialize`, and a fresh
 * one with every batch.
 */
export interface Context {
  readonly modelName: string;
  readonly manifest: Manifest;
  /** The archive's `model-config.yaml`, overridden by the options of `load` or `connect`. */
  readonly modelYamlConfig: ModelConfig;
  readonly systemProperties: {
    /** The archive's URL. */
    readonly modelDir: string;
    /** Rows in this batch. */
    readonly batchSize: number;
    readonly serverName: string;
    readonly serverVersion: string;
    readonly limitMaxImagePixels: number;
    /** The engine and the backend that the handler runs on, such as `onnx/webgpu`. */
    readonly backend: CandidateName;
  };
  /** What is asked of the handler. */
  readonly kind: 'predict' | 'explain' | 'describe';
  /** One id per row. */
  readonly requestIds: readonly string[];
  /** One record per row. */
  readonly params: readonly Params[];
  /** Aborts when no caller waits for this batch any more. */
  readonly signal: AbortSignal;
  readonly files: Files;
  /** What the handler caches in its worker between requests. It is the same in all of its contexts. */
  readonly kept: KeptValues;
  readonly metrics: Metrics;
  /** Returns the milliseconds of a monotonic clock. */
  now(): number;
  /**
   * Opens the archive's model; or by its name the model of a node, which then needs no handler of its own; or the model
   * at a path. Each model is opened once, and TabServe disposes of it.
   * @param name of a node: to be opened in `initialize`, as `openHandler` does; the handler's `example` gets it
   */
  open(name?: string, options?: OpenOptions): Promise<Session>;
  /**
   * Opens the handler of a node that the config's `nodes` names, with the node's own archive. Call it in `initialize`;
   * a node that is open already is returned.
   * @param handlerClass by default, the built-in handler that the node's archive names
   * @throws an error that names the node: `model-config` if `nodes` has no such node, `unknown-handler`, and what the
   *   handler's `initialize` throws
   */
  openHandler<H extends Handler = Handler>(node: string, handlerClass?: new () => H): Promise<NodeHandler<H>>;
  /** @throws `image-decode`, `image-too-large`, `invalid-input` */
  decodeImage(source: ImageInput, options?: DecodeOptions): Promise<DecodedImage>;
  /** Fails row `index` of this batch: its result is the error, whatever the stages return for it. */
  fail(index: number, error: unknown): void;
  /**
   * Returns the id of the sequence that row `index` belongs to, or undefined if it belongs to none: TorchServe's
   * `get_sequence_id`.
   */
  sequenceId(index: number): string | undefined;
  /**
   * Returns the state of row `index`'s sequence: what `setState` set when the sequence's last request was answered.
   * Undefined for a sequence's first request, and for a row of no sequence. It must not be changed, because a request
   * that runs again gets the same state.
   */
  state(index: number): unknown;
  /**
   * Sets the state of row `index`'s sequence. It goes to the page with the row's result, and is there for the
   * sequence's next request, in whatever worker that runs. So it is a value that can be cloned: tensors, typed arrays,
   * numbers. A sequence whose row fails, or whose state is not set, keeps its state. For a row of no sequence the value
   * is discarded.
   */
  setState(index: number, value: unknown): void;
  /**
   * Returns the request over HTTP that brought row `index`: TorchServe's `get_all_request_header`, and the rest of the
   * path. Undefined for a row that came from the page.
   */
  request(index: number): HttpRequest | undefined;
  /**
   * Sets the status and headers of the answer over HTTP to row `index`: TorchServe's `set_response_status` and
   * `set_response_header`. A later call adds to it. If the answer is streamed, it has an effect only before the first
   * part is sent. If the row fails, only a status from 400 on has an effect. For a row that came from the page, it is
   * discarded.
   * @throws `handler-failed` for a status outside 200 to 599, and for headers that are not valid
   */
  respond(index: number, answer: HttpAnswer): void;
  /** The rows that failed so far. */
  readonly failures: ReadonlyMap<number, Error>;
  /**
   * Sends a part of the answer to row `index` to the page, before the result: TorchServe's
   * `send_intermediate_predict_response`. `client.stream` yields the parts in order, and the result as the last item.
   * Resolves when the page has room for the part, so a slow reader slows the handler down. For a request that is not
   * streamed, it does nothing.
   *
   * The part is cloned; what `transferResult` has marked in it is transferred.
   * @param resume what another worker needs to continue after this part if this one is lost: it finds it in
   *   `resumed`. Without it, an answer of which a part was read fails with `worker-lost`. It is cloned
   * @throws `aborted` if no caller waits for the answer any more; `not-cloneable` if the part cannot be cloned;
   *   `handler-failed` if there is no such row
   */
  send(index: number, part: unknown, resume?: unknown): Promise<void>;
  /**
   * Returns what came with the last part of row `index`'s answer that reached the page from a worker that was lost:
   * continue after that part. Undefined for an answer that begins.
   */
  resumed(index: number): unknown;
  /**
   * Tells the page that this batch makes progress. To be called in a stage that may take longer than `responseTimeout`,
   * or its worker is ended; the end of a stage is a heartbeat itself.
   * @param progress how far the batch is, if it is known: a workflow gets it of its nodes
   */
  heartbeat(progress?: HearingProgress): void;
  /** Warns the developer, once for each message: the client's event `warn`, and the console. */
  warn(message: string): void;
}

/** A workflow's access to the handler of one of its nodes. */
export interface NodeHandler<H extends Handler = Handler> {
  /** The node's name. */
  readonly node: string;
  /** The handler itself, initialized. */
  readonly handler: H;
  /**
   * Runs rows as one batch of the node: tensors and pixels do not leave the worker. The result of a row that fails is a
   * `PredictionError`, which names the node; the workflow decides what follows, e.g. `context.fail(index, result)`. If
   * a stage throws for the batch, the rows are run one by one.
   * @param context the workflow's context for the batch: its signal ends the node's batch, and its metrics receive
   *   the node's times
   * @returns a result for each row; an empty list for no rows
   * @throws an error that names the node, if no single row caused it
   */
  handle(
    rows: readonly InputOf<H>[],
    context: Context,
    options?: {
      readonly params?: ParamsOf<H>;
      /** Gets how far the batch is, if the node's handler tells it with `heartbeat`. */
      readonly onProgress?: (progress: HearingProgress) => void;
    },
  ): Promise<readonly (ResultOf<H> | PredictionError)[]>;
}

/** What golden examples compare where one run of the model shows too little, such as an answer that takes many runs. */
export interface GoldenModel {
  /** What an example has under `inputs/`, as a model describes its inputs. */
  readonly inputs: readonly TensorInfo[];
  /** Makes a row's example's `inputs/`. */
  feeds(row: unknown, context: Context): Promise<Tensors>;
  /** Computes what an example has under `outputs/`. */
  run(feeds: Tensors): Promise<Tensors>;
}

/**
 * The contract of every handler class: takes a list, and returns a list of the same length. See
 * `handlers/base-handler.ts`.
 */
export interface Handler {
  /** For the compiler only: the `params` that a request may give. */
  readonly paramsType?: object;
  /** For the compiler only: the options of `explain` in addition to those of every request. */
  readonly explainParamsType?: object;
  /** For the compiler only: each value of the param `result`, with the form of the result that it selects. */
  readonly resultForms?: object;
  /** For the compiler only: the type of the parts that `context.send` sends, if it is not that of the result. */
  readonly partType?: unknown;
  initialize(context: Context): Promise<void>;
  preprocess(data: readonly never[], context: Context): unknown;
  inference(inputs: never, context: Context): unknown;
  postprocess(outputs: never, context: Context): unknown;
  handle(data: readonly never[], context: Context): Promise<readonly unknown[]>;
  /**
   * Returns the input of one row for a warm-up run. It shows whether a backend can run the model, and makes the first
   * request faster. A large one is left out on WASM, if nothing else could run the model.
   * @param node the name of a node whose model the handler has opened with `context.open`: the input is for that model
   */
  example?(context: Context, node?: string): Tensors | undefined | Promise<Tensors | undefined>;
  /** Whether `example` returns the model's own inputs, because `inference` takes something other than tensors. */
  readonly exampleIsForModel?: boolean;
  /**
   * How many batches of requests its worker gets at once. With more than two, `handle` must let them share the engine:
   * the worker calls it for each of them when it comes.
   * @default 2, of which a worker on WASM gets the second only if it is full; under Node 4, of which it gets a
   *   further one only if it is full
   */
  readonly batchesAtOnce?: number;
  /**
   * Whether `inference` runs the model on each row of a batch alone, or on several only where that gives the same
   * numbers. Other handlers get one row at a time if their model quantizes at run time.
   */
  readonly runsRowsAlone?: boolean;
  /**
   * A golden example that has its inputs compares what it computes; one with other inputs compares the model itself.
   * `tabserve archive` makes the former.
   */
  readonly goldenModel?: GoldenModel;
  /**
   * Returns more inputs of one row, with realistic values. Backends are compared on them: a wrong backend is often
   * right on zeros and on noise.
   */
  examples?(context: Context): readonly Tensors[] | Promise<readonly Tensors[]>;
}

/** What a handler takes as a row: an image, a text, audio, a text or one of the others, or tensors for the model's inputs. */
export type InputKind = 'image' | 'text' | 'image-or-text' | 'audio' | 'audio-or-text' | 'tensors';

/** What the messages of a conversation may have besides texts: pictures, or sound. */
export type Medium = 'image' | 'audio';

/** What a handler makes of a row, as far as OpenAI's API asks for it. */
export type ResultKind = 'text' | 'vector' | 'ranking' | 'transcript' | 'speech';

/** What a handler class says of itself, in static members. A class inherits those that it does not declare. */
export interface HandlerDescriptor {
  readonly takes?: InputKind | undefined;
  readonly makes?: ResultKind | undefined;
  readonly huggingFace?: HuggingFaceTask | undefined;
  /** What its models look like, by which the nearest handler of a model is found whose files name no task. */
  readonly nearest?: readonly Signature[] | undefined;
}

/** A handler class. Its constructor takes no arguments. */
export type HandlerClass = (new () => Handler) & HandlerDescriptor;

/** A value, or a promise of it. */
export type MaybePromise<T> = T | Promise<T>;

/** Describes a handler's model: its inputs, outputs and labels. */
export interface ModelInfo {
  /** The built-in handler's name; the name of the class, if the app has its own class. */
  readonly handler: string;
  /** Missing if the handler's class, and those that it extends, do not say it in `static takes`. */
  readonly takes?: InputKind | undefined;
  /** What the messages of a conversation may have besides texts; missing if the model reads no conversations, or texts alone. */
  readonly media?: readonly Medium[];
  /** Missing if it is something else, or the class does not say it in `static makes`. */
  readonly makes?: ResultKind | undefined;
  /** The values of the param `result`; none if the handler has no such param, or a `postprocess` of its own. */
  readonly resultForms?: readonly string[];
  /** The model's inputs as it declares them; undefined if the handler has no single `model`. */
  readonly inputs: readonly TensorInfo[] | undefined;
  /** The model's outputs, likewise. */
  readonly outputs: readonly OutputInfo[] | undefined;
  /**
   * Number of rows that the model runs at once; `any` if its batch axis is dynamic. A larger batch runs in sub-batches.
   */
  readonly rowsPerRun: number | 'any' | undefined;
  /**
   * The maximum number of tokens of prompt and answer together; missing if the handler generates no text, or its model
   * names none.
   */
  readonly contextLength?: number;
  /** Labels by class index; undefined if there are none. */
  readonly labels: unknown;
  /** The return value of the handler's `describeHandle`. */
  readonly customizedMetadata: unknown;
  /**
   * The handlers of a workflow's nodes, by the node's name, or by its path such as `reader/detect`; missing if there
   * are no nodes.
   */
  readonly nodes?: Readonly<Record<string, ModelInfo>>;
}
