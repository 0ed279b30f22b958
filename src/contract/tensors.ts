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

/** A typed array with its dims; dtype is derived from the array where it is not given. */
export interface TypedArrayInput {
  readonly data: Exclude<TensorDataMap[DType], readonly string[]> | Uint8ClampedArray;
  readonly dims: readonly number[];
  readonly dtype?: DType;
}
