/**
 * The last pass, which does `toTensor`, `normalize`, `colorOrder` and `layout` at once. A byte has 256 values, so one table per channel has every float32
 * that can result, computed as torch computes it.
 */
import type { Rect } from '../contract/images.js';
import type { ColorOrder, FillColor, StepOptions, TensorLayout, Transforms } from './steps.js';
import { channelByte, PIXEL_BYTES, type PixelWindow } from './pixel-window.js';

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

// A Float32Array rounds what is stored in it. One + - * / of float32 values in double precision, rounded once, equals the float32 operation.
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

/** Writes the pixels of `window` as one row of the batch, from element `offset` on. */
export function writeTensor(
  view: PixelWindow,
  window: Rect,
  { channels, order, layout, tables }: TensorForm,
  out: Float32Array,
  offset: number,
): void {
  const { data } = view;
  const step = PIXEL_BYTES[view.format];
  const byte = (channel: number): number => channelByte(view.format, order === 'RGB' ? channel : 2 - channel);
  const [byte0, byte1, byte2] = [byte(0), byte(1), byte(2)];
  const [table0, table1 = table0, table2 = table0] = tables as readonly [Float32Array, Float32Array?, Float32Array?];
  const [advance, next] = layout === 'NCHW' ? [1, window.width * window.height] : [channels, 1];
  let to = offset;
  for (let y = 0; y < window.height; y++) {
    let from = (window.y + y - view.y) * view.stride + (window.x - view.x) * step;
    const end = from + window.width * step;
    if (channels === 1) for (; from < end; from += step, to += advance) out[to] = table0[data[from + byte0]!]!;
    else
      for (; from < end; from += step, to += advance) {
        out[to] = table0[data[from + byte0]!]!;
        out[to + next] = table1[data[from + byte1]!]!;
        out[to + 2 * next] = table2[data[from + byte2]!]!;
      }
  }
}
