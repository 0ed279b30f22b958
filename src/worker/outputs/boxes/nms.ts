import type { Box } from './detection.js';

/** A box with its class and score, before non-maximum suppression. */
export interface ScoredBox extends Box {
  readonly classIndex: number;
  readonly score: number;
}

/** Returns the intersection over union (IoU) of two boxes, in 0..1; 0 if both are empty. */
export function iou(a: Box, b: Box): number {
  const width = Math.min(a.xmax, b.xmax) - Math.max(a.xmin, b.xmin);
  const height = Math.min(a.ymax, b.ymax) - Math.max(a.ymin, b.ymin);
  if (width <= 0 || height <= 0) return 0;
  const intersection = width * height;
  return intersection / (area(a) + area(b) - intersection);
}

function area({ xmin, ymin, xmax, ymax }: Box): number {
  return (xmax - xmin) * (ymax - ymin);
}

/** The largest number of candidates, those with the highest scores: Ultralytics' `max_nms`. */
const MAX_CANDIDATES = 30_000;

/**
 * Runs greedy non-maximum suppression within each class, as torchvision's `batched_nms`: it keeps the best box, drops
 * the boxes of the same class whose IoU with it is above `iouThreshold`, and repeats. A threshold of 1 keeps all boxes.
 * At most 30,000 candidates count, those with the highest scores.
 * @returns at most `limit` boxes, highest score first; boxes of the same score keep their order
 */
export function nms<C extends ScoredBox>(candidates: readonly C[], iouThreshold: number, limit = Infinity): C[] {
  const kept: C[] = [];
  const keptByClass = new Map<number, C[]>();
  for (const candidate of candidates.toSorted((a, b) => b.score - a.score).slice(0, MAX_CANDIDATES)) {
    if (kept.length >= limit) break;
    const rivals = keptByClass.get(candidate.classIndex) ?? [];
    if (iouThreshold < 1 && rivals.some((rival) => iou(rival, candidate) > iouThreshold)) continue;
    kept.push(candidate);
    rivals.push(candidate);
    keptByClass.set(candidate.classIndex, rivals);
  }
  return kept;
}
