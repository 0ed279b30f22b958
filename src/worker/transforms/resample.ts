/**
 * Resizes a window of an image with a kernel. WebAssembly memory never shrinks, so the kernel's memory holds only one
 * tile at a time, and one strip of the source: about twice `TILE_BYTES`, plus `STRIP_BYTES`, plus the taps.
 */
import type { Rect } from '../../contract/images.js';
import { TabServeError } from '../../contract/errors.js';
import { MAX_TILE_BYTES } from '../../contract/limits.js';
import { SLACK, tapsBytes, type ResampleKernel, type PassTaps } from './resample-kernel.js';
import { scaledWindow, type Scaling } from './program.js';
import type { Taps } from './taps.js';
import { PIXEL_BYTES, type PixelWindow, type StripWindow } from './pixel-window.js';

const TILE_BYTES = 3 << 20;
/** A strip fits into a processor's cache, so copying it in costs little. */
const STRIP_BYTES = 1 << 17;

/**
 * Writes `window` of the resized image to `target`, in the source's format, without gaps between rows.
 * @param source at least `scaledWindow(scaling, window)`
 */
export function resample(
  kernel: ResampleKernel,
  source: PixelWindow | StripWindow,
  scaling: Scaling,
  window: Rect,
  target: Uint8Array,
): void {
  const { width, height } = tileSize(scaling, window, PIXEL_BYTES[source.format]);
  for (let y = 0; y < window.height; y += height)
    for (let x = 0; x < window.width; x += width) {
      const tile = {
        x: window.x + x,
        y: window.y + y,
        width: Math.min(width, window.width - x),
        height: Math.min(height, window.height - y),
      };
      resampleTile(kernel, source, scaling, tile, window, target);
    }
}

/** Returns the largest tile whose intermediate image, `tile.width` × the source's rows, fits into `TILE_BYTES`. */
function tileSize(scaling: Scaling, window: Rect, step: number): { readonly width: number; readonly height: number } {
  let { width, height } = window;
  const tooLarge = (): boolean =>
    scaledWindow(scaling, { ...window, width, height }).height * width * step > TILE_BYTES;
  while (height > 1 && tooLarge()) height = Math.ceil(height / 2);
  while (width > 16 && tooLarge()) width = Math.ceil(width / 2);
  return { width, height };
}

function resampleTile(
  kernel: ResampleKernel,
  source: PixelWindow | StripWindow,
  scaling: Scaling,
  tile: Rect,
  window: Rect,
  target: Uint8Array,
): void {
  const step = PIXEL_BYTES[source.format];
  const input = scaledWindow(scaling, tile);
  const inputBytes = input.width * step;
  const inputStride = align(inputBytes);
  // The horizontal pass writes four bytes a pixel, whatever the step.
  const stride = align(tile.width * step + 3);
  const horizontal = scaling.horizontal && cutOnce(scaling.horizontal, tile.x, tile.width, input.x, input.width, step);
  const vertical = scaling.vertical && cutOnce(scaling.vertical, tile.y, tile.height, input.y, input.height, stride);
  const inStrips = horizontal || 'strip' in source;
  const stripRows = inStrips ? Math.max(2, Math.floor(STRIP_BYTES / inputStride) & ~1) : input.height;

  let end = 0;
  const reserve = (bytes: number): number => (end += align(bytes)) - align(bytes);
  const horizontalAt = reserve(horizontal ? tapsBytes(horizontal) : 0);
  const verticalAt = reserve(vertical ? tapsBytes(vertical) : 0);
  const stripAt = reserve(horizontal ? stripRows * inputStride + SLACK : 0);
  // One more row, since rows are computed in pairs; or up to three, which the padded taps of the vertical pass read
  // with weight 0.
  const middle = { at: reserve((input.height + 3) * stride + SLACK), stride };
  const result = vertical ? { at: reserve(tile.height * stride), stride } : middle;
  if (end > MAX_TILE_BYTES)
    throw new TabServeError(
      'image-too-large',
      `Resizing the image needs ${end} bytes at once, and the limit is ${MAX_TILE_BYTES}: one of its sides is too long. Use a less narrow image.`,
    );
  const memory = kernel.memory(end);
  if (horizontal) kernel.setTaps('horizontal', horizontal, horizontalAt);
  if (vertical) kernel.setTaps('vertical', vertical, verticalAt);

  for (let y = 0; y < input.height; y += stripRows) {
    const rows = Math.min(stripRows, input.height - y);
    const target = { at: middle.at + y * stride, stride };
    const strip = horizontal ? { at: stripAt, stride: inputStride } : target;
    const [data, sourceStride, top] = rowsOf(source, input.y + y - source.y, rows);
    let from = top * sourceStride + (input.x - source.x) * step;
    if (sourceStride === strip.stride)
      memory.set(data.subarray(from, from + (rows - 1) * sourceStride + inputBytes), strip.at);
    else
      for (let row = 0; row < rows; row++, from += sourceStride)
        memory.set(data.subarray(from, from + inputBytes), strip.at + row * strip.stride);
    if (horizontal) kernel.horizontal(strip, target, rows, step);
  }
  if (vertical) kernel.vertical(middle, result, tile.height);

  const bytes = tile.width * step;
  let to = ((tile.y - window.y) * window.width + tile.x - window.x) * step;
  for (let y = 0; y < tile.height; y++, to += window.width * step)
    target.set(memory.subarray(result.at + y * stride, result.at + y * stride + bytes), to);
}

/**
 * Returns an array that has `rows` rows of the source from `top` on, the bytes from one row to the next, and the first
 * one's index in the array.
 */
function rowsOf(
  source: PixelWindow | StripWindow,
  top: number,
  rows: number,
): readonly [data: Uint8Array | Uint8ClampedArray, stride: number, index: number] {
  return 'strip' in source ? [source.strip(top, rows), source.width * 4, 0] : [source.data, source.stride, top];
}

/** The last taps that were cut from these: the frames of a video all need the same. */
const lastCuts = new WeakMap<Taps, { readonly cut: string; readonly taps: PassTaps }>();

/** Does what `cutTaps` does, and remembers the result. */
function cutOnce(taps: Taps, ...cut: readonly [number, number, number, number, number]): PassTaps {
  const last = lastCuts.get(taps);
  if (last?.cut === cut.join()) return last.taps;
  const fresh = { cut: cut.join(), taps: cutTaps(taps, ...cut) };
  lastCuts.set(taps, fresh);
  return fresh.taps;
}

/**
 * Returns the taps of outputs `from … from + length - 1` in a kernel's form: starts are byte offsets from input
 * `origin`, with `unit` bytes per input. Padded taps start earlier where they would otherwise reach more than 3 inputs
 * beyond the `available` ones.
 */
function cutTaps(taps: Taps, from: number, length: number, origin: number, available: number, unit: number): PassTaps {
  let most = 0;
  const first = from - taps.first;
  for (let i = first; i < first + length; i++) most = Math.max(most, taps.counts[i]!);
  const size = (most + 3) & ~3;
  const last = ((available + 3) & ~3) - size;
  const starts = new Int32Array(length);
  const weights = new Int32Array(length * size);
  for (let i = 0; i < length; i++) {
    const tap = (first + i) * taps.stride;
    const start = taps.starts[first + i]! - origin;
    const shifted = Math.min(start, last);
    starts[i] = shifted * unit;
    weights.set(taps.weights.subarray(tap, tap + taps.counts[first + i]!), i * size + start - shifted);
  }
  return { starts, weights, groups: size / 4 };
}

function align(bytes: number): number {
  return Math.ceil(bytes / 16) * 16;
}
