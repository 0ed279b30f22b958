/** A rectangle by its corners, in pixels. The origin is the outer corner of the first pixel. */
export interface Box {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}

/** An object found in an image. */
export interface Detection {
  readonly label: string;
  /** The confidence, in 0..1. */
  readonly score: number;
  /** The box in pixels of the upright original image, clipped to the image. */
  readonly box: Box;
}

/** All objects found in one image, highest score first. If there are none, the list is empty. */
export type Detections = readonly Detection[];

/**
 * TorchServe's form of a detection: the key is the label, its value is the corners x1, y1, x2, y2; `score` is the
 * score.
 */
export type TorchServeDetection = Readonly<Record<string, readonly [number, number, number, number] | number>>;

/** The form of a detector's result for each value of `result`. */
export interface DetectionForms {
  readonly typed: Detections;
  readonly torchserve: readonly TorchServeDetection[];
}
