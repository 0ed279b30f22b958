/** A rectangle by its corners, in pixels; the origin is the outer corner of the first pixel. */
export interface Box {
  readonly xmin: number;
  readonly ymin: number;
  readonly xmax: number;
  readonly ymax: number;
}

/** An object found in an image. */
export interface Detection {
  readonly label: string;
  /** In 0..1. */
  readonly score: number;
  /** In pixels of the upright original image, and clipped to it. */
  readonly box: Box;
}

/** All objects found in one image, highest score first; none is an empty list. */
export type Detections = readonly Detection[];

/** TorchServe's shape of a detection: the label with its corners x1, y1, x2, y2, and the score. */
export type TorchServeDetection = Readonly<Record<string, readonly [number, number, number, number] | number>>;

/** The forms of a detector's result by the value of `result`. */
export interface DetectionForms {
  readonly typed: Detections;
  readonly torchserve: readonly TorchServeDetection[];
}
