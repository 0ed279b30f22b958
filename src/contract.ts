/**
 * The types that the page and the worker share. Imports nothing.
 */

export const BACKENDS = ['webgpu', 'webgl', 'wasm', 'cpu'] as const;
export type BackendName = (typeof BACKENDS)[number];

/** ONNX Runtime, for `.onnx`, and TensorFlow.js, for `model.json` with its weight shards. */
export const ENGINES = ['onnx', 'tfjs'] as const;
export type EngineName = (typeof ENGINES)[number];

/** Every engine on every backend that it has, in the order in which they are tried by default where the GPU is real. */
export const CANDIDATES = ['onnx/webgpu', 'tfjs/webgpu', 'tfjs/webgl', 'onnx/webgl', 'onnx/wasm', 'tfjs/wasm', 'tfjs/cpu'] as const;
/** An engine on a backend, e.g. `onnx/webgpu`. */
export type CandidateName = (typeof CANDIDATES)[number];

/** The stages of a handler, in the order in which they run. */
export const STAGES = ['initialize', 'preprocess', 'inference', 'postprocess'] as const;
export type Stage = (typeof STAGES)[number];

/** Milliseconds that a batch spent in each stage; a stage that did not run is missing. */
export type Timings = Readonly<Partial<Record<Stage, number>>>;

// ── Tensors ────────────────────────────────────────────────────────────────────────────────────

/** How each dtype is stored. The names are ONNX Runtime's; float16 is its 16 bits. */
export interface TensorDataMap {
  float32: Float32Array;
  float64: Float64Array;
  float16: Uint16Array;
  int8: Int8Array;
  uint8: Uint8Array;
  int16: Int16Array;
  uint16: Uint16Array;
  int32: Int32Array;
  uint32: Uint32Array;
  int64: BigInt64Array;
  uint64: BigUint64Array;
  /** One byte an element, 0 or 1. */
  bool: Uint8Array;
  string: readonly string[];
}
export type DType = keyof TensorDataMap;

/** Plain data: `data.length` is the product of `dims`, row-major. */
export interface Tensor<D extends DType = DType> {
  readonly dtype: D;
  readonly dims: readonly number[];
  readonly data: TensorDataMap[D];
}

/** Tensors by name: what a model is fed and what it answers. */
export type Tensors = Readonly<Record<string, Tensor>>;

/** A tensor as it should be: `dims` are the whole one's, `data` may be a sample of it, every `stride`-th element from the first on. */
export interface ExpectedTensor extends Tensor {
  /** @default 1 */
  readonly stride?: number;
}

/** What a model must answer: one run's inputs and outputs. */
export interface Golden {
  readonly inputs: Tensors;
  readonly outputs: Readonly<Record<string, ExpectedTensor>>;
}

/** A model's input or output as it declares itself; a dynamic dimension is its symbol, or null when it has none. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: DType;
  readonly dims: readonly (number | string | null)[];
}

/** A model's output; `dtype` is undefined where the model does not declare it and only a run tells. */
export interface OutputInfo extends Omit<TensorInfo, 'dtype'> {
  readonly dtype: DType | undefined;
}

/** One loaded model on one engine and backend. Its owner disposes of it. */
export interface Session extends AsyncDisposable {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /**
   * Runs the model once. Concurrent calls wait for one another.
   * @throws `invalid-input` if a feed is missing, unknown, or of the wrong dtype or dims; `device-lost`, `out-of-memory`.
   */
  run(feeds: Tensors): Promise<Tensors>;
}

// ── Images ─────────────────────────────────────────────────────────────────────────────────────

/** A rectangle in pixels; the origin is the top left corner. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** How the bytes of a pixel follow one another; X is a byte to ignore. */
export type PixelFormat = 'RGB' | 'BGR' | 'RGBX' | 'BGRX' | 'L';

