/**
 * What computes libjpeg's colors, a row at a time. There are two kernels with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsColorKernel } from './color-kernel-js.js';
import { createWasmColorKernel } from './color-kernel-wasm.js';

/** Works on memory of its own, laid out by the caller. All offsets are in bytes. */
export interface ColorKernel {
  readonly name: 'wasm' | 'js';
  /** At least `bytes` of memory, kept for the kernel's life; earlier contents and views are lost when it grows. */
  memory(bytes: number): Uint8Array;
  /**
   * Doubles `count` samples across: three parts of the nearer sample and one of the farther, in both directions.
   * @param near the row of samples that is doubled; @param far the row beside it, or `near` itself
   * @param left @param right what is added to the left and the right sample before division by 16
   * @param sums an even offset of room for 2 × (count + 2) bytes, and `SLACK`
   */
  upsample(near: number, far: number, count: number, left: number, right: number, sums: number, target: number): void;
  /** RGBX of `count` pixels from full-range BT.601, as libjpeg rounds it. X is anything. */
  convert(y: number, u: number, v: number, count: number, target: number): void;
}

/** How far a kernel may read and write beyond its rows. */
export const SLACK = 64;

/** The fastest kernel that runs here. */
export function createColorKernel(): ColorKernel {
  return createWasmColorKernel() ?? createJsColorKernel();
}
