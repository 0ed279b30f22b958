/** Runs the operations of a program on pixels. */
import type { PixelFormat, Rect } from '../../contract/images.js';
import type { ResampleKernel } from './resample-kernel.js';
import type { Operation } from './program.js';
import { resample } from './resample.js';
import type { FillColor } from './steps.js';
import { channelByte, PIXEL_BYTES, type Scratch, type PixelWindow, type StripWindow } from './pixel-window.js';

type Of<Kind extends Operation['kind']> = Extract<Operation, { readonly kind: Kind }>;

/**
 * Runs an operation. Returns pixels that include the operation's window, either in the input's memory or in buffer
 * `index` of `scratch`.
 */
export function operate(
  operation: Operation,
  input: PixelWindow,
  kernel: () => ResampleKernel,
  scratch: Scratch,
  index: number,
): PixelWindow {
  const { window } = operation;
  const allocate = (format: PixelFormat): PixelWindow => allocateWindow(window, format, scratch, index);
  switch (operation.kind) {
    case 'resize':
      return resize(operation, input, kernel, scratch, index);
    case 'nearest':
      return nearest(operation, input, allocate(input.format));
    case 'gray':
      return input.format === 'L' ? input : gray(input, allocate('L'));
    case 'place': {
      const moved = { ...input, x: input.x + operation.x, y: input.y + operation.y };
      if (contains(moved, window)) return moved;
      const { fill } = operation;
      const isGray = typeof fill === 'number' || (fill[0] === fill[1] && fill[1] === fill[2]);
      return place(moved, fill, allocate(input.format === 'L' && !isGray ? 'RGB' : input.format));
    }
  }
}

/** Runs a resize, which alone also takes pixels that are made a few rows at a time. */
export function resize(
  { scaling, window }: Of<'resize'>,
  input: PixelWindow | StripWindow,
  kernel: () => ResampleKernel,
  scratch: Scratch,
  index: number,
): PixelWindow {
  const output = allocateWindow(window, input.format, scratch, index);
  resample(kernel(), input, scaling, window, output.data as Uint8Array);
  return output;
}

function allocateWindow(window: Rect, format: PixelFormat, scratch: Scratch, index: number): PixelWindow {
  const stride = window.width * PIXEL_BYTES[format];
  return { ...window, format, stride, data: scratch.take(index, stride * window.height) };
}

function contains(view: PixelWindow, { x, y, width, height }: PixelWindow | Operation['window']): boolean {
  return view.x <= x && view.y <= y && x + width <= view.x + view.width && y + height <= view.y + view.height;
}

function nearest({ columns, rows, window }: Of<'nearest'>, input: PixelWindow, output: PixelWindow): PixelWindow {
  const step = PIXEL_BYTES[input.format];
  for (let y = 0, to = 0; y < window.height; y++) {
    const row = (rows[y]! - input.y) * input.stride;
    for (let x = 0; x < window.width; x++) {
      const from = row + (columns[x]! - input.x) * step;
      for (let byte = 0; byte < step; byte++) output.data[to++] = input.data[from + byte]!;
    }
  }
  return output;
}

function gray(input: PixelWindow, output: PixelWindow): PixelWindow {
  const step = PIXEL_BYTES[input.format];
  const red = channelByte(input.format, 0);
  const blue = channelByte(input.format, 2);
  const { data } = input;
  const { width, height, data: result } = output;
  for (let y = 0, to = 0; y < height; y++) {
    let from = (output.y + y - input.y) * input.stride + (output.x - input.x) * step;
    for (const end = to + width; to < end; to++, from += step)
      result[to] = (data[from + red]! * 19595 + data[from + 1]! * 38470 + data[from + blue]! * 7471 + 0x8000) >> 16;
  }
  return output;
}

/** Puts the input on a filled canvas. If the fill is a color and the input has one channel, the canvas is RGB. */
function place(input: PixelWindow, fill: FillColor, output: PixelWindow): PixelWindow {
  const step = PIXEL_BYTES[output.format];
  const color = typeof fill === 'number' ? [fill, fill, fill] : fill;
  for (let channel = 0; channel < Math.min(step, 3); channel++) {
    const value = color[channel]!;
    for (let to = channelByte(output.format, channel), end = output.stride * output.height; to < end; to += step)
      output.data[to] = value;
  }
  const left = Math.max(input.x, output.x);
  const width = Math.min(input.x + input.width, output.x + output.width) - left;
  const top = Math.max(input.y, output.y);
  const bottom = Math.min(input.y + input.height, output.y + output.height);
  if (width <= 0) return output;
  for (let y = top; y < bottom; y++) {
    const from = (y - input.y) * input.stride + (left - input.x) * PIXEL_BYTES[input.format];
    const to = (y - output.y) * output.stride + (left - output.x) * step;
    if (input.format === output.format) output.data.set(input.data.subarray(from, from + width * step), to);
    else for (let i = 0; i < width * step; i++) output.data[to + i] = input.data[from + Math.trunc(i / 3)]!;
  }
  return output;
}
