import type { Schema } from '../../shared/json-schema.js';
import { MAX_TRANSFORM_SIDE } from '../../contract/limits.js';
import {
  COLOR_ORDERS,
  INTERPOLATIONS,
  LAYOUTS,
  POSITIONS,
  RESIZED_SIDES,
  ROUNDINGS,
  TO_MULTIPLES,
  type StepName,
  type StepOptions,
} from './steps.js';

/**
 * The JSON Schema of `imageProcessing`, for editors: all forms that `parseTransforms` accepts, with descriptions.
 * Handlers do not use it, because `parseTransforms` has better messages and checks the order of the steps. A test
 * compares the two.
 */

const listOf = (items: Schema, count: number): Schema => ({ type: 'array', items, minItems: count, maxItems: count });
const side: Schema = { type: 'integer', minimum: 1, maximum: MAX_TRANSFORM_SIDE };
const level: Schema = { type: 'integer', minimum: 0, maximum: 255 };
const fill: Schema = {
  anyOf: [level, listOf(level, 3)],
  description: 'A gray level, or [red, green, blue], each in 0..255.',
};
const interpolation: Schema = {
  enum: [...INTERPOLATIONS],
  description: 'The interpolation. All but nearest are antialiased. Default bilinear.',
};
const position: Schema = {
  enum: [...POSITIONS],
  description:
    'The position of the image: in the center, or at the top left, with all padding on the right and at the bottom. Default center.',
};
const rounding: Schema = {
  enum: [...ROUNDINGS],
  description: "Whose rules round: torchvision's, or those of Hugging Face's transformers. Default torchvision.",
};
const heightWidth: Schema = listOf(side, 2);
const perChannel: Schema = {
  anyOf: [{ type: 'number' }, listOf({ type: 'number' }, 1), listOf({ type: 'number' }, 3)],
};
const length: Schema = { type: 'integer', minimum: 0, maximum: MAX_TRANSFORM_SIDE };
const padding: Schema = { anyOf: [length, ...[1, 2, 4].map((sides) => listOf(length, sides))] };
const size: Schema = { anyOf: [side, heightWidth] };
const toMultiple: Schema = { enum: [...TO_MULTIPLES] };
const keepAspectRatio: Schema = { type: 'boolean' };

