import type { Archive } from '../../contract/archive.js';
import type { BackendName, Candidate, Probe } from '../../contract/backends.js';
import { formatOf } from '../../shared/model-url.js';
import { TabServeError } from '../../contract/errors.js';
import { HALF_PRECISIONS, type Precision } from '../../contract/precisions.js';

/**
 * The precisions that a backend gets by default, best first: those that it computes itself, in the fewest bytes.
 * Smaller weights that become float32 when the model is opened run wherever the model does, except on ONNX Runtime's
 * WebGL, which has neither float16 nor constant folding; their outputs are proven by golden examples, and where they
 * are wrong, the next precision is tried.
 *
 * transformers.js 3.8.1 has q8 for WASM and fp32 for everything else (`DEFAULT_DEVICE_DTYPE_MAPPING`), and refuses fp16
 * on a GPU without the feature `shader-f16`. Here, a GPU that has it gets fp16. ONNX Runtime 1.30's WebGPU has no
 * MatMulInteger, ConvInteger and DynamicQuantizeLinear (its webgpu-operators.md), so the CPU would compute 8-bit
 * models, with copies; WebGL has no operator for quantized weights (webgl-operators.md), and no float16. Under Node,
 * the answers of 8 bits depend on the CPU, whose integer kernels differ, and a download counts less.
 */
const PREFERRED: Readonly<Record<BackendName, readonly Precision[]>> = {
  webgpu: ['int8-weights', 'fp16', 'float16-weights', 'fp32'],
  webgl: ['fp32'],
  webnn: ['int8-weights', 'float16-weights', 'fp32', 'fp16'],
  wasm: ['int8-weights', 'q8', 'float16-weights', 'fp32', 'fp16'],
  cpu: ['int8-weights', 'float16-weights', 'fp32', 'fp16', 'q8'],
  remote: [],
};

/** TensorFlow.js makes float32 of all weights, on every backend. */
const TENSORFLOW: readonly Precision[] = ['int8-weights', 'float16-weights', 'fp32'];

/** A precision that a backend does not get, and why. */
export interface ExcludedPrecision {
  readonly precision: Precision;
  readonly reason: string;
}

export interface Precisions {
  /** Best first. */
  readonly wanted: readonly Precision[];
  readonly excluded: readonly ExcludedPrecision[];
}

/**
 * Returns the precisions in which a backend gets a model that has alternatives: of those that suit it, or of the chosen
 * one, what it can run. A precision that was downloaded already comes first: after a loss, the next backend takes the
 * file of the last one if it can. A pure function.
 * @param failed the precisions that were tried on this backend, and are wrong
 * @returns undefined if the model has no alternatives
 * @throws `model-config` if `engine.dtype` is none of the model's precisions
 */
export function choosePrecisions(
  { engine, name }: Candidate,
  { alternatives, config, files }: Pick<Archive, 'alternatives' | 'config' | 'files'>,
  probe: Probe,
  failed: readonly ExcludedPrecision[] = [],
): Precisions | undefined {
  const own = alternatives?.filter(({ path }) => formatOf(path) === engine) ?? [];
  if (own.length === 0) return undefined;
  // For a model that is one file, names of nodes are not precisions either.
  const chosen = config.engine?.dtype as Precision | undefined;
  if (chosen !== undefined) checkChosen(chosen, alternatives!);
  const preferred = engine === 'tfjs' ? TENSORFLOW : PREFERRED[name];
  const present = [...new Set(own.map(({ precision }) => precision))];
  const suitable = (chosen === undefined ? preferred : [chosen]).filter((one) => present.includes(one));
  const why = (precision: Precision): string | undefined =>
    failed.find((one) => one.precision === precision)?.reason ?? whyItCannot({ engine, name }, precision, probe);
  const wanted = suitable.filter((one) => why(one) === undefined);
  const isAtHand = (precision: Precision): boolean =>
    own.some((one) => one.precision === precision && Object.hasOwn(files, one.path));
  const excluded = (wanted.length > 0 ? suitable : present).flatMap((precision) => {
    if (wanted.includes(precision)) return [];
    return [{ precision, reason: why(precision) ?? 'it runs here only if engine.dtype chooses it' }];
  });
  return { wanted: [...wanted.filter(isAtHand), ...wanted.filter((one) => !isAtHand(one))], excluded };
}

function checkChosen(chosen: Precision, alternatives: NonNullable<Archive['alternatives']>): void {
  const present = [...new Set(alternatives.map(({ precision }) => precision))];
  if (present.includes(chosen)) return;
  const meant = present.find((one) => one.startsWith(chosen));
  throw new TabServeError(
    'model-config',
    `engine.dtype is ${JSON.stringify(chosen)}, but the model is there in ${present.join(', ')}.${meant === undefined ? '' : ` Did you mean "${meant}"?`}`,
  );
}

/** Describes why a backend does not get some of a model's precisions. */
export function describeExcluded(excluded: readonly ExcludedPrecision[]): string {
  return excluded.map(({ precision, reason }) => `${precision}: ${reason}`).join('; ');
}

function whyItCannot({ engine, name }: Candidate, precision: Precision, { webgpu }: Probe): string | undefined {
  if (engine === 'tfjs')
    return TENSORFLOW.includes(precision) ? undefined : 'TensorFlow.js has no models of this precision';
  if (name === 'webgl' && !PREFERRED.webgl.includes(precision))
    return "ONNX Runtime's WebGL has neither half precision nor quantized weights";
  if (name === 'webgpu' && HALF_PRECISIONS.includes(precision) && !(webgpu.available && webgpu.fp16))
    return 'this GPU has no half precision (shader-f16)';
  return undefined;
}
