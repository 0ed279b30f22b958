import type { Context } from '../contract/handler.js';
import type { OutputInfo, Tensor } from '../contract/tensors.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { checkLabels, labelOf, type Labels } from './labels.js';
import { checkScores, type ScoreKind } from './scores.js';
import { toFloats } from '../tensors/tensors.js';
import { topK as likeliest } from './top-k.js';

/**
 * Label → probability in 0..1, of the likeliest classes. Added in falling order; mind that JavaScript lists keys like "7" first, by number.
 * Of several classes with one label (ImageNet has two cranes), the less likely carry their index: `crane (517)`.
 */
export type Classification = Readonly<Record<string, number>>;

/** How a row's scores are read. */
export interface Reading {
  readonly output: ScoreKind;
  /** Makes probabilities of logits: `softmax` where one class is right, `sigmoid` where several may be. */
  readonly activation: (logits: ArrayLike<number>) => ArrayLike<number>;
  readonly labels: Labels | undefined;
  /** How many classes a result holds, at most. */
  readonly topK: number;
  /** The probability, 0 to 1, from which on a class is in the result; without one every class may be. */
  readonly threshold?: number | undefined;
}

/**
 * A model's output, `[rows, classes]`, → each row's likeliest classes, as `reading` says for that row.
 * A row fails alone: with `inference-failed` if its numbers are not finite, or no probabilities where they should be some.
 */
export function classify(
  output: Tensor,
  context: Context,
  reading: (index: number) => Reading,
): (Classification | undefined)[] {
  return rowScores(output, context.systemProperties.batchSize).map((scores, index) => {
    try {
      return context.failures.has(index) ? undefined : toClassification(scores, reading(index));
    } catch (error) {
      context.fail(index, asTabServeError(error, 'postprocess'));
      return undefined;
    }
  });
}

function toClassification(
  scores: Float32Array,
  { output, activation, labels, topK, threshold = -Infinity }: Reading,
): Classification {
  checkScores(scores, output);
  const result = new Map<string, number>();
  for (const { index, score } of likeliest(output === 'probabilities' ? scores : activation(scores), topK)) {
    if (score < threshold) break;
    const label = labelOf(labels, index);
    result.set(result.has(label) ? `${label} (${index})` : label, score);
  }
  return Object.fromEntries(result);
}

/** What `setMaxResultClasses` takes. @throws `model-config` unless `k` is a positive integer */
export function maxResultClasses(k: number): number {
  if (Number.isInteger(k) && k >= 1) return k;
  throw new TabServeError('model-config', `setMaxResultClasses expects a positive integer, got ${k}.`);
}

/**
 * Holds a model's output against what a classifier reads, and against the labels: numbers `[batch, classes]`, or `[classes]` of a model without a batch axis;
 * other axes may be there, of size 1. An output that declares no dims is read as it comes.
 * @throws `model-config`
 */
export function checkClasses({ name, dtype, dims }: OutputInfo, labels: Labels | undefined): void {
  const [classes = 1, ...others] = (dims.length === 1 ? dims : dims.slice(1)).filter((size) => size !== 1);
  if (dtype === 'string' || others.length > 0 || (dims.length === 1 && typeof classes !== 'number')) {
    const given = `${dtype ? `${dtype} ` : ''}[${dims.map((size) => size ?? '?').join(', ')}]`;
    throw new TabServeError(
      'model-config',
      `handler.outputName: a classifier reads numbers [batch, classes]; "${name}" is ${given}.`,
    );
  }
  if (dims.length > 0 && typeof classes === 'number') checkLabels(labels, classes);
}

/** Each row's own part of the output. */
function rowScores(output: Tensor, rows: number): Float32Array[] {
  const scores = toFloats(output);
  const classes = scores.length / rows;
  return Array.from({ length: rows }, (_, index) => scores.subarray(index * classes, (index + 1) * classes));
}
