/**
 * A kernel computes the two passes of a resize, and the pass that makes the tensor. There are two, with the same
 * results: WebAssembly SIMD (`resample.wat`), and JavaScript for pages whose Content Security Policy forbids WebAssembly.
 */
import { createJsResampleKernel } from './resample-kernel-js.js';
import { bytesOf, instantiate } from '../tensors/wasm-kernel.js';
import { RESAMPLE_WASM } from './resample.wasm.js';

/** The taps of a pass: for each output the byte offset of its first input, and its weights in groups of four. */
export interface PassTaps {
  readonly starts: Int32Array;
  readonly weights: Int32Array;
  /** The number of groups of four weights per output. */
  readonly groups: number;
}

/** Rows of 8-bit pixels in a kernel's memory. */
export interface Rows {
  /** Byte offset of the first row, a multiple of 16. */
  readonly at: number;
  /** Bytes from one row to the next, a multiple of 16. */
  readonly stride: number;
}

/**
 * Works on memory of its own, in which the caller places rows and taps. Both passes of a resize round to 8 bits. They
 * read up to `SLACK` bytes beyond the rows (with weight 0), and may write to the padding at the end of a row.
 */
export interface ResampleKernel {
  readonly name: 'wasm' | 'js';
  /**
   * Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views
   * are lost.
   */
  memory(bytes: number): Uint8Array;
  /** Sets the taps of a pass. They are written to `at`, a multiple of 16, and take `tapsBytes(taps)` bytes. */
  setTaps(pass: 'horizontal' | 'vertical', taps: PassTaps, at: number): void;
  /**
   * Resizes `rows` rows of pixels of `step` bytes (1, 3 or 4). Rows are computed in pairs: leave room for one more row
   * where their number is odd.
   */
  horizontal(source: Rows, target: Rows, rows: number, step: number): void;
  /** Computes `rows` output rows of `source.stride` bytes each; `target.stride` is the same. */
  vertical(source: Rows, target: Rows, rows: number): void;
  /**
   * Looks up `count` bytes that are `step` bytes apart in a table of 256 float32. The results are `advance` float32
   * apart. Up to three more bytes than `count` are read, and as many numbers written.
   */
  lookUp(source: number, step: number, count: number, table: number, target: number, advance: number): void;
}

/** How many bytes a pass may read beyond its rows and the three rows after them. */
export const SLACK = 64;

/** Returns how many bytes of a kernel's memory taps take, a multiple of 16. */
export function tapsBytes({ starts, groups }: PassTaps): number {
  return ((starts.length * 4 + 15) & ~15) + starts.length * groups * 16;
}

/** Creates the fastest kernel that runs in this environment. */
export function createResampleKernel(): ResampleKernel {
  return createWasmResampleKernel() ?? createJsResampleKernel();
}

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
