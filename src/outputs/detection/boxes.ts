import type { Schema } from '../../shared/schema.js';
import type { Box } from './detection.js';
import type { Size } from './decoder.js';

export const BOX_FORMATS = ['xyxy', 'yxyx', 'xywh', 'cxcywh'] as const;
/** Corners; corners with y first; a corner and the size; the center and the size. */
export type BoxFormat = (typeof BOX_FORMATS)[number];

export const UNITS = ['pixels', 'fraction'] as const;
/** Pixels of the tensor, or fractions of its sides. */
export type Unit = (typeof UNITS)[number];

export const boxFormatSchema: Schema = {
  enum: [...BOX_FORMATS],
  description:
    'The numbers of a box: corners (xyxy, the default), corners with y first (yxyx), left top corner and size (xywh), or center and size (cxcywh).',
};
export const unitSchema: Schema = {
  enum: [...UNITS],
  description: "What boxes are measured in: pixels of the model's input, the default, or fractions of its sides.",
};

/** The numbers of a box, whatever its format. */
export type BoxNumbers = readonly [number, number, number, number];

/** The four numbers from `at` on. */
export function numbersAt(data: Float32Array | Float64Array, at: number): BoxNumbers {
  return data.subarray(at, at + 4) as unknown as BoxNumbers;
}

/** Four numbers as a box. */
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

/** A box in pixels of a tensor of this size. */
export function toPixels(box: Box, unit: Unit, { width, height }: Size): Box {
  return unit === 'pixels'
    ? box
    : { xmin: box.xmin * width, ymin: box.ymin * height, xmax: box.xmax * width, ymax: box.ymax * height };
}
