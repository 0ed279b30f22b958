/**
 * Converts the colors of a camera's or a video's frames as libyuv does (`I420ToARGBRow` in its row_common.cc), and so
 * as Chromium does, which repeats chroma samples. Converting the few rows that are needed next takes a quarter of the
 * time of the browser's conversion, which writes all pixels to memory.
 */
import type { Rect } from '../../../contract/images.js';
import { bytesOf, instantiate } from '../../tensors/wasm-kernel.js';
import { blockOffsets, type Convert, type Planes } from './planes.js';
import { VIDEO_WASM } from './video.wasm.js';

/**
 * A conversion from YUV to RGB, in units of 1/64. With l = (257 × gain × y >> 16) + bias, it is R = l + redV × (v -
 * 128), G = l - greenU × (u - 128) - greenV × (v - 128) and B = l + blueU × (u - 128), divided by 64, rounded down, and
 * clamped.
 */
export type VideoColor = readonly [
  gain: number,
  bias: number,
  blueU: number,
  greenU: number,
  greenV: number,
  redV: number,
];

/**
 * Converts colors one row at a time (`video.wat`). Works on memory of its own, in which the caller places rows. All
 * offsets are in bytes.
 */
export interface VideoKernel {
  /**
   * Returns the kernel's memory, of at least `bytes` bytes. It never shrinks. When it grows, earlier contents and views
   * are lost.
   */
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
const SLACK = 64;

/** Creates a kernel; undefined where WebAssembly or its SIMD is missing, or a Content Security Policy forbids it. */
export function createVideoKernel(): VideoKernel | undefined {
  const exports = instantiate<Pick<VideoKernel, 'convert'> & { readonly memory: WebAssembly.Memory }>(VIDEO_WASM);
  return exports && { memory: (bytes) => bytesOf(exports.memory, bytes), convert: exports.convert };
}

/** libyuv's `YuvConstants`: BT.601 and BT.709, studio range and full range. */
const BT601: VideoColor = [18997, -1160, 128, 25, 52, 102];
const BT601_FULL: VideoColor = [16320, 32, 113, 22, 46, 90];
const BT709: VideoColor = [18997, -1160, 128, 14, 34, 115];
const BT709_FULL: VideoColor = [16320, 32, 119, 12, 30, 101];

/**
 * For frames of these primaries and transfer functions, Chromium's RGB has the primaries and the transfer function of
 * the frame.
 */
const PRIMARIES: ReadonlySet<unknown> = new Set(['bt709', 'smpte170m']);
const TRANSFERS: ReadonlySet<unknown> = new Set(['bt709', 'smpte170m', 'iec61966-2-1']);

/** Undefined before the first frame; null if there is none. */
let kernel: VideoKernel | null | undefined;

/** Returns how a frame's planes are converted to RGB; undefined if the browser must convert them. */
export function videoConverter({ format, colorSpace }: VideoFrame): Convert | undefined {
  const { matrix, primaries, transfer, fullRange } = colorSpace;
  if (format !== 'I420' && format !== 'NV12') return undefined;
  if (!PRIMARIES.has(primaries) || !TRANSFERS.has(transfer)) return undefined;
  const is601 = matrix === 'smpte170m' || matrix === 'bt470bg';
  if (!is601 && matrix !== 'bt709') return undefined;
  const color = is601 ? (fullRange ? BT601_FULL : BT601) : fullRange ? BT709_FULL : BT709;
  if (kernel === undefined) kernel = createVideoKernel() ?? null;
  const own = kernel;
  return own ? (planes, window) => convertVideo(own, planes, window, color) : undefined;
}

/** Copies the rows that `window` needs into the kernel's memory, and converts them there. */
export function convertVideo(kernel: VideoKernel, planes: Planes, window: Rect, color: VideoColor): Uint8Array {
  const { yStride, uStride, vStride, interleaved } = planes;
  const bottom = window.y + window.height;
  const [top, end] = [window.y >> 1, (bottom + 1) >> 1];
  // A pair of pixels shares its chroma: a window that begins with the second pixel of a pair is converted from the
  // first one on.
  const before = window.x & 1;
  const x = window.x - before;
  const count = window.width + before;

  const { offsets, bytes } = blockOffsets(SLACK, [
    window.height * yStride,
    (end - top) * uStride,
    interleaved ? 0 : (end - top) * vStride,
    window.height * window.width * 4 + 4,
    (count + 1) * 4,
  ]);
  const [y, u, v, target, row] = offsets as [number, number, number, number, number];
  const memory = kernel.memory(bytes);
  memory.set(planes.y.subarray(window.y * yStride, bottom * yStride), y);
  memory.set(planes.u.subarray(top * uStride, end * uStride), u);
  if (!interleaved) memory.set(planes.v.subarray(top * vStride, end * vStride), v);

  for (let line = 0; line < window.height; line++) {
    const chroma = ((window.y + line) >> 1) - top;
    const to = target + line * window.width * 4;
    kernel.convert(
      y + line * yStride + x,
      u + chroma * uStride + (interleaved ? x : x >> 1),
      v + chroma * vStride + (x >> 1),
      interleaved ? 1 : 0,
      count,
      before ? row : to,
      ...color,
    );
    if (before) memory.copyWithin(to, row + 4, row + count * 4);
  }
  return memory.subarray(target, target + window.height * window.width * 4);
}
