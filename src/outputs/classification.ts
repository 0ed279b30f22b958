import type { Context } from '../contract/handler.js';
import type { OutputInfo, Tensor } from '../contract/tensors.js';
import { asTabServeError, TabServeError } from '../contract/errors.js';
import { checkLabels, labelOf, type Labels } from './labels.js';
import { checkScores, type ScoreKind } from './scores.js';
import { toFloats } from '../tensors/tensors.js';
import { topK as likeliest } from './top-k.js';

/** A class by its label, and its probability in 0..1. */
export interface LabelScore {
  readonly label: string;
  readonly score: number;
}

/** The likeliest classes, best first. Two classes of one label (ImageNet has two cranes) are two entries. */
export type Classification = readonly LabelScore[];

/**
 * TorchServe's form of a classification, `result: 'torchserve'`: label → probability in 0..1. A JavaScript object lists keys such as "7" before
 * all others, whatever their probability. Of several classes with one label, the less likely carry their index: `crane (517)`.
 */
export type TorchServeClassification = Readonly<Record<string, number>>;

/** The forms of a classification by the value of `result`. */
export interface ClassificationForms {
  readonly typed: Classification;
  readonly torchserve: TorchServeClassification;
}

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
  /** The form of the result. */
  readonly result: keyof ClassificationForms;
}

/**
 * A model's output, `[rows, classes]`, → each row's likeliest classes, as `reading` says for that row.
 * A row fails alone: with `inference-failed` if its numbers are not finite, or no probabilities where they should be some.
 */
export function classify(
  output: Tensor,
  context: Context,
  reading: (index: number) => Reading,
): (Classification | TorchServeClassification | undefined)[] {
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
  { output, activation, labels, topK, threshold = -Infinity, result }: Reading,
): Classification | TorchServeClassification {
  checkScores(scores, output);
  const ranked = likeliest(output === 'probabilities' ? scores : activation(scores), topK)
    .filter(({ score }) => score >= threshold)
    .map(({ index, score }) => ({ index, label: labelOf(labels, index), score }));
  return result === 'torchserve' ? toRecord(ranked) : ranked.map(({ label, score }) => ({ label, score }));
}

function toRecord(ranked: readonly (LabelScore & { readonly index: number })[]): TorchServeClassification {
  const record = new Map<string, number>();
  for (const { index, label, score } of ranked) record.set(record.has(label) ? `${label} (${index})` : label, score);
  return Object.fromEntries(record);
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
