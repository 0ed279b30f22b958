/// <reference lib="esnext.disposable" preserve="true" />
// This reference lets the declarations compile in an app whose `lib` has no AsyncDisposable.

/** The type that holds each dtype's data. The names are ONNX Runtime's. A float16 is stored as its 16 bits. */
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
  /** One byte per element, 0 or 1. */
  bool: Uint8Array;
  string: readonly string[];
}
/** The type of a tensor’s elements. */
export type DType = keyof TensorDataMap;

/** A tensor as plain data: `data` is row-major, and its length is the product of `dims`. */
export interface Tensor<D extends DType = DType> {
  readonly dtype: D;
  readonly dims: readonly number[];
  readonly data: TensorDataMap[D];
}

/** Tensors by name: a model's inputs or outputs. */
export type Tensors = Readonly<Record<string, Tensor>>;

/**
 * An expected tensor. `dims` are those of the whole tensor. `data` may be a sample: every `stride`-th element, starting
 * with the first.
 */
export interface ExpectedTensor extends Tensor {
  /** @default 1 */
  readonly stride?: number;
}

/** A golden example: the inputs of one run, and the outputs that the model must return for them. */
export interface Golden {
  readonly inputs: Tensors;
  readonly outputs: Readonly<Record<string, ExpectedTensor>>;
}

/** A model's input or output as the model declares it. A dynamic dimension is its symbol, or null if it has none. */
export interface TensorInfo {
  readonly name: string;
  readonly dtype: DType;
  readonly dims: readonly (number | string | null)[];
}

/** A model's output. `dtype` is undefined if the model does not declare it: then it is known only after a run. */
export interface OutputInfo extends Omit<TensorInfo, 'dtype'> {
  readonly dtype: DType | undefined;
  /** The operator that computes its numbers, as the model's format names it; undefined if the model does not show it. */
  readonly op?: string | undefined;
}

/** Options of a run of a model. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Whether the caller frees the outputs. Those that `OpenOptions.keeps` names stay on the GPU, if the session computes
   * on one, as `GpuTensor`s; on WASM, the memory of all of them is freed with
   * their last user, before any garbage collection.
   * @default false: all outputs are plain data
   */
  readonly keep?: boolean;
}

/**
 * Options of opening a model. They are for TabServe's own handlers, because the functions that read and free tensors on
 * a GPU are not public yet.
 */
export interface OpenOptions {
  /** Returns whether an output may stay on the GPU. It is called when the model is opened, which happens once. */
  readonly keeps?: ((output: string) => boolean) | undefined;
  /**
   * An output `[rows, tokens, …]` of which only the last token's part is read: the engine need not compute the rest, and
   * a run then returns one token's.
   */
  readonly lastTokenOf?: string | undefined;
}

/** A model that is loaded on one engine and backend. The caller that opened it must dispose of it. */
export interface Session extends AsyncDisposable {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly OutputInfo[];
  /** The metadata of the model's file, as texts: ONNX's `metadata_props`. Undefined if it says nothing. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether the model quantizes what it computes at run time, with one scale for all numbers of a tensor. What runs
   * beside a row then changes its numbers: rows run alone, and as a whole.
   */
  readonly quantizesAtRunTime?: boolean | undefined;
  /**
   * Runs the model once. Concurrent calls wait for one another. `signal` aborts the request to a server; a run on this
   * device that has begun cannot be interrupted, and one that waits does not begin.
   * @throws `invalid-input` if a feed is missing, unknown, or has the wrong dtype or dims; `device-lost`,
   *   `out-of-memory`, `aborted`.
   */
  run(feeds: Tensors, options?: RunOptions): Promise<Tensors>;
}

/** A typed array and its dims. If no dtype is given, the array's class determines it. */
export interface TypedArrayInput {
  readonly data: Exclude<TensorDataMap[DType], readonly string[]> | Uint8ClampedArray;
  readonly dims: readonly number[];
  readonly dtype?: DType;
}

/**
 * A typed array on an `ArrayBuffer`, which can be transferred. TypeScript before 5.7 does not know
 * `Float32Array<ArrayBuffer>`.
 */
export type OnArrayBuffer<Data extends ArrayBufferView> = Data & { readonly buffer: ArrayBuffer };
