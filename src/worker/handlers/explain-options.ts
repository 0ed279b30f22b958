import { MAX_VARIANTS } from '../../contract/limits.js';
import type { FillColor } from '../transforms/index.js';
import type { ConfigSchema } from '../../shared/schema.js';

/** The options of `explain` for texts. */
export interface TextExplainParams {
  /** The class, by its index or label. @default the class with the highest score */
  readonly target?: number | string;
  readonly method?: 'leave-one-out';
}

/** The options of `explain` for images. Pixels are those of the model's input. */
export interface ImageExplainParams {
  /** The class, by its index or label. @default the class with the highest score */
  readonly target?: number | string;
  /** @default 'occlusion' */
  readonly method?: 'occlusion' | 'rise';
  /** For `occlusion`: the side of the window, in pixels. @default a seventh of the shorter side */
  readonly window?: number;
  /** For `occlusion`: the pixels by which the window moves. @default half of the window */
  readonly stride?: number;
  /** For `rise`: the number of masks. @default 1000 */
  readonly masks?: number;
  /** For `rise`: the cells on a side of a mask. @default 7 */
  readonly grid?: number;
  /** For `rise`: the probability that a cell is shown. @default 0.5 */
  readonly probability?: number;
  /** For `rise`: the seed of the masks. @default 0 */
  readonly seed?: number;
  /**
   * What covers pixels: a gray level, or red, green and blue, in 0..255.
   * @default 0 in the model's input, which with `normalize` is the mean color
   */
  readonly baseline?: FillColor;
}

const TARGET: ConfigSchema = {
  target: {
    anyOf: [{ type: 'integer', minimum: 0 }, { type: 'string' }],
    description: 'The class, by its index or label. Default: the class with the highest score.',
  },
};

const BYTE = { type: 'integer', minimum: 0, maximum: 255 } as const;

export const TEXT_EXPLAIN_SCHEMA: ConfigSchema = {
  ...TARGET,
  method: {
    enum: ['leave-one-out'],
    description: 'Each word is left out once.',
    default: 'leave-one-out',
  },
};

export const IMAGE_EXPLAIN_SCHEMA: ConfigSchema = {
  ...TARGET,
  method: {
    enum: ['occlusion', 'rise'],
    description: 'occlusion: a window covers each part of the image in turn; rise: random masks cover half of it.',
    default: 'occlusion',
  },
  window: {
    type: 'integer',
    minimum: 1,
    description: 'For occlusion: the side of the window, in pixels. Default: a seventh of the shorter side.',
  },
  stride: {
    type: 'integer',
    minimum: 1,
    description:
      'For occlusion: the pixels by which the window moves; at most the window. Default: half of the window.',
  },
  masks: {
    type: 'integer',
    minimum: 1,
    maximum: MAX_VARIANTS,
    description: 'For rise: the number of masks.',
    default: 1000,
  },
  grid: { type: 'integer', minimum: 1, description: 'For rise: the cells on a side of a mask.', default: 7 },
  probability: {
    type: 'number',
    exclusiveMinimum: 0,
    exclusiveMaximum: 1,
    description: 'For rise: the probability that a cell is shown.',
    default: 0.5,
  },
  seed: {
    type: 'integer',
    minimum: 0,
    maximum: 2 ** 32 - 1,
    description: 'For rise: the seed of the masks.',
    default: 0,
  },
  baseline: {
    anyOf: [BYTE, { type: 'array', items: BYTE, minItems: 3, maxItems: 3 }],
    description:
      "What covers pixels: a gray level, or [red, green, blue], in 0..255. Default: 0 in the model's input, which with normalize is the mean color of its training images.",
  },
};
