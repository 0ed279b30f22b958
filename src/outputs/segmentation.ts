import type { OnArrayBuffer, Tensor } from '../contract/tensors.js';
import type { ClassData } from './class-map.js';

/** The class of each pixel: `handler.result: classes`. Maps are row-major, `width` × `height`. */
export interface ClassMap {
  readonly result: 'classes';
  readonly width: number;
  readonly height: number;
  /** By class index. */
  readonly labels: readonly string[];
  /** Two bytes a pixel where there are more than 256 classes. 0 where the image was cropped away. */
  readonly classes: ClassData;
  /** Probability, in 0..1, of each pixel's class; 0 where the image was cropped away. A model that answers with classes has none. */
  readonly scores?: OnArrayBuffer<Float32Array>;
}

/** Where one class is: `handler.result: mask`. */
export interface SoftMask {
  readonly result: 'mask';
  readonly width: number;
  readonly height: number;
  /** The class. */
  readonly label: string;
  /** Probability of the class, in 0..1, row-major, `width` × `height`; 0 where the image was cropped away. */
  readonly mask: OnArrayBuffer<Float32Array>;
}

/** TorchServe's shape, `[height, width, 2]` with class and probability: `handler.result: torchserve`. */
export interface TorchServeMap extends Tensor<'float32'> {
  readonly result: 'torchserve';
}

/** The forms of a segmentation by the value of `result`. */
export interface SegmentationForms {
  readonly classes: ClassMap;
  readonly mask: SoftMask;
  readonly torchserve: TorchServeMap;
}

/** What the config's or the request's `result` asks for. */
export type Segmentation = ClassMap | SoftMask | TorchServeMap;
