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
  vertical(
    source: number,
    stride: number,
    target: number,
    rows: number,
    starts: number,
    weights: number,
    groups: number,
  ): void;
}

interface PlacedTaps extends PassTaps {
  readonly startsAt: number;
  readonly weightsAt: number;
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmResampleKernel(): ResampleKernel | undefined {
  const exports = instantiate<Exports>(RESAMPLE_WASM);
  if (!exports) return undefined;
  const placed: Partial<Record<'horizontal' | 'vertical', PlacedTaps>> = {};
  return {
    name: 'wasm',
    memory: (bytes) => bytesOf(exports.memory, bytes),
    setTaps(pass, taps, at) {
      const weightsAt = at + ((taps.starts.length * 4 + 15) & ~15);
      new Int32Array(exports.memory.buffer, at).set(taps.starts);
      splitWeights(taps, new Int16Array(exports.memory.buffer, weightsAt));
      placed[pass] = { ...taps, startsAt: at, weightsAt };
    },
    horizontal(source, target, rows, step) {
      const { startsAt, weightsAt, starts, groups } = placed.horizontal!;
      exports.horizontal(
        source.at,
        source.stride,
        target.at,
        target.stride,
        rows,
        startsAt,
        weightsAt,
        starts.length,
        groups,
        step,
      );
    },
    vertical(source, target, rows) {
      const { startsAt, weightsAt, groups } = placed.vertical!;
      exports.vertical(source.at, source.stride, target.at, rows, startsAt, weightsAt, groups);
    },
    lookUp: exports.lookUp,
  };
}

/** Writes each four weights as their four high parts, then their four low parts of 15 bits; see `resample.wat`. */
function splitWeights({ starts, weights, groups }: PassTaps, target: Int16Array): void {
  for (let i = 0; i < starts.length * groups * 4; i++) {
    const at = (i >> 2) * 8 + (i & 3);
    target[at] = weights[i]! >> 15;
    target[at + 4] = weights[i]! & 0x7fff;
  }
}
