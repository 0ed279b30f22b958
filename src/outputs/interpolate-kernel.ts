/**
 * A kernel computes bilinear sampling, one row at a time, in float64. There are two, with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsInterpolateKernel } from './interpolate-kernel-js.js';
import { createWasmInterpolateKernel } from './interpolate-kernel-wasm.js';

/** Works on memory of its own, in which the caller places rows. All offsets are in bytes, multiples of 8, and `count` is at least 1. */
export interface InterpolateKernel {
  readonly name: 'wasm' | 'js';
  /** Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views are lost. */
  memory(bytes: number): ArrayBuffer;
  /**
   * Writes for each of `count` float32, which are `step` bytes apart, its value and how much greater the next one is, as two float64. It reads one more
   * number than `count`.
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

/** How many bytes a kernel may read and write beyond its rows. It reads offsets there too, which must be valid, such as 0. */
export const SLACK = 32;

/** Creates the fastest kernel that runs in this environment. */
export function createInterpolateKernel(): InterpolateKernel {
  return createWasmInterpolateKernel() ?? createJsInterpolateKernel();
}
