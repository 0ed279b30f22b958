/** Boxes with key points, as MediaPipe's detectors of faces, palms and people return them. */
import type { Anchors } from '../../outputs/boxes/anchors.js';
import type { Region } from '../../../contract/images.js';
import { iou } from '../../outputs/boxes/nms.js';
import { logistic } from '../../outputs/scores.js';
import type { FoundFace } from './found.js';

/** MediaPipe's limit for a score's logit. */
const MAX_LOGIT = 100;

/** How rows of a tensor are read. */
export interface KeyPointRows {
  readonly anchors: Anchors;
  /** The side of the tensor, in pixels. */
  readonly side: number;
  /** The names of the key points. */
  readonly points: readonly string[];
}

/**
 * Reads rows of `[score, cx, cy, width, height, x, y, …]`, one for each anchor: the score is a logit, the rest is in
 * pixels of the tensor, and positions are relative to the anchor's center.
 * @returns those whose score is at least `least`, in 0..1, and whose box has an inside, in pixels of the tensor
 */
export function readKeyPoints(
  rows: Float32Array,
  { anchors, side, points }: KeyPointRows,
  least: number,
): readonly FoundFace[] {
  const columns = 5 + 2 * points.length;
  const found: FoundFace[] = [];
  for (let row = 0; row < anchors.length / 4; row++) {
    const at = row * columns;
    const score = logistic(Math.min(Math.max(rows[at]!, -MAX_LOGIT), MAX_LOGIT));
    if (score < least) continue;
    const [anchorX, anchorY] = [anchors[row * 4]! * side, anchors[row * 4 + 1]! * side];
    const pointAt = (column: number): { readonly x: number; readonly y: number } => ({
      x: anchorX + rows[at + column]!,
      y: anchorY + rows[at + column + 1]!,
    });
    const { x, y } = pointAt(1);
    const [halfWidth, halfHeight] = [rows[at + 3]! / 2, rows[at + 4]! / 2];
    // A model may predict sides below 0; MediaPipe drops such boxes, too.
    if (!(halfWidth > 0 && halfHeight > 0)) continue;
    found.push({
      score,
      box: { xmin: x - halfWidth, ymin: y - halfHeight, xmax: x + halfWidth, ymax: y + halfHeight },
      landmarks: points.map((name, point) => ({ ...pointAt(5 + 2 * point), name })),
    });
  }
  return found;
}

/** Converts one from pixels of a tensor to the photo. @param square what the tensor shows, not turned @param side of the tensor */
export function inPhoto({ score, box, landmarks }: FoundFace, square: Region, side: number): FoundFace {
  const x = (value: number): number => square.x + (value / side - 0.5) * square.width;
  const y = (value: number): number => square.y + (value / side - 0.5) * square.height;
  return {
    score,
    box: { xmin: x(box.xmin), ymin: y(box.ymin), xmax: x(box.xmax), ymax: y(box.ymax) },
    landmarks: landmarks.map((point) => ({ ...point, x: x(point.x), y: y(point.y) })),
  };
}

/**
 * Makes one of each set of boxes that overlap, as MediaPipe's weighted non-maximum suppression: the best box takes those
 * whose IoU with it is above `iouThreshold`, box and points become the mean of all, weighted by their scores, and the
 * rest goes on without them.
 * @returns at most `limit`, best first
 */
export function mergeOverlapping(found: readonly FoundFace[], iouThreshold: number, limit: number): FoundFace[] {
  let left = found.toSorted((a, b) => b.score - a.score);
  const merged: FoundFace[] = [];
  while (left.length > 0 && merged.length < limit) {
    const [best] = left as [FoundFace];
    const isSame = (one: FoundFace): boolean => one === best || iou(one.box, best.box) > iouThreshold;
    merged.push(meanOf(left.filter(isSame), best));
    left = left.filter((one) => !isSame(one));
  }
  return merged;
}

function meanOf(found: readonly FoundFace[], { score, landmarks }: FoundFace): FoundFace {
  const sum = found.reduce((total, one) => total + one.score, 0);
  const mean = (read: (one: FoundFace) => number): number =>
    found.reduce((total, one) => total + read(one) * one.score, 0) / sum;
  return {
    score,
    box: {
      xmin: mean(({ box }) => box.xmin),
      ymin: mean(({ box }) => box.ymin),
      xmax: mean(({ box }) => box.xmax),
      ymax: mean(({ box }) => box.ymax),
    },
    landmarks: landmarks.map((point, at) => ({
      ...point,
      x: mean((one) => one.landmarks[at]!.x),
      y: mean((one) => one.landmarks[at]!.y),
    })),
  };
}
