/** The passes on WebAssembly SIMD (`resample.wat`). */
import { bytesOf, instantiate } from '../shared/wasm-kernel.js';
import type { ResampleKernel, PassTaps } from './resample-kernel.js';
import { RESAMPLE_WASM } from './resample.wasm.js';

interface Exports extends Pick<ResampleKernel, 'lookUp'> {
  readonly memory: WebAssembly.Memory;
  horizontal(
    source: number,
    sourceStride: number,
    target: number,
    targetStride: number,
    rows: number,
    starts: number,
    weights: number,
    outputs: number,
    groups: number,
    step: number,
  ): void;
  horizontal4(
    source: number,
    sourceStride: number,
    target: number,
    targetStride: number,
    rows: number,
    starts: number,
    weights: number,
    outputs: number,
    pairs: number,
  ): void;
  vertical(
    source: number,
    stride: number,
    target: number,
    rows: number,
    starts: number,
    weights: number,
    groups: number,
    pairs: number,
  ): void;
}

/** Weights as `resample.wat` has them. */
interface SplitWeights {
  readonly values: Int16Array;
  /** Pairs of weights per output, without the last one if that is 0 for all outputs. */
  readonly pairs: number;
}

interface PlacedTaps extends PassTaps, Pick<SplitWeights, 'pairs'> {
  readonly startsAt: number;
  readonly weightsAt: number;
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmResampleKernel(): ResampleKernel | undefined {
  const exports = instantiate<Exports>(RESAMPLE_WASM);
  if (!exports) return undefined;
  const placed: Partial<Record<'horizontal' | 'vertical', PlacedTaps>> = {};
  // The frames of a video have the same taps.
  const split = new WeakMap<PassTaps, SplitWeights>();
  return {
    name: 'wasm',
    memory: (bytes) => bytesOf(exports.memory, bytes),
    setTaps(pass, taps, at) {
      const weights = split.get(taps) ?? splitWeights(taps);
      split.set(taps, weights);
      const weightsAt = at + ((taps.starts.length * 4 + 15) & ~15);
      new Int32Array(exports.memory.buffer, at).set(taps.starts);
      new Int16Array(exports.memory.buffer, weightsAt).set(weights.values);
      placed[pass] = { ...taps, startsAt: at, weightsAt, pairs: weights.pairs };
    },
    horizontal({ at: from, stride }, target, rows, step) {
      const { startsAt, weightsAt, starts, groups, pairs } = placed.horizontal!;
      const { length } = starts;
      if (step === 4)
        exports.horizontal4(from, stride, target.at, target.stride, rows, startsAt, weightsAt, length, pairs);
      else exports.horizontal(from, stride, target.at, target.stride, rows, startsAt, weightsAt, length, groups, step);
    },
    vertical(source, target, rows) {
      const { startsAt, weightsAt, groups, pairs } = placed.vertical!;
      exports.vertical(source.at, source.stride, target.at, rows, startsAt, weightsAt, groups, pairs);
    },
    lookUp: exports.lookUp,
  };
}

/** Returns each four weights as their four high parts, then their four low parts of 15 bits; see `resample.wat`. */
function splitWeights({ starts, weights, groups }: PassTaps): SplitWeights {
  const count = groups * 4;
  const values = new Int16Array(starts.length * count * 2);
  let pairs = groups * 2 - 1;
  for (let i = 0; i < starts.length * count; i++) {
    const at = (i >> 2) * 8 + (i & 3);
    values[at] = weights[i]! >> 15;
    values[at + 4] = weights[i]! & 0x7fff;
    if (i % count >= count - 2 && weights[i] !== 0) pairs = groups * 2;
  }
  return { values, pairs };
}
