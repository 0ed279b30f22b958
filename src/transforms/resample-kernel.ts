/**
 * What computes the two passes of a resize. There are two kernels with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsResampleKernel } from './resample-kernel-js.js';
import { createWasmResampleKernel } from './resample-kernel-wasm.js';

/** Where a pass finds its taps: byte offsets of the first inputs, one an output, and weights in groups of four. */
export interface PassTaps {
  readonly starts: Int32Array;
  readonly weights: Int32Array;
  /** Groups of four weights for each output. */
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
 * Works on memory of its own, laid out by the caller. Both passes round to 8 bits. They read up to `SLACK` bytes beyond the rows
 * (such bytes have weight 0), and may write the padding at the end of a row.
 */
export interface ResampleKernel {
  readonly name: 'wasm' | 'js';
  /** At least `bytes` of memory, kept for the kernel's life; earlier contents and views are lost when it grows. */
  memory(bytes: number): Uint8Array;
  /** Sets the taps of a pass, until they are set again. They lie at `at`, a multiple of 16, and take `tapsBytes(taps)`. */
  setTaps(pass: 'horizontal' | 'vertical', taps: PassTaps, at: number): void;
  /** `rows` rows of pixels of `step` bytes (1, 3 or 4). An odd last row is computed as a pair: leave room for one more row. */
  horizontal(source: Rows, target: Rows, rows: number, step: number): void;
  /** `rows` output rows, of `source.stride` bytes each; `target.stride` is the same. */
  vertical(source: Rows, target: Rows, rows: number): void;
}

/** How far a pass may read beyond its rows, beside three more rows. */
export const SLACK = 64;

/** Bytes that a kernel needs for taps, a multiple of 16. */
export function tapsBytes({ starts, groups }: PassTaps): number {
  return ((starts.length * 4 + 15) & ~15) + starts.length * groups * 16;
}

/** The fastest kernel that runs here. */
export function createResampleKernel(): ResampleKernel {
  return createWasmResampleKernel() ?? createJsResampleKernel();
}
