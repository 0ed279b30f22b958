import type { Box } from './detection.js';
import type { Size } from './decoder.js';

export const BOX_FORMATS = ['xyxy', 'yxyx', 'xywh', 'cxcywh'] as const;
/** How four numbers describe a box: corners; corners with y first; left top corner and size; or center and size. */
export type BoxFormat = (typeof BOX_FORMATS)[number];

export const UNITS = ['pixels', 'fraction'] as const;
/** The unit of a box: pixels of the tensor, or fractions of its sides. */
export type Unit = (typeof UNITS)[number];

/** The four numbers of a box, in any format. */
export type BoxNumbers = readonly [number, number, number, number];

/** Returns the four numbers that start at `at`. */
export function numbersAt(data: Float32Array | Float64Array, at: number): BoxNumbers {
  return data.subarray(at, at + 4) as unknown as BoxNumbers;
}

/** Converts four numbers to a box. */
export function toBox(format: BoxFormat, a: number, b: number, c: number, d: number): Box {
  switch (format) {
    case 'xyxy':
      return { xmin: a, ymin: b, xmax: c, ymax: d };
    case 'yxyx':
      return { xmin: b, ymin: a, xmax: d, ymax: c };
    case 'xywh':
      return { xmin: a, ymin: b, xmax: a + c, ymax: b + d };
    case 'cxcywh':
      return { xmin: a - c / 2, ymin: b - d / 2, xmax: a + c / 2, ymax: b + d / 2 };
  }
}

/** Converts a box to pixels of a tensor of this size. */
export function toPixels(box: Box, unit: Unit, { width, height }: Size): Box {
  return unit === 'pixels'
    ? box
    : { xmin: box.xmin * width, ymin: box.ymin * height, xmax: box.xmax * width, ymax: box.ymax * height };
}
