import type { Box } from '../../outputs/boxes/detection.js';

/** A point of a face, a hand or a body, in pixels of the upright photo. It may lie beyond the photo's edge. */
export interface Landmark {
  readonly x: number;
  readonly y: number;
  /** The depth in the same unit, of models that estimate it: smaller is nearer to the camera. */
  readonly z?: number;
  /** How likely the point is visible, in 0..1, of models that say so. */
  readonly score?: number;
  /** What the point is, if the model's points have names. */
  readonly name?: string;
}

/** A face, a palm or a person that a detector has found. */
export interface FoundFace {
  /** The confidence, in 0..1. */
  readonly score: number;
  /** The box in pixels of the upright photo. It is not clipped: of a face at the edge it shows the size. */
  readonly box: Box;
  readonly landmarks: readonly Landmark[];
}

/** Returns the smallest box around points. */
export function boxAround(points: readonly Pick<Landmark, 'x' | 'y'>[]): Box {
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return { xmin: Math.min(...xs), ymin: Math.min(...ys), xmax: Math.max(...xs), ymax: Math.max(...ys) };
}

/** A face, a hand or a person with all landmarks of the model. */
export interface FoundLandmarks {
  /**
   * In a sequence the same number in each frame, from 1 on. One that appears after the first frame has it from its
   * second frame on.
   */
  readonly id?: number;
  /** How likely the model of landmarks has seen one, in 0..1. */
  readonly score: number;
  /** In pixels of the upright photo: the smallest box around the landmarks, or the model's own. */
  readonly box: Box;
  readonly landmarks: readonly Landmark[];
}
