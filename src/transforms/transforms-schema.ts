import type { Schema } from '@cfworker/json-schema';
import { COLOR_ORDERS, INTERPOLATIONS, LAYOUTS, POSITIONS, type StepName, type StepOptions } from './steps.js';

/**
 * The JSON Schema of `imageProcessing`, for editors: all forms that `parseTransforms` accepts, with their meaning.
 * A handler does not use it: `parseTransforms` has better messages, and checks the order of the steps. A test compares the two.
 */

const listOf = (items: Schema, count: number): Schema => ({ type: 'array', items, minItems: count, maxItems: count });
const side: Schema = { type: 'integer', minimum: 1 };
const level: Schema = { type: 'integer', minimum: 0, maximum: 255 };
const fill: Schema = {
  anyOf: [level, listOf(level, 3)],
  description: 'A gray level, or [red, green, blue], in 0..255.',
};
const interpolation: Schema = {
  enum: [...INTERPOLATIONS],
  description: 'How pixels are interpolated, antialiased but for nearest. Default bilinear.',
};
const position: Schema = {
  enum: [...POSITIONS],
  description: 'Where the image lies: in the middle, the default, or with all padding right and below.',
};
const heightWidth: Schema = listOf(side, 2);
const perChannel: Schema = {
  anyOf: [{ type: 'number' }, listOf({ type: 'number' }, 1), listOf({ type: 'number' }, 3)],
};
const length: Schema = { type: 'integer', minimum: 0 };
const padding: Schema = { anyOf: [length, ...[1, 2, 4].map((sides) => listOf(length, sides))] };
const size: Schema = { anyOf: [side, heightWidth] };

/** Returns the schema of a step's options: an object of them, or the value of the first one alone. */
const options = <Options extends object>(
  properties: { readonly [Name in keyof Options]-?: Schema },
  required: readonly (keyof Options & string)[] = [],
): Schema => ({
  anyOf: [
    Object.values<Schema>(properties)[0]!,
    { type: 'object', properties, required: [...required], additionalProperties: false },
  ],
});

const STEPS: {
  readonly [Name in StepName]: { readonly description: string; readonly value: Schema; readonly alone?: true };
} = {
  resize: {
    description:
      'Scales, antialiased but for nearest: to [height, width], or so that the shorter side is size and the longer at most maxSize.',
    value: options<StepOptions['resize']>({ size, interpolation, maxSize: side }, ['size']),
  },
  centerCrop: {
    description: 'Cuts out the center, of [height, width] or a square; what a smaller image lacks is black.',
    value: options<StepOptions['centerCrop']>({ size }, ['size']),
  },
  pad: {
    description:
      'Adds a border: all sides, [left and right, top and bottom] or [left, top, right, bottom] in pixels; fill is 0 by default.',
    value: options<StepOptions['pad']>({ padding, fill }, ['padding']),
  },
  letterbox: {
    description:
      'Scales the whole image, antialiased but for nearest, into [height, width] with its ratio kept and its sides rounded, and pads with fill, 114 by default; centered, unless position is top-left.',
    value: options<StepOptions['letterbox']>({ size: heightWidth, fill, interpolation, position }, ['size']),
  },
  grayscale: {
    description: 'One channel of luma, or three alike.',
    value: options<StepOptions['grayscale']>({ channels: { enum: [1, 3] } }),
    alone: true,
  },
  colorOrder: {
    description: 'The order of the channels in the tensor. Default RGB.',
    value: { enum: [...COLOR_ORDERS] },
  },
  toTensor: {
    description: 'From 0..255 to 0..1 in float32; with scale, times that: 1 leaves 0..255.',
    value: options<StepOptions['toTensor']>({ scale: { type: 'number', not: { const: 0 } } }),
    alone: true,
  },
  normalize: {
    description:
      '(x - mean) / std, one number a channel in the order of the channels, or one for all. Comes after toTensor.',
    value: {
      type: 'object',
      properties: { mean: perChannel, std: perChannel },
      required: ['mean', 'std'],
      additionalProperties: false,
    },
  },
  layout: {
    description: 'Channels first (NCHW, the default) or last (NHWC). Comes after toTensor.',
    value: { enum: [...LAYOUTS] },
  },
};

export const TRANSFORMS_SCHEMA: Schema = {
  type: 'array',
  items: {
    anyOf: Object.entries(STEPS).flatMap(([name, { description, value, alone }]): Schema[] => [
      ...(alone ? [{ const: name, description }] : []),
      {
        type: 'object',
        properties: { [name]: { ...value, description } },
        required: [name],
        additionalProperties: false,
      },
    ]),
  },
};
