import { TabServeError } from '../../contract/errors.js';
import type { Schema } from '../../shared/schema.js';

/** Anchors as center and size in fractions of the input's sides, four numbers each. */
export type Anchors = Float64Array;

/** torchvision's `DefaultBoxGenerator`. */
export interface TorchvisionAnchors {
  readonly grids: readonly AnchorGrid[];
  readonly aspectRatios: readonly (readonly number[])[];
  readonly scales?: readonly number[];
  readonly minRatio?: number;
  readonly maxRatio?: number;
  readonly steps?: readonly number[];
}

/** TensorFlow's `ssd_anchor_generator`. */
export interface TensorflowAnchors {
  readonly grids: readonly AnchorGrid[];
  readonly aspectRatios?: readonly number[];
  readonly minScale?: number;
  readonly maxScale?: number;
  readonly reduceLowest?: boolean;
}

/** MediaPipe's, as BlazeFace has them: centers alone, of size 1. */
export interface BlazefaceAnchors {
  readonly grids: readonly AnchorGrid[];
  readonly perCell: readonly number[];
}

/** Cells of a feature map: a side of a square one, or [height, width]. */
export type AnchorGrid = number | readonly [number, number];

export interface AnchorOptions {
  readonly torchvision?: TorchvisionAnchors;
  readonly tensorflow?: TensorflowAnchors;
  readonly blazeface?: BlazefaceAnchors;
  readonly file?: string;
}

/** torchvision's and TensorFlow's own defaults. */
export const [MIN_RATIO, MAX_RATIO, MIN_SCALE, MAX_SCALE] = [0.15, 0.9, 0.2, 0.95];

const positive: Schema = { type: 'number', exclusiveMinimum: 0 };
const numbers: Schema = { type: 'array', items: positive };
const cells: Schema = { type: 'integer', minimum: 1 };
const grids: Schema = {
  type: 'array',
  items: { anyOf: [cells, { type: 'array', items: cells, minItems: 2, maxItems: 2 }] },
  minItems: 1,
  description: 'Cells of each feature map: the side of a square one, or [height, width].',
};

export const anchorsSchema: Schema = {
  type: 'object',
  minProperties: 1,
  maxProperties: 1,
  description: 'How the anchors are made, by one of these, or the file that has them.',
  properties: {
    torchvision: {
      type: 'object',
      description: "torchvision's DefaultBoxGenerator.",
      required: ['grids', 'aspectRatios'],
      properties: {
        grids,
        aspectRatios: {
          type: 'array',
          items: numbers,
          minItems: 1,
          description: 'Of each feature map, beside 1 and without inverses, e.g. [[2], [2, 3]].',
        },
        scales: {
          ...numbers,
          description: 'One for each feature map and one more. By default evenly from minRatio to maxRatio, and 1.',
        },
        minRatio: { ...positive, description: 'Less than maxRatio; 0.15 by default.' },
        maxRatio: { ...positive, description: '0.9 by default.' },
        steps: {
          ...numbers,
          description: 'Pixels between the cells of each feature map. By default the cells divide the input evenly.',
        },
      },
    },
    tensorflow: {
      type: 'object',
      description: "TensorFlow's ssd_anchor_generator.",
      required: ['grids'],
      properties: {
        grids,
        aspectRatios: { ...numbers, minItems: 1, description: '[1, 2, 0.5, 3, 0.3333] by default.' },
        minScale: { ...positive, description: 'Less than maxScale; 0.2 by default.' },
        maxScale: { ...positive, description: '0.95 by default.' },
        reduceLowest: {
          type: 'boolean',
          description:
            'Whether the first feature map has three boxes a cell alone (reduce_boxes_in_lowest_layer); true by default.',
        },
      },
    },
    blazeface: {
      type: 'object',
      description: "MediaPipe's anchors of one size, as BlazeFace has them.",
      required: ['grids', 'perCell'],
      properties: {
        grids,
        perCell: {
          type: 'array',
          items: { type: 'integer', minimum: 1 },
          description: 'Anchors in each cell of each feature map.',
        },
      },
    },
    file: {
      type: 'string',
      description: "A JSON file of the archive: a list of [cx, cy, w, h] in fractions of the input's sides.",
    },
  },
};

