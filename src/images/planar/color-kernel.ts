/**
 * A kernel computes libjpeg's colors, one row at a time. There are two, with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsColorKernel } from './color-kernel-js.js';
import { createWasmColorKernel } from './color-kernel-wasm.js';

/** Works on memory of its own, in which the caller places rows. All offsets are in bytes. */
export interface ColorKernel {
  readonly name: 'wasm' | 'js';
  /** Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views are lost. */
  memory(bytes: number): Uint8Array;
  /**
   * Doubles `count` samples horizontally. Each result is three parts of the nearer and one part of the farther sample, in both directions.
   * @param near the row of samples to double
   * @param far the row beside it, or `near` itself
   * @param left added to each left result before its division by 16
   * @param right added to each right result before its division by 16
   * @param sums an even offset with room for 2 × (count + 2) bytes, and `SLACK`
   */
  upsample(near: number, far: number, count: number, left: number, right: number, sums: number, target: number): void;
  /** Converts `count` pixels of full-range BT.601 to RGBX, rounded as in libjpeg. X has any value. */
  convert(y: number, u: number, v: number, count: number, target: number): void;
}

/** How many bytes a kernel may read and write beyond its rows. */
export const SLACK = 64;

/** Creates the fastest kernel that runs in this environment. */
export function createColorKernel(): ColorKernel {
  return createWasmColorKernel() ?? createJsColorKernel();
}
