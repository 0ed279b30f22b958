import type { OutputInfo, Session, TensorInfo, Tensors } from './tensors.js';
import type { DecodeOptions, DecodedImage, ImageInput } from './images.js';
import type { Files, Manifest, ModelConfig } from './archive.js';
import type { Metrics } from './metrics.js';

/** Knobs of one request, e.g. `{ topK: 3 }`. */
export type Params = Readonly<Record<string, unknown>>;

/**
 * The world outside a handler. A handler gets one in `initialize`, and a fresh one with every batch.
 */
export interface Context {
  readonly modelName: string;
  readonly manifest: Manifest;
  /** The archive's `model-config.yaml` under the options of `load` or `connect`. */
  readonly modelYamlConfig: ModelConfig;
  readonly systemProperties: {
    /** The archive's URL. */
    readonly modelDir: string;
    /** Rows in this batch. */
    readonly batchSize: number;
    readonly serverName: string;
    readonly serverVersion: string;
    readonly limitMaxImagePixels: number;
  };
  /** What is asked for. */
  readonly request: 'predict' | 'explain' | 'describe';
  /** One id a row. */
  readonly requestIds: readonly string[];
  /** One record a row. */
  readonly params: readonly Params[];
  /** Aborts when nobody waits for this batch any more. */
  readonly signal: AbortSignal;
  readonly files: Files;
  readonly metrics: Metrics;
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Opens the model, or another one of the archive by its path; it is opened once and owned by the runtime. */
  open(path?: string): Promise<Session>;
  /** @throws `image-decode`, `image-too-large`, `invalid-input` */
  decodeImage(source: ImageInput, options?: DecodeOptions): Promise<DecodedImage>;
  /** Fails row `index` of this batch; its place in the results holds the error, whatever the stages return there. */
  fail(index: number, error: unknown): void;
  /** The rows that failed so far. */
  readonly failures: ReadonlyMap<number, Error>;
  /** Tells the developer, once for each message. */
  warn(message: string): void;
}

/** The contract: list in, list of the same length out. Every handler class satisfies it; see `handlers/base-handler.ts`. */
export interface Handler {
  /** For the compiler alone: the `params` that a request may give. */
  readonly paramsType?: object;
  /** For the compiler alone: each value of the param `result`, and the form of the result that it asks for. */
  readonly resultForms?: object;
  initialize(context: Context): Promise<void>;
  preprocess(data: readonly never[], context: Context): unknown;
  inference(inputs: never, context: Context): unknown;
  postprocess(outputs: never, context: Context): unknown;
  handle(data: readonly never[], context: Context): Promise<readonly unknown[]>;
  /** Input of one row for a first run, which finds out whether a backend can run the model, and spares the first request what a backend does at first. */
  example?(context: Context): Tensors | undefined | Promise<Tensors | undefined>;
  /** Further inputs of one row, with numbers as in real use: backends are compared on them, since wrong ones often agree on zeros and on noise. */
  examples?(context: Context): readonly Tensors[] | Promise<readonly Tensors[]>;
}

/** What a handler takes: the element of what its `preprocess` takes. */
export type InputOf<H extends Handler> = H['preprocess'] extends (
  data: readonly (infer Input)[],
  ...rest: never[]
) => unknown
  ? Input
  : never;

/** What a handler answers a row with: the element of what its `postprocess` returns. */
export type ResultOf<H extends Handler> = H['postprocess'] extends (...args: never[]) => infer Results
  ? Awaited<Results> extends readonly (infer Result)[]
    ? Result
    : unknown
  : never;

/** The `params` that a request to a handler may give. A handler that does not declare them takes any. */
export type ParamsOf<H extends Handler> = NonNullable<H['paramsType']>;

/** The forms of a handler's result by the value of the param `result`; none of a subclass that answers with something else. */
type FormsOf<H extends Handler> = H extends { readonly resultForms?: infer Forms }
  ? ResultOf<H> extends NonNullable<Forms>[keyof NonNullable<Forms>]
    ? NonNullable<Forms>
    : object
  : object;

/** The values of the param `result` that change the form of a handler's result. */
export type FormName<H extends Handler> = keyof FormsOf<H>;

/** What a handler answers a row with where the param `result` is `Form`; `Otherwise` where it is not given. */
export type ResultFor<H extends Handler, Form, Otherwise = ResultOf<H>> = [Form] extends [never]
  ? Otherwise
  : Form extends FormName<H>
    ? FormsOf<H>[Form]
    : Otherwise;

/** What a function may return at once or later. */
export type MaybePromise<T> = T | Promise<T>;

/** Describes a handler's model: its inputs, outputs and labels. */
export interface ModelInfo {
  /** The name by which the handler was asked for; of a class of the app's own, where none was given, the class's. */
  readonly handler: string;
  /** Undefined for a handler that has no one `model`. */
  readonly inputs: readonly TensorInfo[] | undefined;
  readonly outputs: readonly OutputInfo[] | undefined;
  /** Rows that the model runs at once: `any` where its batch axis is dynamic. A batch of more is run in pieces, with 1 row by row. */
  readonly rowsPerRun: number | 'any' | undefined;
  /** Labels by class index; undefined where there are none. */
  readonly labels: unknown;
  /** What the handler's own `describeHandle` adds. */
  readonly customizedMetadata: unknown;
}