/** Makes the anchors of a generator. The size of the input tensor, in pixels, counts for TensorFlow's anchors, and for torchvision's with `steps`. */
export function makeAnchors(
  { torchvision, tensorflow, blazeface }: AnchorOptions,
  { width, height }: { readonly width: number; readonly height: number },
): Anchors {
  if (torchvision) {
    const { steps } = torchvision;
    return fill(
      torchvision.grids,
      torchvisionShapes(torchvision),
      (level) => steps && [steps[level]! / width, steps[level]! / height],
    );
  }
  if (tensorflow) {
    // Sizes are in units of the input's shorter side: a square anchor is square in pixels.
    const shorter = Math.min(width, height);
    const shapes = tensorflowShapes(tensorflow).map((level) =>
      level.map(([w, h]): Shape => [(w * shorter) / width, (h * shorter) / height]),
    );
    return fill(tensorflow.grids, shapes);
  }
  const { grids, perCell } = blazeface!;
  return fill(
    grids,
    perCell.map((count) => Array.from({ length: count }, () => [1, 1] as const)),
  );
}

type Shape = readonly [width: number, height: number];

/** Every shape at every cell, row by row; cells are of size 1 / grid unless a step says otherwise. */
function fill(
  grids: readonly AnchorGrid[],
  shapes: readonly (readonly Shape[])[],
  step?: (level: number) => Shape | undefined,
): Anchors {
  const anchors: number[] = [];
  grids.forEach((grid, level) => {
    const [rows, columns] = typeof grid === 'number' ? [grid, grid] : grid;
    const [stepX, stepY] = step?.(level) ?? [1 / columns, 1 / rows];
    for (let y = 0; y < rows; y++)
      for (let x = 0; x < columns; x++)
        for (const [width, height] of shapes[level]!) anchors.push((x + 0.5) * stepX, (y + 0.5) * stepY, width, height);
  });
  return Float64Array.from(anchors);
}

/** @see https://github.com/pytorch/vision/blob/main/torchvision/models/detection/anchor_utils.py `DefaultBoxGenerator` */
function torchvisionShapes({
  aspectRatios,
  minRatio = MIN_RATIO,
  maxRatio = MAX_RATIO,
  scales = evenly(minRatio, maxRatio, aspectRatios.length),
}: TorchvisionAnchors): Shape[][] {
  const clip = (value: number): number => Math.min(Math.max(value, 0), 1);
  return aspectRatios.map((ratios, level) => {
    const [scale, next] = [scales[level]!, scales[level + 1]!];
    const between = Math.sqrt(scale * next);
    const others = ratios.flatMap((ratio): Shape[] => {
      const root = Math.sqrt(ratio);
      return [
        [scale * root, scale / root],
        [scale / root, scale * root],
      ];
    });
    return [[scale, scale] as const, [between, between] as const, ...others].map(([width, height]): Shape => [
      clip(width),
      clip(height),
    ]);
  });
}

/** @see https://github.com/tensorflow/models/blob/master/research/object_detection/anchor_generators/multiple_grid_anchor_generator.py `create_ssd_anchors` */
function tensorflowShapes({
  grids,
  aspectRatios = [1, 2, 0.5, 3, 0.3333],
  minScale = MIN_SCALE,
  maxScale = MAX_SCALE,
  reduceLowest = true,
}: TensorflowAnchors): Shape[][] {
  const scales = evenly(minScale, maxScale, grids.length);
  const shape = (scale: number, ratio: number): Shape => [scale * Math.sqrt(ratio), scale / Math.sqrt(ratio)];
  return grids.map((_, level) => {
    const scale = scales[level]!;
    if (level === 0 && reduceLowest) return [shape(0.1, 1), shape(scale, 2), shape(scale, 0.5)];
    return [...aspectRatios.map((ratio) => shape(scale, ratio)), shape(Math.sqrt(scale * scales[level + 1]!), 1)];
  });
}

/** `count` numbers from `min` to `max`, and 1. */
function evenly(min: number, max: number, count: number): number[] {
  return [
    ...Array.from({ length: count }, (_, index) => (count > 1 ? min + ((max - min) * index) / (count - 1) : min)),
    1,
  ];
}

/** Reads a list of [cx, cy, w, h]. @throws `model-format` */
export function parseAnchors(value: unknown, file: string): Anchors {
  const isAnchor = (item: unknown): item is number[] =>
    Array.isArray(item) && item.length === 4 && item.every(Number.isFinite);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAnchor))
    throw new TabServeError('model-format', `${file} must be a list of [cx, cy, w, h].`);
  return Float64Array.from(value.flat());
}
