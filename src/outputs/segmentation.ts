import type { OnArrayBuffer, Tensor } from '../contract/tensors.js';
import type { ClassData } from './class-map.js';

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
