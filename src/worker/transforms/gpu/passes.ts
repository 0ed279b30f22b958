/**
 * Divides a program into passes of a GPU: each computes a window of pixels, or the tensor, from the pixels of the pass
 * before it. No device is needed for this.
 */
import type { Rect } from '../../../contract/images.js';
import { scaledWindow, type Program } from '../program.js';
import type { FillColor } from '../steps.js';
import type { Taps } from '../taps.js';
import type { TensorForm } from '../tensor.js';

/** The functions of `shaders.ts` that run as passes. */
export const ENTRIES = ['scaleColumns', 'scaleRows', 'nearest', 'place', 'gray', 'lookUp', 'crop'] as const;
export type Entry = (typeof ENTRIES)[number];

/** The numbers of a pass that its function reads, in the order of `Params` in `shaders.ts`. */
const PARAMS = [
  /** The size of the pass's result, in pixels. */
  'width',
  'height',
  /** The size of its input, in pixels. */
  'sourceWidth',
  'sourceHeight',
  /** Where the first pixel of the result is in the input. */
  'x',
  'y',
  /** `scale…`: the number of weights per output. */
  'weights',
  /** `place`: red, green and blue of the canvas, as one pixel. */
  'fill',
  /** `lookUp`: the tensor's channels; 1 if they are in BGR order; 1 if they come last. */
  'channels',
  'reversed',
  'last',
  /** `crop`: what is beyond the image; and 0, which the compiler of a GPU does not know. */
  'border',
  'zero',
] as const;

export interface Pass {
  readonly entry: Entry;
  /** The size of the result, in pixels: one invocation of the function for each. */
  readonly width: number;
  readonly height: number;
  /** `PARAMS`. */
  readonly params: Int32Array<ArrayBuffer>;
  /** What the function looks up: taps, indices, coordinates, or the numbers of each byte value. Empty if nothing. */
  readonly table: Int32Array<ArrayBuffer>;
  /** The bytes of the result: four for each pixel, or for each number of the tensor. */
  readonly bytes: number;
}

type Params = Partial<Record<(typeof PARAMS)[number], number>>;

/** Returns the numbers in their order; those that are missing are 0. */
export function paramsOf(params: Params): Int32Array<ArrayBuffer> {
  return Int32Array.from(PARAMS, (name) => params[name] ?? 0);
}

/**
 * Returns the passes in the order in which they run. The first one reads the window `source` of the image, and the last
 * one writes the tensor.
 */
export function passesOf(program: Program, form: TensorForm): readonly Pass[] {
  const passes: Pass[] = [];
  let input: Rect = program.source ?? { x: 0, y: 0, width: 0, height: 0 };
  const add = (entry: Entry, output: Rect, params: Params, table = new Int32Array(0), numbers = 1): void => {
    const { width, height } = output;
    const all: Params = { width, height, sourceWidth: input.width, sourceHeight: input.height, ...params };
    const bytes = width * height * numbers * 4;
    passes.push({ entry, width, height, params: paramsOf(all), table, bytes });
    input = output;
  };
  for (const operation of program.operations) {
    const { window } = operation;
    switch (operation.kind) {
      case 'resize': {
        const { horizontal, vertical } = operation.scaling;
        const { y, height } = scaledWindow(operation.scaling, window);
        // Rows outside of the window are needed only for the second pass.
        const middle = { x: window.x, y, width: window.width, height };
        if (horizontal)
          add('scaleColumns', middle, { y: y - input.y, weights: mostOf(horizontal) }, tableOf(horizontal, input.x));
        if (vertical)
          add('scaleRows', window, { x: window.x - input.x, weights: mostOf(vertical) }, tableOf(vertical, input.y));
        break;
      }
      case 'nearest':
        add(
          'nearest',
          window,
          {},
          Int32Array.from([
            ...operation.columns.map((column) => column - input.x),
            ...operation.rows.map((row) => row - input.y),
          ]),
        );
        break;
      case 'place': {
        const [x, y] = [window.x - input.x - operation.x, window.y - input.y - operation.y];
        add('place', window, { x, y, fill: pixelOf(operation.fill) });
        break;
      }
      case 'gray':
        add('gray', window, { x: window.x - input.x, y: window.y - input.y });
    }
  }
  const { channels, order, layout, tables } = form;
  const numbers = new Float32Array(channels * 256);
  tables.forEach((table, channel) => numbers.set(table, channel * 256));
  const flags = { channels, reversed: Number(order === 'BGR'), last: Number(layout === 'NHWC') };
  add(
    'lookUp',
    { x: 0, y: 0, width: program.width, height: program.height },
    flags,
    new Int32Array(numbers.buffer),
    channels,
  );
  return passes;
}

/**
 * Returns taps as a table: the first input of each output, counted from `origin`; how many it has; and the weights: all
 * first ones, all second ones, and so on.
 */
function tableOf(taps: Taps, origin: number): Int32Array<ArrayBuffer> {
  const { starts, counts, weights, stride } = taps;
  const { length } = starts;
  const most = mostOf(taps);
  const table = new Int32Array(length * (2 + most));
  for (let output = 0; output < length; output++) {
    table[output] = starts[output]! - origin;
    table[length + output] = counts[output]!;
    for (let tap = 0; tap < most; tap++) table[(2 + tap) * length + output] = weights[output * stride + tap]!;
  }
  return table;
}

function mostOf({ counts }: Taps): number {
  return counts.reduce((most, count) => Math.max(most, count), 0);
}

function pixelOf(fill: FillColor): number {
  const [red, green, blue] = typeof fill === 'number' ? [fill, fill, fill] : fill;
  return red | (green << 8) | (blue << 16);
}
