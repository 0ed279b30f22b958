/** From the boxes that a model proposes in its tensor to those that count, in pixels of the image. */
import type { Size } from '../outputs/boxes/decoder.js';
import type { Box } from '../outputs/boxes/detection.js';
import { selectBoxes, type Proposals } from '../outputs/boxes/proposals.js';
import { nms } from '../outputs/boxes/nms.js';
import type { Placement } from './placements.js';

export interface BoxThresholds {
  /** Boxes of a lower score are dropped. */
  readonly score: number;
  /** The IoU above which the lower of two boxes of one class is dropped. */
  readonly iou: number;
  /** The maximum number of boxes. */
  readonly count: number;
}

/** A box in pixels of the image. */
export interface ImageBox {
  readonly classIndex: number;
  readonly score: number;
  /** Which of the model's proposals it is. */
  readonly proposal: number;
  /** Clipped to the image. */
  readonly box: Box;
}

/** Returns the boxes that count, best first. @throws `inference-failed` if the scores or classes are impossible */
export function boxesInImage(proposals: Proposals, placement: Placement, thresholds: BoxThresholds): ImageBox[] {
  const candidates = selectBoxes(proposals, thresholds.score)
    .map((candidate) => ({ ...candidate, ...toImage(candidate, placement) }))
    .filter((candidate) => !isEmpty(clip(candidate, placement)));
  return nms(candidates, thresholds.iou, thresholds.count).map((kept) => ({
    classIndex: kept.classIndex,
    score: kept.score,
    proposal: kept.proposal,
    box: clip(kept, placement),
  }));
}

/** Converts a box from pixels of the tensor to pixels of the image. */
function toImage({ xmin, ymin, xmax, ymax }: Box, { geometry: { scaleX, scaleY, offsetX, offsetY } }: Placement): Box {
  return {
    xmin: (xmin - offsetX) / scaleX,
    ymin: (ymin - offsetY) / scaleY,
    xmax: (xmax - offsetX) / scaleX,
    ymax: (ymax - offsetY) / scaleY,
  };
}

function clip({ xmin, ymin, xmax, ymax }: Box, { width, height }: Size): Box {
  const within = (value: number, limit: number): number => Math.min(Math.max(value, 0), limit);
  return {
    xmin: within(xmin, width),
    ymin: within(ymin, height),
    xmax: within(xmax, width),
    ymax: within(ymax, height),
  };
}

function isEmpty({ xmin, ymin, xmax, ymax }: Box): boolean {
  return !(xmax > xmin && ymax > ymin);
}
