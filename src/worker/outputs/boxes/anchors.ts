import { TabServeError } from '../../../contract/errors.js';
import { MAX_ANCHORS } from '../../../contract/limits.js';

/** Anchors, four numbers each: center x, center y, width and height, in fractions of the input's sides. */
export type Anchors = Float64Array;

/** The options of torchvision's `DefaultBoxGenerator`. */
export interface TorchvisionAnchors {
  /**
   * The cells of each feature map: the side of a square map, or [height, width].
   * @minItems 1
   * @maxItems 100
   */
  readonly grids: readonly AnchorGrid[];
  /**
   * The aspect ratios of each feature map, e.g. [[2], [2, 3]]. The generator adds the ratio 1 and the inverse of
   * each ratio.
   * @minItems 1
   */
  readonly aspectRatios: readonly (readonly Positive[])[];
  /**
   * The scale of each feature map, and one more scale. Default: even steps from minRatio to maxRatio, and 1.
   */
  readonly scales?: readonly Positive[];
  /**
   * The scale of the first feature map, less than maxRatio. Default 0.15.
   * @exclusiveMinimum 0
   */
  readonly minRatio?: number;
  /**
   * The scale of the last feature map. Default 0.9.
   * @exclusiveMinimum 0
   */
  readonly maxRatio?: number;
  /**
   * The distance between the cells of each feature map, in pixels. Default: the cells divide the input evenly.
   */
  readonly steps?: readonly Positive[];
}

/** The options of TensorFlow's `ssd_anchor_generator`. */
export interface TensorflowAnchors {
  /**
   * The cells of each feature map: the side of a square map, or [height, width].
   * @minItems 1
   * @maxItems 100
   */
  readonly grids: readonly AnchorGrid[];
  /**
   * The aspect ratios of every feature map. Default [1, 2, 0.5, 3, 0.3333].
   * @minItems 1
   */
  readonly aspectRatios?: readonly Positive[];
  /**
   * The scale of the first feature map, less than maxScale. Default 0.2.
   * @exclusiveMinimum 0
   */
  readonly minScale?: number;
  /**
   * The scale of the last feature map. Default 0.95.
   * @exclusiveMinimum 0
   */
  readonly maxScale?: number;
  /**
   * Whether each cell of the first feature map has only three anchors (reduce_boxes_in_lowest_layer). Default
   * true.
   */
  readonly reduceLowest?: boolean;
}

/** The options of MediaPipe's anchors for BlazeFace: only the centers differ; every anchor has the size 1. */
export interface BlazefaceAnchors {
  /**
   * The cells of each feature map: the side of a square map, or [height, width].
   * @minItems 1
   * @maxItems 100
   */
  readonly grids: readonly AnchorGrid[];
  /**
   * The number of anchors in each cell, for each feature map.
   * @maxItems 100
   * @items {"type":"integer","minimum":1,"maximum":1000}
   */
  readonly perCell: readonly number[];
}

/**
 * A whole number of cells.
 * @integer
 * @minimum 1
 */
type Cells = number;

/**
 * A number above 0.
 * @exclusiveMinimum 0
 */
export type Positive = number;

/** The cells of a feature map: the side of a square map, or [height, width]. */
export type AnchorGrid = Cells | readonly [height: Cells, width: Cells];

/** How to create the anchors: exactly one of these keys. */
export interface AnchorOptions {
  /** The options of torchvision's DefaultBoxGenerator. */
  readonly torchvision?: TorchvisionAnchors;
  /** The options of TensorFlow's ssd_anchor_generator. */
  readonly tensorflow?: TensorflowAnchors;
  /** The options of MediaPipe's anchors for BlazeFace, which all have the same size. */
  readonly blazeface?: BlazefaceAnchors;
  /** The path of a JSON file in the archive: a list of [cx, cy, w, h], in fractions of the input's sides. */
  readonly file?: string;
}

/** The defaults of torchvision and TensorFlow. */
export const [MIN_RATIO, MAX_RATIO, MIN_SCALE, MAX_SCALE] = [0.15, 0.9, 0.2, 0.95];

/**
 * Creates the anchors of a generator. TensorFlow's anchors, and torchvision's anchors with `steps`, depend on the size
 * of the input tensor, in pixels.
 */
