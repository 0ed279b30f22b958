import { toFloats } from '../../tensors/tensors.js';
import {
  type ClassData,
  classMap,
  highestClass,
  indicator,
  integerClasses,
  interleave,
  probabilityMap,
} from './class-map.js';
import { bilinear, nearest, type Grid } from '../../outputs/interpolate.js';
import type { MapForm, Maps } from '../../outputs/maps.js';
import { checkScores, type ScoreKind } from '../../outputs/scores.js';
import { transferResult } from '../../outputs/transfer.js';
import type { MaybePromise } from '../../../contract/handler.js';
import type { OnArrayBuffer, Tensor } from '../../../contract/tensors.js';

/** What a segmentation model's output holds: scores of each class, or one integer class for each pixel. */
export type OutputKind = ScoreKind | 'classes';

/** The parameters of one segmentation, with the defaults filled in. */
export interface SegmentParams {
  readonly result: Segmentation['result'];
  /** For a model with one channel: the probability, in 0..1, above which a pixel is of class 1. */
  readonly threshold: number;
  /** The number of classes, or undefined if it is unknown. */
  readonly classes: number | undefined;
  /** The index of the class that a mask shows. */
  readonly foreground: number;
}

/** The model's output for one image, and what to make of it. */
export interface SegmentOptions extends SegmentParams {
  readonly output: Tensor;
  readonly form: MapForm;
  readonly kind: OutputKind;
  /** The points of the model's map at which the result has its pixels. */
  readonly grid: Grid;
  /** Returns the labels of this many classes. */
  readonly labels: (classes: number | undefined) => readonly string[];
  /** Is called every few tenths of a second; what it throws ends the work. */
  readonly pause: () => MaybePromise<void>;
}

/**
 * Converts a model's output to a segmentation, and transfers its buffers to the page.
 * @throws `inference-failed` if the output holds numbers that are neither scores nor classes
 */
export async function segment(options: SegmentOptions): Promise<Segmentation> {
  const { result, kind } = options;
  if (result === 'mask') return segmentMask(options);
  if (kind === 'classes') return segmentClasses(options);
  return await segmentScores(options, kind);
}

function segmentMask({ output, form, kind, grid, labels, classes, foreground }: SegmentOptions): SoftMask {
  const probabilities =
    kind === 'classes'
      ? { ...form, data: indicator(integerClasses(output), foreground) }
      : probabilityMap(scoresOf(output, form, kind), kind, foreground);
  const mask = bilinear(probabilities, grid);
  const label = labels(classes)[foreground] ?? String(foreground);
  return transferResult({ result: 'mask', ...sizeOf(grid), label, mask }, [mask.buffer]);
}

function segmentClasses({ output, form, grid, labels, classes: known }: SegmentOptions): ClassMap {
  const classes = nearest(integerClasses(output), form.width, grid);
  const count = Math.max(known ?? 0, highestClass(classes) + 1);
  return transferResult({ result: 'classes', ...sizeOf(grid), labels: labels(count), classes }, [classes.buffer]);
}

async function segmentScores(options: SegmentOptions, kind: ScoreKind): Promise<ClassMap | TorchServeMap> {
  const { output, form, grid, threshold, labels, result, pause } = options;
  const { classes, scores } = await classMap(scoresOf(output, form, kind), kind, grid, threshold, pause);
  const { width, height } = sizeOf(grid);
  if (result === 'torchserve') {
    const data = interleave(classes, scores);
    return transferResult({ result, dtype: 'float32', dims: [height, width, 2], data }, [data.buffer]);
  }
  const buffers = [classes.buffer, scores.buffer];
  return transferResult(
    { result: 'classes', width, height, labels: labels(options.classes), classes, scores },
    buffers,
  );
}

function scoresOf(output: Tensor, form: MapForm, kind: ScoreKind): Maps {
  const data = toFloats(output);
  checkScores(data, kind);
  return { ...form, data };
}

function sizeOf({ columns, rows }: Grid): { readonly width: number; readonly height: number } {
  return { width: columns.size, height: rows.size };
}

/** The class of each pixel, for `result: 'classes'`. Maps are row-major, `width` × `height`. */
export interface ClassMap {
  readonly result: 'classes';
  readonly width: number;
  readonly height: number;
  /** The labels by class index. */
  readonly labels: readonly string[];
  /** One byte for each pixel, or two if there are more than 256 classes. Pixels that a crop removed are 0. */
  readonly classes: ClassData;
  /**
   * The probability of each pixel's class, in 0..1. Pixels that a crop removed are 0. Undefined if the model's output
   * is classes.
   */
  readonly scores?: OnArrayBuffer<Float32Array>;
}

/** The soft mask of one class, for `result: 'mask'`. */
export interface SoftMask {
  readonly result: 'mask';
  readonly width: number;
  readonly height: number;
  /** The label of the class. */
  readonly label: string;
  /** The probability of the class, in 0..1; row-major, `width` × `height`. Pixels that a crop removed are 0. */
  readonly mask: OnArrayBuffer<Float32Array>;
}

/** TorchServe's tensor `[height, width, 2]` of class and probability, for `result: 'torchserve'`. */
export interface TorchServeMap extends Tensor<'float32'> {
  readonly result: 'torchserve';
}

/** The form of a segmentation for each value of `result`. */
export interface SegmentationForms {
  readonly classes: ClassMap;
  readonly mask: SoftMask;
  readonly torchserve: TorchServeMap;
}

/** Any form of a segmentation; `result` in the config or the request's `params` chooses it. */
export type Segmentation = ClassMap | SoftMask | TorchServeMap;
