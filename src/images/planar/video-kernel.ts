/**
 * A kernel converts the colors of video, one row at a time, as libyuv does. There are two, with the same results: WebAssembly SIMD and plain JavaScript.
 */
import { createJsVideoKernel } from './video-kernel-js.js';
import { createWasmVideoKernel } from './video-kernel-wasm.js';

/**
 * A conversion from YUV to RGB, in units of 1/64. With l = (257 × gain × y >> 16) + bias, it is R = l + redV × (v - 128),
 * G = l - greenU × (u - 128) - greenV × (v - 128) and B = l + blueU × (u - 128), divided by 64, rounded down, and clamped.
 */
export type VideoColor = readonly [
  gain: number,
  bias: number,
  blueU: number,
  greenU: number,
  greenV: number,
  redV: number,
];

/** Works on memory of its own, in which the caller places rows. All offsets are in bytes. */
export interface VideoKernel {
  readonly name: 'wasm' | 'js';
  /** Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views are lost. */
  memory(bytes: number): Uint8Array;
  /**
   * Converts `count` pixels to RGBX, each two of them with one chroma sample. X has any value.
   * @param interleaved 1 if `u` is a row of pairs of U and V, and `v` has no meaning; otherwise 0
   */
  convert(
    y: number,
    u: number,
    v: number,
    interleaved: 0 | 1,
    count: number,
    target: number,
    ...color: VideoColor
  ): void;
}

/** How many bytes a kernel may read and write beyond its rows. */
export const SLACK = 64;

/** Creates the fastest kernel that runs in this environment. */
export function createVideoKernel(): VideoKernel {
  return createWasmVideoKernel() ?? createJsVideoKernel();
}