/** 8-bit interleaved pixels, top row first. Opaque: transparency has been composited already. */
export interface Pixels {
  readonly format: PixelFormat;
  readonly width: number;
  readonly height: number;
  /** Bytes from one row to the next. */
  readonly stride: number;
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** An image whose pixels are read on demand, upright, and only where they are needed. */
export interface DecodedImage {
  /** Upright width and height, in pixels. */
  readonly width: number;
  readonly height: number;
  /** The pixels of `rect`, or all of them. The buffer is valid until the next `read` or `close`. */
  read(rect?: Rect): Pixels | Promise<Pixels>;
  close(): void;
}

/** How images are turned into pixels. */
export interface DecodeOptions {
  /** Turns photos upright by their EXIF tag. @default true */
  readonly exifOrientation?: boolean;
  /** The colour, RGB in 0..255, that shows through transparent pixels. @default [255, 255, 255] */
  readonly background?: readonly [number, number, number];
  /** An image of more pixels than this is refused with `image-too-large`. @default 178956970, Pillow's */
  readonly maxPixels?: number;
}

/** A typed array with its dims; dtype is derived from the array where it is not given. */
export interface TypedArrayInput {
  readonly data: Exclude<TensorDataMap[DType], readonly string[]> | Uint8ClampedArray;
  readonly dims: readonly number[];
  readonly dtype?: DType;
}

/**
 * What a vision handler takes: an encoded image, something drawn, 8-bit pixels `[height, width, 1 | 3 | 4]` (RGB or RGBA),
 * or a float tensor that is ready for the model and passes untransformed.
 */
export type ImageInput = Blob | ImageBitmap | ImageData | VideoFrame | OffscreenCanvas | TypedArrayInput;

/** What a page may hand over as well: it is turned into something that can cross to the worker. */
export type ElementInput = HTMLImageElement | HTMLVideoElement | HTMLCanvasElement;

// ── Archives ───────────────────────────────────────────────────────────────────────────────────

/** `MAR-INF/MANIFEST.json`, as TorchServe writes it. */
export interface Manifest {
  readonly createdOn?: string;
  readonly runtime?: string;
  readonly archiverVersion?: string;
  readonly model: {
    readonly modelName: string;
    readonly modelVersion?: string;
    readonly serializedFile?: string;
    readonly handler?: string;
    readonly modelFile?: string;
    readonly requirementsFile?: string;
    readonly configFile?: string;
    readonly extensions?: string;
  };
}

/** `model-config.yaml`. Keys are TorchServe's; `handler` belongs to the handler class, `engine` to the engine. */
export interface ModelConfig {
  readonly handler?: Readonly<Record<string, unknown>>;
  readonly engine?: EngineOptions;
  readonly [key: string]: unknown;
}

/** Options of the engine, for every backend alike. */
export interface EngineOptions {
  /** @default 'all' */
  readonly graphOptimizationLevel?: 'disabled' | 'basic' | 'extended' | 'all';
  /** Fixes symbolic dimensions: name → size. */
  readonly freeDimensions?: Readonly<Record<string, number>>;
  /** Threads on WASM. More than one needs cross-origin isolation. @default min(4, ⌈cores / 2⌉) */
  readonly threads?: number;
}

/** A model archive as downloaded: the page keeps it, workers get it. */
export interface Archive {
  /** The URL that it came from. */
  readonly url: string;
  readonly manifest: Manifest;
  readonly config: ModelConfig;
  /** The model in each format that the archive has it in: the path of its `.onnx`, or of its `model.json`. */
  readonly models: Readonly<Partial<Record<EngineName, string>>>;
  /** By path. Of a model in several formats, only those that an engine has asked for. */
  readonly files: Readonly<Record<string, Blob>>;
  /** Golden examples, by path: what a backend must answer before it is trusted. */
  readonly golden: readonly string[];
  /** What is known of files beforehand, by path. */
  readonly integrity: Readonly<Record<string, Integrity>>;
}

/** What a file must be. */
export interface Integrity {
  /** Its size. */
  readonly bytes?: number;
  /** SHA-256, in hexadecimal. */
  readonly sha256?: string;
}

/** Read access to an archive's files, by their path in it. */
export interface Files {
  has(path: string): boolean;
  /** @throws `model-not-found` if the archive has no such file; so do `text` and `json`. */
  bytes(path: string): Promise<Uint8Array>;
  text(path: string): Promise<string>;
  /** @throws `model-format` if the file is not JSON. */
  json(path: string): Promise<unknown>;
}

/** Bytes of one file of the archive. `total` is undefined while its size is unknown. */
export interface Progress {
  readonly file: string;
  readonly loaded: number;
  readonly total: number | undefined;
}

// ── Metrics ────────────────────────────────────────────────────────────────────────────────────

export const METRIC_TYPES = ['counter', 'gauge', 'histogram'] as const;
/** A counter is summed, a gauge is its last value, a histogram has quantiles. */
export type MetricType = (typeof METRIC_TYPES)[number];

/** What tells series of one metric apart. A metric keeps 100 sets of them; the observations of further ones are kept together, as `{ other: 'true' }`. */
export type MetricLabels = Readonly<Record<string, string>>;

/** One call of a handler's to its `context.metrics`. */
export interface Observation {
  readonly name: string;
  readonly type: MetricType;
  readonly unit: string;
  readonly value: number;
  readonly labels?: MetricLabels;
}

export interface LabelOptions {
  /** Names of letters, digits and underscores. @default none */
  readonly labels?: MetricLabels;
}

export interface TimeOptions extends LabelOptions {
  /** @default 'ms' */
  readonly unit?: 'ms' | 's';
}

export interface SizeOptions extends LabelOptions {
  /** @default 'MB' */
  readonly unit?: 'B' | 'kB' | 'MB' | 'GB';
}

export interface MetricOptions extends LabelOptions {
  /** Whatever the number counts. */
  readonly unit: string;
  /** @default 'counter', as TorchServe's */
  readonly type?: MetricType;
}

/**
 * What a handler counts and measures: it goes to the page with the batch's answer, into `client.metrics`, and no further. A metric's type and unit are those
 * of its first observation; its name has letters, digits, underscores and colons.
 *
 * Each method throws `invalid-input`, naming the metric, for NaN, ±∞, a number below 0 where the metric is no gauge, a name or a label that Prometheus could not
 * read, a metric that is of another type or unit already, the name of a metric that TabServe records by itself, and more than 500 metrics.
 */
export interface Metrics {
  /** Adds to a counter. @param value at least 0. @default 1 */
  addCounter(name: string, value?: number, options?: LabelOptions): void;
  /** Records a duration, in a histogram. @param value at least 0, in milliseconds or the `unit` given */
  addTime(name: string, value: number, options?: TimeOptions): void;
  /** Records a size, in a histogram. @param value at least 0, in megabytes or the `unit` given; nothing is converted */
  addSize(name: string, value: number, options?: SizeOptions): void;
  /** Records a percentage, in a histogram. @param value at least 0; 50 is a half */
  addPercent(name: string, value: number, options?: LabelOptions): void;
  /** Counts an error, with the labels `Level: 'Error'` and `error`: its message. */
  addError(name: string, message: string, options?: LabelOptions): void;
  /** Records a number of any unit, in a metric of any type. */
  addMetric(name: string, value: number, options: MetricOptions): void;
}

/** A counter's sum, or a gauge's last value. */
export interface ValueSeries {
  readonly labels: MetricLabels;
  readonly unit: string;
  readonly value: number;
}

/** Quantiles are those of all that was observed, within 1 %. */
export interface HistogramSeries {
  readonly labels: MetricLabels;
  readonly unit: string;
  readonly count: number;
  readonly sum: number;
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Metrics by name, each with a series for each set of labels; only what was recorded. */
export interface MetricsSnapshot {
  readonly counters: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly gauges: Readonly<Record<string, readonly ValueSeries[]>>;
  readonly histograms: Readonly<Record<string, readonly HistogramSeries[]>>;
}

// ── Handlers ───────────────────────────────────────────────────────────────────────────────────

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
  initialize(context: Context): Promise<void>;
  preprocess(data: readonly never[], context: Context): unknown;
  inference(inputs: never, context: Context): unknown;
  postprocess(outputs: never, context: Context): unknown;
  handle(data: readonly never[], context: Context): Promise<readonly unknown[]>;
  /** Input of one row for a first run, which finds out whether a backend can run the model, and spares the first request what a backend does at first. */
  example?(context: Context): Tensors | undefined | Promise<Tensors | undefined>;
}

/** What a handler takes: the element of what its `preprocess` takes. */
export type InputOf<H extends Handler> = H['preprocess'] extends (data: readonly (infer Input)[], ...rest: never[]) => unknown ? Input : never;

/** What a handler answers a row with: the element of what its `postprocess` returns. */
export type ResultOf<H extends Handler> = H['postprocess'] extends (...args: never[]) => infer Results
  ? Awaited<Results> extends readonly (infer Result)[]
    ? Result
    : unknown
  : never;

/** What a handler knows of its model. */
export interface ModelCard {
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

// ── Backends ───────────────────────────────────────────────────────────────────────────────────

/** What this browser has, as seen inside a worker. */
export interface Probe {
  readonly webgpu:
    | {
        readonly available: true;
        readonly vendor: string;
        readonly architecture: string;
        readonly description: string;
        /** A CPU in disguise. */
        readonly software: boolean;
        readonly fp16: boolean;
        /** Largest sizes of the adapter, in bytes. */
        readonly limits: { readonly maxBufferSize: number; readonly maxStorageBufferBindingSize: number; readonly maxComputeWorkgroupStorageSize: number };
      }
    | { readonly available: false; readonly reason: string };
  readonly webgl:
    | {
        readonly available: true;
        readonly renderer: string;
        readonly software: boolean;
        /** Whether it can render to float textures, as TensorFlow.js needs it to. */
        readonly floatRendering: boolean;
        /** Longest side of a texture, in pixels. */
        readonly maxTextureSize: number;
      }
    | { readonly available: false; readonly reason: string };
  readonly wasm:
    | { readonly available: true; readonly simd: boolean; readonly jspi: boolean; /** Whether there can be more than one thread. */ readonly threads: boolean }
    | { readonly available: false; readonly reason: string };
  readonly crossOriginIsolated: boolean;
  readonly cores: number;
}

/** A candidate that does not run, and why. */
export interface Skipped {
  readonly engine: EngineName;
  readonly name: BackendName;
  readonly reason: string;
}

/** What runs, and why everything before it does not. */
export interface Backend {
  readonly engine: EngineName;
  readonly name: BackendName;
  /** Threads that the engine computes with (WASM). */
  readonly threads: number;
  /** By what its answers were found right: the archive's golden examples, or a comparison with WASM. */
  readonly proof: 'golden' | 'reference' | 'none';
  /** Milliseconds of a run of the model, the median, where it was measured. */
  readonly median?: number;
  readonly skipped: readonly Skipped[];
}
