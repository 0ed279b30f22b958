import { readFileSync } from 'node:fs';
import type { BackendName, DType } from '../../src/contract.ts';

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
  return Array.from({ length: dims.reduce((product, dim) => product * dim, 1) }, () => Math.fround((x = (Math.imul(1664525, x) + 1013904223) >>> 0) / 2 ** 31 - 1));
}

/** What a backend cannot do, and why: measured, see `test/models/README.md`. */
export const unable: Readonly<Record<string, Partial<Record<BackendName, string>>>> = {
  affine: { webgl: 'ONNX Runtime WebGL: no dynamic dims' },
  tiny_classifier_batch: { webgl: 'ONNX Runtime WebGL: no dynamic dims' },
  dtypes: { webgl: 'ONNX Runtime WebGL: no int64' },
  strings: { webgl: 'ONNX Runtime WebGL: no strings' },
  float16: { webgl: 'ONNX Runtime WebGL: no float16', webgpu: 'SwiftShader has no shader-f16' },
  conv_relu_conv: { webgl: 'ONNX Runtime WebGL computes it wrongly (a shader-cache bug); Proven backends will catch it' },
  hardsigmoid: { webgl: 'ONNX Runtime WebGL: no HardSigmoid' },
  nan: { webgl: 'shaders do with log(0) and log(−1) what they like', webgpu: 'shaders do with log(0) and log(−1) what they like' },
  dynamic_image: { webgl: 'ONNX Runtime WebGL: no dynamic dims' },
  slow: { webgl: 'ONNX Runtime WebGL: no Loop' },
  argmax: { webgl: 'ONNX Runtime WebGL: no int64, no dynamic dims' },
  languages: { webgl: 'ONNX Runtime WebGL: no int64' },
  'word-piece': { webgl: 'ONNX Runtime WebGL: no int64' },
  'byte-level-bpe': { webgl: 'ONNX Runtime WebGL: no int64' },
  unigram: { webgl: 'ONNX Runtime WebGL: no int64' },
  'embedding-bag': { webgl: 'ONNX Runtime WebGL: no int64' },
};
