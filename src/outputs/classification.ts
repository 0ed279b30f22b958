import type { Tensor } from '../contract.js';
import { labelOf, type Labels } from './labels.js';
import { toFloats } from './tensors.js';
import { topK } from './top-k.js';

/**
 * Label → probability in 0..1, of the likeliest classes. Added in falling order; mind that JavaScript lists keys like "7" first, by number.
 * Of several classes with one label (ImageNet has two cranes), the less likely carry their index: `crane (517)`.
 */
export type Classification = Readonly<Record<string, number>>;

/** The `k` likeliest classes, of those that reach `threshold`, by their labels. */
export function toClassification(probabilities: ArrayLike<number>, labels: Labels | undefined, k: number, threshold = 0): Classification {
  const result: Record<string, number> = {};
  for (const { index, score } of topK(probabilities, k)) {
    if (score < threshold) break;
    const label = labelOf(labels, index);
    result[Object.hasOwn(result, label) ? `${label} (${index})` : label] = score;
  }
  return result;
}

/** A model's output `[rows, classes]` as each row's own scores. */
export function classScores(output: Tensor, rows: number): Float32Array[] {
  const scores = toFloats(output);
  const classes = scores.length / rows;
  return Array.from({ length: rows }, (_, index) => scores.subarray(index * classes, (index + 1) * classes));
}
