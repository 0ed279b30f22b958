import { TabServeError } from '../../../contract/errors.js';
import { softmax } from '../scores.js';
import {
  isBatch,
  isTable,
  join,
  mismatchError,
  withBatchAxis,
  type Format,
  type Size,
  type TensorView,
} from './decoder.js';
import { levelsOf, pointAt, pointCount, type Stride } from './grid.js';
import { bestClasses, type ScoreLayout } from './proposals.js';

/** The default of `regMax` in NanoDet's configs: the number of bins of a side, minus one. */
const REG_MAX = 7;

export interface NanodetOptions {
  /**
   * The distance between two points of each feature map, in pixels of the input, in the order of the output.
   * Default [8, 16, 32].
   * @minItems 1
   * @maxItems 100
   */
  readonly strides?: readonly Stride[];
  /**
   * The number of bins of a side, minus one. Default: computed from the number of labels if there are labels,
   * otherwise 7.
   * @integer
   * @minimum 1
   */
  readonly regMax?: number;
  /** The position of a point in its cell: 0.5 is the middle; NanoDet-Plus needs 0. Default 0.5. */
  readonly centerOffset?: number;
  /**
   * The names of the outputs of the head, in any order. Default: all outputs of the model.
   * @minItems 1
   */
  readonly outputs?: readonly string[];
}

/** The positions of the scores and sides of all points, after the tensors of each kind are joined. */
interface Head {
  readonly scores: Float32Array;
  readonly layout: ScoreLayout;
  readonly sides: Float32Array;
  readonly sideOffset: number;
  readonly sideStride: number;
  readonly bins: number;
}

/**
 * NanoDet's head: class scores (the graph includes the sigmoid), and for each side of the box a distribution over
 * `regMax + 1` bins. The distance of a side from `center = (cell + centerOffset) · stride` is
 * Σ softmax(bins)ᵢ · i · stride. The order of the sides is left, top, right, bottom (Generalized Focal Loss,
 * arXiv:2006.04388).
 */
export const nanodet: Format<NanodetOptions> = {
  iouThreshold: 0.6,
  create({ strides = [8, 16, 32], regMax, centerOffset = 0.5, outputs: names }, model) {
    const outputs =
      names?.map((name) => model.outputs.find((output) => output.name === name) ?? missing(name, model.outputs)) ??
      model.outputs;
    const isSingle = outputs.length === 1;
    const expected = (size?: Size): string => {
      const points = (
        size ? levelsOf(strides, size).map(({ count }) => count) : strides.map((stride) => `points of stride ${stride}`)
      ).join(isSingle ? ' + ' : ' | ');
      return isSingle
        ? `[batch, ${points}, classes + 4 · (regMax + 1)]`
        : `[batch, ${points}, classes] and [batch, ${points}, 4 · (regMax + 1)]`;
    };
    /**
     * Returns how many columns hold the sides: the last ones of a single output, or all columns of a separate output.
     */
    const sidesOf = (columns: number): number => {
      if (regMax !== undefined) return 4 * (regMax + 1);
      return isSingle && model.labels !== undefined ? columns - model.labels : 4 * (REG_MAX + 1);
    };
    const isSides = (columns: number): boolean =>
      regMax === undefined && model.labels !== undefined ? columns !== model.labels : columns === sidesOf(columns);

    const headOf = (views: readonly TensorView[], size: Size): Head => {
      const failToFit = (): never => {
        throw mismatchError('nanodet', expected(size), withBatchAxis(outputs, views));
      };
      const levels = levelsOf(strides, size);
      const count = pointCount(levels);
      const joinLevels = (isWanted: (columns: number) => boolean): TensorView =>
        join(
          levels.map(
            (level) => views.find(({ dims }) => isWanted(dims.at(-1)!) && dims.at(-2) === level.count) ?? failToFit(),
          ),
        );
      const [scores, sides] = isSingle
        ? [views[0]!, views[0]!]
        : [joinLevels((columns) => !isSides(columns)), joinLevels(isSides)];
      const [columns, sideStride] = [scores.dims.at(-1)!, sides.dims.at(-1)!];
      const sideLength = isSingle ? sidesOf(columns) : sideStride;
      const classes = isSingle ? columns - sideLength : columns;
      if (scores.dims.at(-2) !== count || classes < 1 || sideLength < 8 || sideLength % 4 !== 0) failToFit();
      return {
        scores: scores.data,
        layout: { count, classes, offset: 0, boxStride: columns, classStride: 1 },
        sides: sides.data,
        sideOffset: isSingle ? classes : 0,
        sideStride,
        bins: sideLength / 4,
      };
    };

    // If the model fixes all dims, check them now with empty tensors.
    const known = outputs
      .map(({ dims }) => dims.slice(-2))
      .filter((dims): dims is number[] => dims.length === 2 && dims.every((size) => typeof size === 'number'));
    if (!outputs.every(isTable)) throw mismatchError('nanodet', expected(model.size), outputs);
    const classes =
      model.size && known.length === outputs.length
        ? headOf(
            known.map((dims) => ({ dims, data: new Float32Array(dims[0]! * dims[1]!) })),
            model.size,
          ).layout.classes
        : undefined;
    return {
      outputs: outputs.map(({ name }) => name),
      isBatched: isBatch(outputs[0]!),
      classes,
      decode(views, size) {
        const { scores, layout, sides, sideOffset, sideStride, bins } = headOf(views, size);
        const levels = levelsOf(strides, size);
        return {
          ...bestClasses(scores, layout),
          box(index) {
            const { x, y, stride } = pointAt(levels, index);
            const [cx, cy] = [(x + centerOffset) * stride, (y + centerOffset) * stride];
            const distance = (side: number): number => {
              const at = index * sideStride + sideOffset + side * bins;
              return (
                softmax(sides.subarray(at, at + bins)).reduce((sum, probability, bin) => sum + probability * bin, 0) *
                stride
              );
            };
            return { xmin: cx - distance(0), ymin: cy - distance(1), xmax: cx + distance(2), ymax: cy + distance(3) };
          },
        };
      },
    };
  },
};

function missing(name: string, outputs: readonly { readonly name: string }[]): never {
  throw new TabServeError(
    'model-config',
    `handler.decoder.nanodet.outputs: the model has no "${name}"; it has ${outputs.map((output) => `"${output.name}"`).join(', ')}. Use one of these names.`,
  );
}
