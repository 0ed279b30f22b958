import type { Archive } from '../../contract/archive.js';
import type { BackendName, Candidate, Probe } from '../../contract/backends.js';
import { HALF_PRECISIONS, type Precision } from '../../contract/precisions.js';

/**
 * What a backend gets if nobody has chosen, best first: what it computes itself, in the fewest bytes.
 *
 * transformers.js 3.8.1 has q8 for WASM and fp32 for everything else (`DEFAULT_DEVICE_DTYPE_MAPPING`), and refuses fp16 on a GPU without the feature
 * `shader-f16`. Here, a GPU that has it gets fp16. ONNX Runtime 1.30's WebGPU has no MatMulInteger, ConvInteger and DynamicQuantizeLinear (its
 * webgpu-operators.md), so the CPU would compute 8-bit models, with copies; WebGL has no operator for quantized weights (webgl-operators.md), and no float16.
 */
const PREFERRED: Readonly<Record<BackendName, readonly Precision[]>> = {
  webgpu: ['fp16', 'fp32'],
  webgl: ['fp32'],
  wasm: ['q8', 'fp32', 'fp16'],
  cpu: [],
  remote: [],
};

/** A precision that a backend does not get, with the reason. */
export interface UnfitPrecision {
  readonly precision: Precision;
  readonly reason: string;
}

export interface Precisions {
  /** Best first. */
  readonly wanted: readonly Precision[];
  readonly unfit: readonly UnfitPrecision[];
}

/**
 * Returns the precisions in which a backend gets a model that has alternatives: of those that suit it, or of the chosen one, what it can run.
 * A precision that was downloaded already comes first: after a loss, the next backend takes the file of the last one if it can. A pure function.
 * @returns undefined if the model has no alternatives
 */
export function choosePrecisions(
  { engine, name }: Candidate,
  { alternatives, config, files }: Pick<Archive, 'alternatives' | 'config' | 'files'>,
  probe: Probe,
): Precisions | undefined {
  if (engine !== 'onnx' || !alternatives) return undefined;
  const chosen = config.engine?.dtype;
  const present = [...new Set(alternatives.map(({ precision }) => precision))];
  const suitable = (chosen === undefined ? PREFERRED[name] : [chosen]).filter((one) => present.includes(one));
  const wanted = suitable.filter((one) => whyItCannot(name, one, probe) === undefined);
  const isAtHand = (precision: Precision): boolean =>
    alternatives.some((one) => one.precision === precision && Object.hasOwn(files, one.path));
  const unfit = (wanted.length > 0 ? suitable : present).flatMap((precision) => {
    if (wanted.includes(precision)) return [];
    return [
      { precision, reason: whyItCannot(name, precision, probe) ?? 'it runs here only if engine.dtype chooses it' },
    ];
  });
  return { wanted: [...wanted.filter(isAtHand), ...wanted.filter((one) => !isAtHand(one))], unfit };
}

/** Describes why a backend does not get some of a model's precisions. */
export function describeUnfit(unfit: readonly UnfitPrecision[]): string {
  return unfit.map(({ precision, reason }) => `${precision}: ${reason}`).join('; ');
}

function whyItCannot(name: BackendName, precision: Precision, { webgpu }: Probe): string | undefined {
  if (name === 'webgl' && precision !== 'fp32')
    return "ONNX Runtime's WebGL has neither half precision nor quantized weights";
  if (name === 'webgpu' && HALF_PRECISIONS.includes(precision) && !(webgpu.available && webgpu.fp16))
    return 'this GPU has no half precision (shader-f16)';
  return undefined;
}