/** Returns the schema of a step's options: an object with the options, or only the value of the first option. */
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
  readonly [Name in StepName]: { readonly description: string; readonly value: Schema; readonly nameOnly?: true };
} = {
  resize: {
    description:
      'Resizes the image: to [height, width], or so that the shorter side is size and the longer side is at most maxSize; or with side: longer so that the longer side is size; image is its own size. multipleOf rounds both sides to a multiple: down, or as toMultiple says. keepAspectRatio gives both sides of [height, width] the scale that changes the image less; thumbnail shrinks an image that is larger so that it fits them, and leaves others. All interpolations but nearest are antialiased.',
    value: options<StepOptions['resize']>(
      {
        size: { anyOf: [side, heightWidth, { const: 'image' }] },
        interpolation,
        side: { enum: [...RESIZED_SIDES] },
        maxSize: side,
        multipleOf: side,
        toMultiple,
        keepAspectRatio,
        thumbnail: { type: 'boolean' },
        rounding,
      },
      ['size'],
    ),
  },
  centerCrop: {
    description: 'Crops the center, of [height, width] or a square. If the image is smaller, the rest is black.',
    value: options<StepOptions['centerCrop']>({ size, rounding }, ['size']),
  },
  pad: {
    description:
      'Adds a border. padding is the width of the border in pixels: one number for all sides, [left and right, top and bottom], or [left, top, right, bottom]. fill is the color, 0 by default.',
    value: options<StepOptions['pad']>({ padding, fill }, ['padding']),
  },
  mirror: {
    description:
      'Continues the image as in a mirror: multipleOf on the right and at the bottom, to the next multiple above its sides; margin on all sides, by trunc(sqrt(side / 2) * margin) pixels.',
    value: {
      anyOf: [
        {
          type: 'object',
          properties: { multipleOf: side },
          required: ['multipleOf'],
          additionalProperties: false,
        },
        {
          type: 'object',
          properties: { margin: { type: 'number', exclusiveMinimum: 0 } },
          required: ['margin'],
          additionalProperties: false,
        },
        side,
      ],
    },
  },
  letterbox: {
    description:
      'Resizes the image to fit into [height, width], keeps its aspect ratio, rounds its sides, and pads the rest with fill, 114 by default. The image is centered unless position is top-left. All interpolations but nearest are antialiased.',
    value: options<StepOptions['letterbox']>({ size: heightWidth, fill, interpolation, position }, ['size']),
  },
  grayscale: {
    description: 'Converts the image to luma, in one channel or in three equal channels.',
    value: options<StepOptions['grayscale']>({ channels: { enum: [1, 3] } }),
    nameOnly: true,
  },
  colorOrder: {
    description: 'Sets the order of the channels in the tensor. Default RGB.',
    value: { enum: [...COLOR_ORDERS] },
  },
  toTensor: {
    description: 'Converts 0..255 to float32 in 0..1. With scale, multiplies 0..255 by scale instead: 1 keeps 0..255.',
    value: options<StepOptions['toTensor']>({
      scale: { type: 'number', not: { const: 0 } },
      rounding,
    }),
    nameOnly: true,
  },
  normalize: {
    description:
      'Computes (x - mean) / std. mean and std are one number for all channels, or one number for each channel in the order of the channels. Comes after toTensor.',
    value: {
      type: 'object',
      properties: { mean: perChannel, std: perChannel },
      required: ['mean', 'std'],
      additionalProperties: false,
    },
  },
  resizeTensor: {
    description:
      'Resizes the tensor to [height, width] bilinearly, so that the centers of its corners stay, unless alignCorners is false; with antialias as resize does, without rounding to 8 bits. multipleOf, toMultiple and keepAspectRatio are those of resize. Comes after toTensor.',
    value: options<StepOptions['resizeTensor']>(
      {
        size: heightWidth,
        multipleOf: side,
        toMultiple,
        keepAspectRatio,
        antialias: { type: 'boolean' },
        alignCorners: { type: 'boolean' },
      },
      ['size'],
    ),
  },
  padTensor: {
    description:
      'Pads the tensor with zeros: to the size [height, width], or up to a multiple of multipleOf. The image is at the top left unless position is center. At the top left, the pixel_mask of a model is 0 in the padding, and the boxes of a detector that has one are in fractions of the rest. Comes after toTensor.',
    value: {
      anyOf: [
        heightWidth,
        ...[{ size: heightWidth }, { multipleOf: side }].map((one) => ({
          type: 'object' as const,
          properties: { ...one, position },
          required: Object.keys(one),
          additionalProperties: false,
        })),
      ],
    },
  },
  letterboxTensor: {
    description:
      "Pads the tensor to a square with the number fill (default 0.5), the image at the top left, and resizes the square to side × side: bilinearly, smoothed by a Gaussian before if it shrinks, as OWLv2's processor does. Comes after toTensor.",
    value: options<StepOptions['letterboxTensor']>({ side, fill: { type: 'number' } }, ['side']),
  },
  layout: {
    description: 'Sets the layout: channels first (NCHW) or last (NHWC). Default NCHW. Comes after toTensor.',
    value: { enum: [...LAYOUTS] },
  },
};

export const TRANSFORMS_SCHEMA: Schema = {
  type: 'array',
  items: {
    anyOf: Object.entries(STEPS).flatMap(([name, { description, value, nameOnly }]): Schema[] => [
      ...(nameOnly ? [{ const: name, description }] : []),
      {
        type: 'object',
        properties: { [name]: { ...value, description } },
        required: [name],
        additionalProperties: false,
      },
    ]),
  },
};
