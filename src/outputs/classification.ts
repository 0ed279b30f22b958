import type { Tensor, TensorInfo } from '../contract.js';
import { TabServeError } from '../errors.js';
import { checkLabels, labelOf, type Labels } from './labels.js';
import { toFloats } from './tensors.js';
import { topK } from './top-k.js';

/**
 * Label → probability in 0..1, of the likeliest classes. Added in falling order; mind that JavaScript lists keys like "7" first, by number.
 * Of several classes with one label (ImageNet has two cranes), the less likely carry their index: `crane (517)`.
 */
export type Classification = Readonly<Record<string, number>>;

/** The `k` likeliest classes, of those that reach `threshold`, by their labels. */
export function toClassification(probabilities: ArrayLike<number>, labels: Labels | undefined, k: number, threshold = 0): Classification {
  const result = new Map<string, number>();
  for (const { index, score } of topK(probabilities, k)) {
    if (score < threshold) break;
    const label = labelOf(labels, index);
    result.set(result.has(label) ? `${label} (${index})` : label, score);
  }
  return Object.fromEntries(result);
}

/**
 * Holds a model's output against what a classifier reads, and against the labels: numbers `[batch, classes]`, or `[classes]` of a model without a batch axis;
 * other axes may be there, of size 1. An output that declares no dims is read as it comes.
 * @throws `model-config`
 */
export function checkClasses({ name, dtype, dims }: TensorInfo, labels: Labels | undefined): void {
  const [classes = 1, ...others] = (dims.length === 1 ? dims : dims.slice(1)).filter((size) => size !== 1);
  if (dtype === 'string' || others.length > 0 || (dims.length === 1 && typeof classes !== 'number')) {
    const given = `${dtype} [${dims.map((size) => size ?? '?').join(', ')}]`;
    throw new TabServeError('model-config', `handler.outputName: a classifier reads numbers [batch, classes]; "${name}" is ${given}.`);
  }
  if (dims.length > 0 && typeof classes === 'number') checkLabels(labels, classes);
}

/** A model's output `[rows, classes]` as each row's own scores. */
export function classScores(output: Tensor, rows: number): Float32Array[] {
  const scores = toFloats(output);
  const classes = scores.length / rows;
  return Array.from({ length: rows }, (_, index) => scores.subarray(index * classes, (index + 1) * classes));
}
