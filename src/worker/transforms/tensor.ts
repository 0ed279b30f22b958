/**
 * The last pass, which does `toTensor`, `normalize`, `colorOrder` and `layout` at once. A byte has 256 values, so one
 * table per channel has every float32 that can result, computed as torch computes it.
 */
import type { Rect } from '../../contract/images.js';
import type { ColorOrder, FillColor, StepOptions, TensorLayout, Transforms } from './steps.js';
import { channelByte, PIXEL_BYTES, type PixelWindow } from './pixel-window.js';
import { SLACK, type ResampleKernel } from './resample-kernel.js';

/** How pixels become a tensor. It does not depend on the image's size. */
export interface TensorForm {
  readonly channels: 1 | 3;
  readonly order: ColorOrder;
  readonly layout: TensorLayout;
  /** For each channel of the tensor: the float32 of each of the 256 byte values. */
  readonly tables: readonly Float32Array[];
}

export function tensorForm(transforms: Transforms): TensorForm {
  let channels: 1 | 3 = 3;
  let order: ColorOrder = 'RGB';
  let layout: TensorLayout = 'NCHW';
  let tables: readonly Float32Array[] = [];
  for (const step of transforms) {
    if ('grayscale' in step) channels = step.grayscale.channels;
    else if ('colorOrder' in step) order = step.colorOrder;
    else if ('layout' in step) layout = step.layout;
    else if ('toTensor' in step) tables = Array.from({ length: channels }, () => scaled(step.toTensor));
    else if ('normalize' in step) {
      const { mean, std } = step.normalize;
      tables = tables.map((table, channel) => normalized(table, mean[channel] ?? mean[0]!, std[channel] ?? std[0]!));
    }
  }
  return { channels, order, layout, tables };
}

// A Float32Array rounds what is stored in it. One + - * / of float32 values in double precision, rounded once, equals
// the float32 operation.
function scaled({ scale, rounding }: StepOptions['toTensor']): Float32Array {
  const factor = rounding === 'transformers' ? scale : Math.fround(scale);
  return Float32Array.from({ length: 256 }, (_, value) => (scale === 1 / 255 ? value / 255 : value * factor));
}

function normalized(table: Float32Array, mean: number, std: number): Float32Array {
  const center = Math.fround(mean);
  const spread = Math.fround(std);
  return table.map((value) => Math.fround(value - center) / spread);
}

/** Returns the numbers that a color has in the channels of the tensor. */
export function colorOf(color: FillColor, transforms: Transforms): Float32Array {
  const { order, tables } = tensorForm(transforms);
  const [red, green, blue] = typeof color === 'number' ? [color, color, color] : color;
  // Pillow's conversion to gray (ITU-R 601-2), as `grayscale` does it.
  const gray = (red * 19595 + green * 38470 + blue * 7471 + 0x8000) >> 16;
  const bytes = transforms.some((step) => 'grayscale' in step) ? [gray, gray, gray] : [red, green, blue];
  return Float32Array.from(tables, (table, channel) => table[bytes[order === 'RGB' ? channel : 2 - channel]!]!);
}

/** Pixels that are looked up at a time: their numbers fit into a processor's cache. */
const CHUNK_PIXELS = 1 << 14;

/** Writes the pixels of `window` as one row of the batch, from element `offset` on. */
export function writeTensor(
  kernel: ResampleKernel,
  view: PixelWindow,
  window: Rect,
  { channels, order, layout, tables }: TensorForm,
  out: Float32Array,
  offset: number,
): void {
  const { width, height } = window;
  const step = PIXEL_BYTES[view.format];
  const bytes = width * step;
  const most = Math.min(height, Math.max(1, Math.floor(CHUNK_PIXELS / width)));
  const pixels = channels * TABLE_BYTES;
  const numbers = pixels + ((most * bytes + SLACK + 3) & ~3);
  const memory = kernel.memory(numbers + most * width * channels * 4 + SLACK);
  const floats = new Float32Array(memory.buffer as ArrayBuffer);
  tables.forEach((table, channel) => floats.set(table, (channel * TABLE_BYTES) / 4));
  for (let y = 0; y < height; y += most) {
    const rows = Math.min(most, height - y);
    copyRows(view, { ...window, y: window.y + y, height: rows }, memory, pixels);
    const count = rows * width;
    const [advance, next] = layout === 'NCHW' ? [1, count] : [channels, 1];
    for (let channel = 0; channel < channels; channel++) {
      const from = pixels + channelByte(view.format, order === 'RGB' ? channel : 2 - channel);
      kernel.lookUp(from, step, count, channel * TABLE_BYTES, numbers + channel * next * 4, advance);
    }
    const parts = layout === 'NCHW' ? channels : 1;
    const length = (count * channels) / parts;
    for (let part = 0, from = numbers / 4; part < parts; part++, from += length)
      out.set(floats.subarray(from, from + length), offset + part * width * height + (y * width * channels) / parts);
  }
}

const TABLE_BYTES = 256 * 4;

/** Copies the pixels of `window` without gaps between rows. */
function copyRows(view: PixelWindow, window: Rect, target: Uint8Array, at: number): void {
  const bytes = window.width * PIXEL_BYTES[view.format];
  let from = (window.y - view.y) * view.stride + (window.x - view.x) * PIXEL_BYTES[view.format];
  if (view.stride === bytes) return target.set(view.data.subarray(from, from + window.height * bytes), at);
  for (let row = 0; row < window.height; row++, from += view.stride)
    target.set(view.data.subarray(from, from + bytes), at + row * bytes);
}
