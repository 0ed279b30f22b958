/** What is explained: the options, and the parts of a handler that explain its answers. */
import { MAX_VARIANTS } from '../../contract/limits.js';
import type { Context, MaybePromise } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import type { ConfigSchema } from '../../shared/schema.js';
import type { Size } from '../outputs/boxes/decoder.js';
import type { Labels } from '../outputs/labels.js';
import type { FillColor, Transforms } from '../transforms/index.js';
import type { ImageTensorInput } from './image-input.js';
import type { Placement } from './placements.js';
import type { Row } from './row.js';
import type { TextInput } from './text-handler.js';

/**
 * Returns the score of each class, in 0..1, for each row of a model's outputs. `size` is that of the model's input.
 * @throws `inference-failed` if the scores are not finite
 */
export type ClassScores = (outputs: Tensors, rows: number, size: Size) => MaybePromise<readonly ArrayLike<number>[]>;

/** The parts of an image handler that explain its answers. */
export interface ExplainableImages {
  readonly input: ImageTensorInput;
  readonly inputName: string;
  readonly imageProcessing: Transforms;
  readonly labels: Labels | undefined;
  readonly scores: ClassScores;
  inference(inputs: Tensors, context: Context): Promise<Tensors>;
  placement(index: number, context: Context): Placement | undefined;
}

/** The parts of a text handler that explain its answers. */
export interface ExplainableTexts {
  readonly labels: Labels | undefined;
  /** Returns the score of each class, in 0..1, for each row of the model's outputs. @throws `inference-failed` */
  scores(outputs: Tensors, rows: number): readonly ArrayLike<number>[];
  preprocess(data: readonly Row<TextInput>[], context: Context): MaybePromise<Tensors>;
  inference(inputs: Tensors, context: Context): Promise<Tensors>;
}

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
