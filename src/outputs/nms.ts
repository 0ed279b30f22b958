import type { Box } from './detection/detection.js';

/** A box with its class and score, before overlapping ones are suppressed. */
export interface ScoredBox extends Box {
  readonly classIndex: number;
  readonly score: number;
}

/** Intersection over union of two boxes, in 0..1; 0 where both are empty. */
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

/**
 * Non-maximum suppression, greedy and within each class, as torchvision's `batched_nms`: the best box stays, those of its class whose IoU with it
 * is greater than `iouThreshold` go, and so on. A threshold of 1 suppresses nothing.
 * @returns at most `limit` of them, highest score first; among equals the earlier one first
 */
export function nms<C extends ScoredBox>(candidates: readonly C[], iouThreshold: number, limit = Infinity): C[] {
  const kept: C[] = [];
  const keptByClass = new Map<number, C[]>();
  for (const candidate of [...candidates].sort((a, b) => b.score - a.score)) {
    if (kept.length >= limit) break;
    const rivals = keptByClass.get(candidate.classIndex) ?? [];
    if (iouThreshold < 1 && rivals.some((rival) => iou(rival, candidate) > iouThreshold)) continue;
    kept.push(candidate);
    rivals.push(candidate);
    keptByClass.set(candidate.classIndex, rivals);
  }
  return kept;
}
