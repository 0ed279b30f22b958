/**
 * A kernel computes the two passes of a resize, and the pass that makes the tensor. There are two, with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsResampleKernel } from './resample-kernel-js.js';
import { createWasmResampleKernel } from './resample-kernel-wasm.js';

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
 * Works on memory of its own, in which the caller places rows and taps. Both passes of a resize round to 8 bits. They read up to `SLACK` bytes beyond the rows
 * (with weight 0), and may write to the padding at the end of a row.
 */
export interface ResampleKernel {
  readonly name: 'wasm' | 'js';
  /** Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views are lost. */
  memory(bytes: number): Uint8Array;
  /** Sets the taps of a pass. They are written to `at`, a multiple of 16, and take `tapsBytes(taps)` bytes. */
  setTaps(pass: 'horizontal' | 'vertical', taps: PassTaps, at: number): void;
  /** Resizes `rows` rows of pixels of `step` bytes (1, 3 or 4). Rows are computed in pairs: leave room for one more row where their number is odd. */
  horizontal(source: Rows, target: Rows, rows: number, step: number): void;
  /** Computes `rows` output rows of `source.stride` bytes each; `target.stride` is the same. */
  vertical(source: Rows, target: Rows, rows: number): void;
  /**
   * Looks up `count` bytes that are `step` bytes apart in a table of 256 float32. The results are `advance` float32 apart. Up to three more bytes than
   * `count` are read, and as many numbers written.
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
