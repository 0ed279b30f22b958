import { dtypeInfo } from '../../contract/dtypes.js';
import type { DType } from '../../contract/tensors.js';
import { describeValue, shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_FILES } from '../../contract/limits.js';
import { areCounts } from '../tensors/safetensors.js';
import { parseJson } from './json.js';

/** The files with one group of weights, one after the other. */
export interface ShardGroup {
  /** Paths in the archive. */
  readonly paths: readonly string[];
  /** Bytes that the weights take up, without those of strings. */
  readonly bytes: number;
  /** Whether there are strings: only their bytes tell their length. */
  readonly atLeast: boolean;
}

interface WeightSpec {
  readonly name: string;
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly quantization?: { readonly dtype: string; readonly scale?: unknown; readonly min?: unknown };
}

/** Dtypes of weights that are ours too, by the same name; TensorFlow.js has complex numbers and strings besides. */
const DTYPES = ['float32', 'int32', 'bool', 'uint8', 'uint16', 'float16'] as const satisfies readonly DType[];
const BYTES: ReadonlyMap<string, number> = new Map<string, number>([
  ...DTYPES.map((dtype) => [dtype, dtypeInfo(dtype)!.array!.BYTES_PER_ELEMENT] as const),
  ['complex64', 8],
  ['string', 0],
]);

/**
 * Reads from a TensorFlow.js model's `weightsManifest` which files have its weights.
 * @param path the path of `model.json` in its archive, which the shards' paths are relative to
 * @throws `model-format` if the text is no such model, or names a file twice, or more than `MAX_FILES`
 */
export function readWeightsManifest(text: string, path: string): readonly ShardGroup[] {
  const model = parseJson(text, path) as { modelTopology?: unknown; weightsManifest?: unknown } | null;
  const { modelTopology, weightsManifest } = model ?? {};
  if (typeof modelTopology !== 'object' || modelTopology === null)
    throw new TabServeError('model-format', `${path} is not a TensorFlow.js model: it has no modelTopology.`);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  const named = new Set<string>();
  const checkPath = (shard: unknown): string => {
    if (typeof shard !== 'string') throw new TypeError(`${describeValue(shard)} is no path`);
    if (named.has(shard)) throw new TypeError(`it names "${shorten(shard)}" twice`);
    if (named.add(shard).size > MAX_FILES) throw new TypeError(`it names more than ${MAX_FILES} files`);
    return shard;
  };
  try {
    return ((weightsManifest ?? []) as { paths: string[]; weights: WeightSpec[] }[]).map(({ paths, weights }) => ({
      paths: paths.map((shard) => folder + checkPath(shard)),
      bytes: weights.reduce((sum, weight) => sum + bytesOf(weight), 0),
      atLeast: weights.some(({ dtype }) => dtype === 'string'),
    }));
  } catch (cause) {
    throw new TabServeError('model-format', `${path} has a damaged weightsManifest: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function bytesOf(spec: WeightSpec): number {
  const { name, dtype, shape, quantization } = spec;
  if (typeof name !== 'string') throw new TypeError(`weights have the name ${describeValue(name)}`);
  if (!areCounts(shape)) throw new TypeError(`"${shorten(name)}" has the shape ${describeValue(shape)}`);
  if (quantization !== undefined && !isQuantization(quantization))
    throw new TypeError(`"${shorten(name)}" has the quantization ${describeValue(quantization)}`);
  const bytes = BYTES.get(quantization?.dtype ?? dtype);
  if (bytes === undefined) throw new TypeError(`weights of dtype ${quantization?.dtype ?? dtype} are unknown`);
  const size = shape.reduce((product, axis) => product * axis, bytes);
  if (!Number.isSafeInteger(size)) throw new TypeError(`"${shorten(name)}" has the shape ${describeValue(shape)}`);
  return size;
}

/**
 * Returns whether TensorFlow.js can restore weights that are stored like this: as float16, or as integers with a scale
 * and the least value.
 */
function isQuantization({ dtype, scale, min }: NonNullable<WeightSpec['quantization']>): boolean {
  if (dtype === 'float16') return true;
  return (dtype === 'uint8' || dtype === 'uint16') && Number.isFinite(scale) && Number.isFinite(min);
}
