import { readFileSync } from 'node:fs';
import type { CandidateName } from '../../src/contract/backends.ts';
import type { DType } from '../../src/contract/tensors.ts';

/** A tensor as the golden files hold it. */
export interface GoldenTensor {
  readonly dtype: DType;
  readonly dims: readonly number[];
  readonly data?: readonly (number | string | boolean)[];
  readonly seed?: number;
}

export interface GoldenCase {
  readonly inputs: Readonly<Record<string, GoldenTensor>>;
  readonly outputs: Readonly<Record<string, GoldenTensor>>;
}

export function readGoldens<T>(path: string): T {
  return JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as T;
}

export const goldens = readGoldens<{ models: Record<string, GoldenCase[]> }>('../models/goldens.json').models;

/** The values of a tensor: as they stand, or from the generator that `test/models/make.py` describes. */
export function valuesOf({ data, seed, dims }: GoldenTensor): readonly (number | string | boolean)[] {
  if (data) return data;
  let x = seed!;
  return Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, () =>
    Math.fround((x = (Math.imul(1664525, x) + 1013904223) >>> 0) / 2 ** 31 - 1),
  );
}

const NO_DYNAMIC_DIMS = 'ONNX Runtime WebGL: no dynamic dims';
const NO_INT64 = 'ONNX Runtime WebGL: no int64';
const FREE = 'WebNN: dims must be fixed';
const WIDE = 'TensorFlow.js computes integers as int32: what is outside is refused, as another test shows';
const LOGARITHM = 'shaders do with log(0) and log(−1) what they like';
const NO_FLOAT16 = 'TensorFlow.js has no float16: refused when opened';

/** What an engine on a backend cannot do, and why: measured. The same table is in `test/models/README.md`. */
export const unable: Readonly<Record<string, Partial<Record<CandidateName, string>>>> = {
  affine: { 'onnx/webgl': NO_DYNAMIC_DIMS, 'onnx/webnn': FREE },
  affine_fixed: {},
  tiny_classifier: {},
  tiny_classifier_batch: { 'onnx/webgl': NO_DYNAMIC_DIMS, 'onnx/webnn': FREE },
  two_inputs: {},
  dtypes: { 'onnx/webgl': NO_INT64 },
  wide_integers: {
    'onnx/webgl': NO_INT64,
    'tfjs/webgpu': WIDE,
    'tfjs/webgl': WIDE,
    'tfjs/wasm': WIDE,
    'tfjs/cpu': WIDE,
  },
  decisions: { 'onnx/webgl': 'ONNX Runtime WebGL: no ArgMax, no dynamic dims', 'onnx/webnn': FREE },
  where: { 'onnx/webgl': 'ONNX Runtime WebGL: no NonZero' },
  branch: { 'onnx/webgl': 'ONNX Runtime WebGL: no If' },
  strings: { 'onnx/webgl': 'ONNX Runtime WebGL: no strings', 'onnx/webnn': FREE },
  float16: {
    'onnx/webgl': 'ONNX Runtime WebGL: no float16',
    'onnx/webgpu': 'SwiftShader has no shader-f16',
    'tfjs/webgpu': NO_FLOAT16,
    'tfjs/webgl': NO_FLOAT16,
    'tfjs/wasm': NO_FLOAT16,
    'tfjs/cpu': NO_FLOAT16,
  },
  conv_relu_conv: {
    'onnx/webgl': 'ONNX Runtime WebGL computes it wrongly (a shader-cache bug); proof.spec.ts catches it',
  },
  hardsigmoid: { 'onnx/webgl': 'ONNX Runtime WebGL: no HardSigmoid' },
  nan: { 'onnx/webgl': LOGARITHM, 'onnx/webgpu': LOGARITHM, 'tfjs/webgl': LOGARITHM, 'tfjs/webgpu': LOGARITHM },
  dynamic_image: { 'onnx/webgl': NO_DYNAMIC_DIMS, 'onnx/webnn': FREE },
  slow: { 'onnx/webgl': 'ONNX Runtime WebGL: no Loop' },
  // The handlers' own models.
  argmax: { 'onnx/webgl': 'ONNX Runtime WebGL: no int64, no dynamic dims' },
  languages: { 'onnx/webgl': NO_INT64 },
  'word-piece': { 'onnx/webgl': NO_INT64 },
  'byte-level-bpe': { 'onnx/webgl': NO_INT64 },
  unigram: { 'onnx/webgl': NO_INT64 },
  'embedding-bag': { 'onnx/webgl': NO_INT64 },
};

/** Models that TensorFlow.js has a second time, as layers models. */
const LAYERS: ReadonlySet<string> = new Set(['affine', 'tiny_classifier_batch', 'two_inputs']);

/** The files of a tiny model for an engine. */
export function filesOf(model: string, candidate: CandidateName): readonly string[] {
  if (candidate.startsWith('onnx/')) return [`/test/models/${model}.onnx`];
  return [`/test/models/tfjs/${model}.json`, ...(LAYERS.has(model) ? [`/test/models/tfjs/${model}.layers.json`] : [])];
}
