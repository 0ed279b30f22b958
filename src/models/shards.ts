import { dtypeInfo } from '../contract/dtypes.js';
import type { DType } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';

/** The files that hold one group of weights, one after the other. */
export interface ShardGroup {
  /** Paths in the archive. */
  readonly paths: readonly string[];
  /** Bytes that the weights take up. Strings are not counted: only their bytes tell their length. */
  readonly bytes: number;
}

interface WeightSpec {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly quantization?: { readonly dtype: string };
}

/** Dtypes of weights that are ours too, by the same name; TensorFlow.js has complex numbers and strings besides. */
const DTYPES = ['float32', 'int32', 'bool', 'uint8', 'uint16', 'float16'] as const satisfies readonly DType[];
const BYTES: ReadonlyMap<string, number> = new Map<string, number>([
  ...DTYPES.map((dtype) => [dtype, dtypeInfo(dtype)!.array!.BYTES_PER_ELEMENT] as const),
  ['complex64', 8],
  ['string', 0],
]);

/**
 * Reads from a TensorFlow.js model's `weightsManifest` which files hold its weights.
 * @param path the path of `model.json` in its archive, which the shards' paths are relative to
 * @throws `model-format` if the text is no such model
 */
export function readWeightsManifest(text: string, path: string): readonly ShardGroup[] {
  let model: { modelTopology?: unknown; weightsManifest?: unknown } | null;
  try {
    model = JSON.parse(text) as typeof model;
  } catch (cause) {
    throw new TabServeError('model-format', `${path} is not JSON: ${(cause as Error).message}`, { cause });
  }
  const { modelTopology, weightsManifest } = model ?? {};
  if (typeof modelTopology !== 'object' || modelTopology === null)
    throw new TabServeError('model-format', `${path} is not a TensorFlow.js model: it has no modelTopology.`);
  const folder = path.slice(0, path.lastIndexOf('/') + 1);
  try {
    return ((weightsManifest ?? []) as { paths: string[]; weights: WeightSpec[] }[]).map(({ paths, weights }) => ({
      paths: paths.map((shard) => folder + checkPath(shard)),
      bytes: weights.reduce((sum, weight) => sum + bytesOf(weight), 0),
    }));
  } catch (cause) {
    throw new TabServeError('model-format', `${path} has a damaged weightsManifest: ${(cause as Error).message}`, {
      cause,
    });
  }
}

function checkPath(path: unknown): string {
  if (typeof path !== 'string') throw new TypeError(`${JSON.stringify(path)} is no path`);
  return path;
}

function bytesOf({ dtype, shape, quantization }: WeightSpec): number {
  const bytes = BYTES.get(quantization?.dtype ?? dtype);
  if (bytes === undefined) throw new TypeError(`weights of dtype ${quantization?.dtype ?? dtype} are unknown`);
  const size = shape.reduce((product, axis) => product * axis, bytes);
  if (!(size >= 0)) throw new TypeError(`weights of shape ${JSON.stringify(shape)} have no size`);
  return size;
}
