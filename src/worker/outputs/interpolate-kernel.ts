/**
 * A kernel computes bilinear sampling, one row at a time, in float64. There are two, with the same results: WebAssembly
 * SIMD (`interpolate.wat`), and JavaScript, for pages whose Content Security Policy forbids WebAssembly, and for what
 * needs more memory than should be retained.
 */
import { bytesOf, instantiate } from '../tensors/wasm-kernel.js';
import { INTERPOLATE_WASM } from './interpolate.wasm.js';

/**
 * Works on memory of its own, in which the caller places rows. All offsets are in bytes, multiples of 8, and `count` is
 * at least 1.
 */
export interface InterpolateKernel {
  readonly name: 'wasm' | 'js';
  /**
   * Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views
   * are lost.
   */
  memory(bytes: number): ArrayBuffer;
  /**
   * Writes for each of `count` float32, which are `step` bytes apart, its value and how much greater the next one is,
   * as two float64. It reads one more number than `count`.
   */
  pairs(source: number, step: number, count: number, target: number): void;
  /**
   * Samples a row at `count` columns: `value + difference * weight`, as float64.
   * @param pairs the row, as `pairs` has written it
   * @param left `count` int32: for each column, the byte offset from `pairs` of the pixel to its left
   * @param weight `count` float64
   */
  across(pairs: number, left: number, weight: number, count: number, target: number): void;
  /** Computes `above + (below - above) * weight` of two rows of float64, as float64. */
  down(above: number, below: number, weight: number, count: number, target: number): void;
  /**
   * Does what `down` does for `rows` rows, at least 1, and rounds to float32.
   * @param weights `rows` float64
   * @param stride bytes from one row of the target to the next, at least `count` float32 rounded up to 16 bytes
   */
  downToFloats(
    above: number,
    below: number,
    weights: number,
    rows: number,
    count: number,
    target: number,
    stride: number,
  ): void;
}

/**
 * How many bytes a kernel may read and write beyond its rows. It reads offsets there too, which must be valid, such as
 * 0.
 */
export const SLACK = 32;

/** Creates the fastest kernel that runs in this environment. */
export function createInterpolateKernel(): InterpolateKernel {
  return createWasmInterpolateKernel() ?? createJsInterpolateKernel();
}

interface Exports extends Pick<InterpolateKernel, 'pairs' | 'across' | 'down' | 'downToFloats'> {
  readonly memory: WebAssembly.Memory;
}

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createWasmInterpolateKernel(): InterpolateKernel | undefined {
  const exports = instantiate<Exports>(INTERPOLATE_WASM);
  if (!exports) return undefined;
  const { memory, pairs, across, down, downToFloats } = exports;
  return { name: 'wasm', memory: (bytes) => bytesOf(memory, bytes).buffer, pairs, across, down, downToFloats };
}

/** Creates the kernel that runs everywhere. */
export function createJsInterpolateKernel(): InterpolateKernel {
  let memory = new ArrayBuffer(0);
  let integers = new Int32Array(memory);
  let floats = new Float32Array(memory);
  let doubles = new Float64Array(memory);
  const sample = (above: number, below: number, weight: number, target: Float64Array | Float32Array): void => {
    const [a, b] = [above >> 3, below >> 3];
    for (let i = 0; i < target.length; i++) target[i] = doubles[a + i]! + (doubles[b + i]! - doubles[a + i]!) * weight;
  };
  return {
    name: 'js',
    memory(bytes) {
      if (memory.byteLength < bytes) {
        memory = new ArrayBuffer((bytes + 7) & ~7);
        integers = new Int32Array(memory);
        floats = new Float32Array(memory);
        doubles = new Float64Array(memory);
      }
      return memory;
    },
    pairs(source, step, count, target) {
      for (let i = 0, from = source >> 2, to = target >> 3; i < count; i++, from += step >> 2, to += 2) {
        doubles[to] = floats[from]!;
        doubles[to + 1] = floats[from + (step >> 2)]! - floats[from]!;
      }
    },
    across(pairs, left, weight, count, target) {
      const [l, w, to] = [left >> 2, weight >> 3, target >> 3];
      for (let i = 0; i < count; i++) {
        const at = (pairs + integers[l + i]!) >> 3;
        doubles[to + i] = doubles[at]! + doubles[at + 1]! * doubles[w + i]!;
      }
    },
    down(above, below, weight, count, target) {
      sample(above, below, weight, doubles.subarray(target >> 3, (target >> 3) + count));
    },
    downToFloats(above, below, weights, rows, count, target, stride) {
      for (let row = 0; row < rows; row++) {
        const to = (target + row * stride) >> 2;
        sample(above, below, doubles[(weights >> 3) + row]!, floats.subarray(to, to + count));
      }
    },
  };
}
