/** What both workers of the benchmark's own are told first. */
export interface Task {
  /** The archive's folder: `/models/face/`. */
  readonly archive: string;
  /** The sides of the models' square inputs, in pixels. */
  readonly detectorSide: number;
  readonly side: number;
  /** What is cut out of each frame, in its pixels: the middle and the side. */
  readonly regions: readonly { readonly x: number; readonly y: number; readonly size: number }[];
}

/** In how many frames the detector runs once, as in the handlers. */
export const DETECT_EVERY = 10;
