import type { Region } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { TensorView } from '../../outputs/boxes/decoder.js';
import type { Box } from '../../outputs/boxes/detection.js';
import type { FoundLandmarks } from './found.js';
import { COCO_LANDMARKS } from './names.js';
import type { Point } from './region.js';
import { numbersOf } from '../../outputs/rows.js';
import { toFloats } from '../../tensors/tensors.js';
import type { BoxThresholds } from '../../handlers/image-boxes.js';
import type { Placement } from '../../handlers/placements.js';

/** A point with its score, in 0..1. */
export interface PosePoint extends Point {
  readonly score: number;
}

/** A person, in pixels of the photo. */
export interface Pose {
  readonly score: number;
  readonly box: Box;
  readonly points: readonly PosePoint[];
}

/** A model that sees the whole photo, as its own `imageProcessing` shows it, and finds the people itself. */
export interface PhotoForm {
  readonly sees: 'photo';
  /** The names of the outputs that are read, in the order of `views`. */
  readonly outputs: readonly string[];
  /** Returns the people in one photo, best first. @throws `inference-failed`, `model-config` */
  find(views: readonly TensorView[], placement: Placement, thresholds: BoxThresholds): readonly Pose[];
}

/** A model that sees one person, cut out of the photo. */
export interface PersonForm {
  readonly sees: 'person';
  readonly outputs: readonly string[];
  /** What is beyond the photo: see `cropRegion`. */
  readonly border: 'zero' | 'cut';
  /** Returns the part of the photo that the model sees of a person with this box. */
  regionOf(box: Box): Region;
  /** Returns the points in pixels of the photo. @throws `inference-failed`, `model-config` */
  read(views: readonly TensorView[], region: Region): readonly PosePoint[];
}

/** A form in which models say where the points of people are. */
export type PoseForm = PhotoForm | PersonForm;

/** Returns what a form reads of one row's outputs. */
export function viewsOf(outputs: Tensors, names: readonly string[]): readonly TensorView[] {
  return names.map((name) => {
    const output = numbersOf(outputs, name);
    return { dims: output.dims, data: toFloats(output) };
  });
}

/** Returns a person with the names of its points, if they are COCO's. */
export function named({ score, box, points }: Pose): FoundLandmarks {
  const landmarks =
    points.length === COCO_LANDMARKS.length
      ? points.map((point, at) => ({ ...point, name: COCO_LANDMARKS[at]! }))
      : points;
  return { score, box, landmarks };
}

/** Returns the upright region around a box, `scale` times as large. */
export function regionAroundBox({ xmin, ymin, xmax, ymax }: Box, scale: number): Region {
  const [x, y] = [(xmin + xmax) / 2, (ymin + ymax) / 2];
  return { x, y, width: (xmax - xmin) * scale, height: (ymax - ymin) * scale, angle: 0 };
}