export function makeAnchors(
  { torchvision, tensorflow, blazeface }: AnchorOptions,
  { width, height }: { readonly width: number; readonly height: number },
): Anchors {
  if (torchvision) {
    const { steps } = torchvision;
    return anchorsAt(
      torchvision.grids,
      torchvisionShapes(torchvision),
      (level) => steps && [steps[level]! / width, steps[level]! / height],
    );
  }
  if (tensorflow) {
    // TensorFlow measures sizes in units of the input's shorter side, so that a square anchor is square in pixels.
    const shorter = Math.min(width, height);
    const shapes = tensorflowShapes(tensorflow).map((level) =>
      level.map(([w, h]): Shape => [(w * shorter) / width, (h * shorter) / height]),
    );
    return anchorsAt(tensorflow.grids, shapes);
  }
  const { grids, perCell } = blazeface!;
  return anchorsAt(
    grids,
    perCell.map((count) => Array.from({ length: count }, () => [1, 1] as const)),
  );
}

type Shape = readonly [width: number, height: number];

/**
 * Returns every shape at every cell, row by row. The cells divide the input evenly, unless `step` returns their
 * distance.
 */
function anchorsAt(
  grids: readonly AnchorGrid[],
  shapes: readonly (readonly Shape[])[],
  step?: (level: number) => Shape | undefined,
): Anchors {
  const counts = grids.map(
    (grid, level) => (typeof grid === 'number' ? grid * grid : grid[0] * grid[1]) * shapes[level]!.length,
  );
  const count = counts.reduce((sum, one) => sum + one, 0);
  if (count > MAX_ANCHORS)
    throw new TabServeError(
      'model-config',
      `handler.decoder.ssd.anchors: the grids make ${count} anchors, and the limit is ${MAX_ANCHORS}. Use smaller grids.`,
    );
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

/**
 * Returns torchvision's shapes for each feature map.
 * @see https://github.com/pytorch/vision/blob/main/torchvision/models/detection/anchor_utils.py `DefaultBoxGenerator`
 */
function torchvisionShapes({
  aspectRatios,
  minRatio = MIN_RATIO,
  maxRatio = MAX_RATIO,
  scales = evenScales(minRatio, maxRatio, aspectRatios.length),
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

/**
 * Returns TensorFlow's shapes for each feature map.
 * @see
 *   https://github.com/tensorflow/models/blob/master/research/object_detection/anchor_generators/multiple_grid_anchor_generator.py
 *   `create_ssd_anchors`
 */
function tensorflowShapes({
  grids,
  aspectRatios = [1, 2, 0.5, 3, 0.3333],
  minScale = MIN_SCALE,
  maxScale = MAX_SCALE,
  reduceLowest = true,
}: TensorflowAnchors): Shape[][] {
  const scales = evenScales(minScale, maxScale, grids.length);
  const shape = (scale: number, ratio: number): Shape => [scale * Math.sqrt(ratio), scale / Math.sqrt(ratio)];
  return grids.map((_, level) => {
    const scale = scales[level]!;
    if (level === 0 && reduceLowest) return [shape(0.1, 1), shape(scale, 2), shape(scale, 0.5)];
    return [...aspectRatios.map((ratio) => shape(scale, ratio)), shape(Math.sqrt(scale * scales[level + 1]!), 1)];
  });
}

/** Returns `count` evenly spaced numbers from `min` to `max`, followed by 1. */
function evenScales(min: number, max: number, count: number): number[] {
  return [
    ...Array.from({ length: count }, (_, index) => (count > 1 ? min + ((max - min) * index) / (count - 1) : min)),
    1,
  ];
}

/** Reads a list of [cx, cy, w, h]. @throws `model-format` if the value is anything else */
export function parseAnchors(value: unknown, file: string): Anchors {
  const isAnchor = (item: unknown): item is number[] =>
    Array.isArray(item) && item.length === 4 && item.every(Number.isFinite);
  if (!Array.isArray(value) || value.length === 0 || !value.every(isAnchor))
    throw new TabServeError(
      'model-format',
      `${file} must be a list of anchors, each a list of four numbers: [cx, cy, w, h].`,
    );
  return Float64Array.from(value.flat());
}
