import { TabServeError } from '../../../contract/errors.js';
import { toFloat16 } from '../../../worker/tensors/float16.js';
import type { Unconverted } from './onnx-weights.js';
import { isFor8Bits, MIN_ELEMENTS, sizeOf, whyNot, type SmallWeights } from './small-weights.js';

/** One weight in a `weightsManifest`. */
interface WeightSpec {
  readonly name: string;
  readonly shape: readonly number[];
  readonly dtype: string;
  readonly quantization?: { readonly dtype: string; readonly scale?: number; readonly min?: number };
}

interface WeightGroup {
  readonly paths: readonly string[];
  readonly weights: readonly WeightSpec[];
}

interface Stored {
  readonly spec: WeightSpec;
  readonly data: Uint8Array;
}

export interface SmallerTensorFlowModel {
  readonly json: string;
  /** The new shards, by their path beside the model. */
  readonly shards: ReadonlyMap<string, Uint8Array>;
  readonly converted: number;
  readonly unconverted: readonly Unconverted[];
}

/**
 * Stores the float32 weights of a TensorFlow.js model, a graph or a layers model, in fewer bytes, as its converter does
 * with `--quantize_float16` and `--quantize_uint8`: the manifest says how (`quantization`), and TensorFlow.js makes
 * float32 of them when it loads the model. 8 bits have one scale and one offset for each tensor.
 * @param json the text of `model.json`
 * @param shards the files with the weights, by their path beside the model
 * @param rename returns the new path of a shard
 * @throws `unsupported` for weights of strings, whose length only their bytes tell
 */
export function shrinkTensorFlow(
  json: string,
  shards: ReadonlyMap<string, Uint8Array>,
  weights: SmallWeights,
  rename: (path: string) => string,
): SmallerTensorFlowModel {
  const model = JSON.parse(json) as { readonly weightsManifest?: readonly WeightGroup[] };
  const unconverted: Unconverted[] = [];
  const written = new Map<string, Uint8Array>();
  let converted = 0;
  const weightsManifest = (model.weightsManifest ?? []).map((group) => {
    const stored = shrinkGroup(group, shards, weights, unconverted);
    converted += stored.filter(({ spec }, index) => spec !== group.weights[index]).length;
    const largest = Math.max(...group.paths.map((path) => shards.get(path)!.length));
    const data = Buffer.concat(stored.map((one) => one.data));
    const paths = group.paths.slice(0, Math.max(1, Math.ceil(data.length / largest))).map(rename);
    for (const [index, path] of paths.entries())
      written.set(path, data.subarray(index * largest, (index + 1) * largest));
    return { ...group, paths, weights: stored.map(({ spec }) => spec) };
  });
  return { json: JSON.stringify({ ...model, weightsManifest }), shards: written, converted, unconverted };
}

function shrinkGroup(
  { paths, weights: specs }: WeightGroup,
  shards: ReadonlyMap<string, Uint8Array>,
  weights: SmallWeights,
  unconverted: Unconverted[],
): readonly Stored[] {
  const data = Buffer.concat(paths.map((path) => shards.get(path)!));
  let at = 0;
  return specs.map((spec) => {
    const bytes = bytesOf(spec);
    const own = data.subarray(at, at + bytes);
    at += bytes;
    if (spec.dtype !== 'float32' || spec.quantization || sizeOf(spec.shape) < MIN_ELEMENTS) return { spec, data: own };
    // A copy, because a Float32Array begins at a multiple of four bytes.
    const values = new Float32Array(Uint8Array.from(own).buffer);
    const why = whyNot(values);
    if (why === undefined) return convert(spec, values, weights);
    unconverted.push({ name: spec.name, bytes, why });
    return { spec, data: own };
  });
}

function convert(spec: WeightSpec, values: Float32Array, weights: SmallWeights): Stored {
  if (weights === 'float16' || !isFor8Bits(spec.shape)) {
    const { buffer } = toFloat16(values);
    return { spec: { ...spec, quantization: { dtype: 'float16' } }, data: new Uint8Array(buffer as ArrayBuffer) };
  }
  let [least, most] = [0, 0];
  for (const value of values) [least, most] = [Math.min(least, value), Math.max(most, value)];
  const scale = (most - least) / 255 || 1;
  // Zero is one of the 256 numbers, as in the converter's quantization.py: the zeros of a sparse weight stay zeros.
  const zero = Math.round(-least / scale);
  const data = Uint8Array.from(values, (value) => Math.max(0, Math.min(255, Math.round(value / scale) + zero)));
  return { spec: { ...spec, quantization: { dtype: 'uint8', scale, min: -zero * scale } }, data };
}

const BYTES: Readonly<Record<string, number>> = {
  float32: 4,
  int32: 4,
  bool: 1,
  uint8: 1,
  uint16: 2,
  float16: 2,
  complex64: 8,
};

function bytesOf({ name, dtype, shape, quantization }: WeightSpec): number {
  const size = BYTES[quantization?.dtype ?? dtype];
  if (size !== undefined) return sizeOf(shape) * size;
  throw new TabServeError(
    'unsupported',
    `The weights "${name}" are of dtype ${dtype}, which tabserve optimize cannot read.`,
  );
}
