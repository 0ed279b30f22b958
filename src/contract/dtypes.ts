import type { DType, TensorDataMap } from './tensors.js';

type NumericData = Exclude<TensorDataMap[DType], readonly string[]>;

/** The typed array that holds a dtype's elements. */
export interface ArrayClass<A extends NumericData = NumericData> {
  new (length: number): A;
  new (buffer: ArrayBuffer): A;
  readonly name: string;
  readonly BYTES_PER_ELEMENT: number;
}

interface DTypeInfo {
  /** The class of `Tensor.data`; undefined for strings, which are in a list. */
  readonly array: ArrayClass | undefined;
  /** The dtype's number in ONNX's `TensorProto.DataType`. */
  readonly onnx: number;
  /** The dtype's name in a `.safetensors` file, which cannot hold strings. */
  readonly safetensors?: string;
  /** The dtype's name in the Open Inference Protocol. */
  readonly openInference: string;
  /**
   * The dtype's name and number in TensorFlow's `types.proto`, if TensorFlow.js supports it. TensorFlow.js stores every
   * integer as int32.
   */
  readonly tensorFlow?: readonly [name: string, number: number];
}

/** Every dtype: the only place that says how each is stored, and how each format names it. */
export const DTYPES = {
  float32: { array: Float32Array, onnx: 1, openInference: 'FP32', safetensors: 'F32', tensorFlow: ['DT_FLOAT', 1] },
  float64: { array: Float64Array, onnx: 11, openInference: 'FP64', safetensors: 'F64' },
  int8: { array: Int8Array, onnx: 3, openInference: 'INT8', safetensors: 'I8', tensorFlow: ['DT_INT8', 6] },
  uint8: { array: Uint8Array, onnx: 2, openInference: 'UINT8', safetensors: 'U8', tensorFlow: ['DT_UINT8', 4] },
  int16: { array: Int16Array, onnx: 5, openInference: 'INT16', safetensors: 'I16' },
  uint16: { array: Uint16Array, onnx: 4, openInference: 'UINT16', safetensors: 'U16' },
  int32: { array: Int32Array, onnx: 6, openInference: 'INT32', safetensors: 'I32', tensorFlow: ['DT_INT32', 3] },
  uint32: { array: Uint32Array, onnx: 12, openInference: 'UINT32', safetensors: 'U32' },
  int64: { array: BigInt64Array, onnx: 7, openInference: 'INT64', safetensors: 'I64', tensorFlow: ['DT_INT64', 9] },
  uint64: { array: BigUint64Array, onnx: 13, openInference: 'UINT64', safetensors: 'U64' },
  // These two share their array class with a dtype above. An array of that class without a dtype is read as the one
  // above.
  float16: { array: Uint16Array, onnx: 10, openInference: 'FP16', safetensors: 'F16' },
  bool: { array: Uint8Array, onnx: 9, openInference: 'BOOL', safetensors: 'BOOL', tensorFlow: ['DT_BOOL', 10] },
  string: { array: undefined, onnx: 8, openInference: 'BYTES', tensorFlow: ['DT_STRING', 7] },
} as const satisfies Readonly<Record<DType, DTypeInfo>>;

const ENTRIES = Object.entries(DTYPES) as readonly (readonly [DType, DTypeInfo])[];

/** Returns how a dtype is stored; undefined for an unknown name. */
export function dtypeInfo(dtype: string): DTypeInfo | undefined {
  return Object.hasOwn(DTYPES, dtype) ? DTYPES[dtype as DType] : undefined;
}

/** Returns the dtypes by their names or numbers in a format. */
export function dtypesBy<K extends string | number>(codes: (info: DTypeInfo) => readonly K[]): ReadonlyMap<K, DType> {
  return new Map(ENTRIES.toReversed().flatMap(([dtype, info]) => codes(info).map((code) => [code, dtype] as const)));
}

/** Returns the class of a dtype's data, e.g. `Float32Array`; `Array` for strings. */
export function arrayName(dtype: DType): string {
  return dtypeInfo(dtype)?.array?.name ?? 'Array';
}

/** Returns the data of a tensor of zeros; of empty strings for the dtype string. */
export function zeroData(dtype: DType, length: number): TensorDataMap[DType] {
  const { array } = DTYPES[dtype];
  return array ? new array(length) : Array.from({ length }, () => '');
}
