import type { OutputInfo, Tensor } from '../../contract/tensors.js';
import { TabServeError } from '../../contract/errors.js';
import { checkLabels, labelOf, type Labels } from './labels.js';
import { checkFilled, checkRows } from './rows.js';
import { checkScores, type ScoreKind, topK as likeliest } from './scores.js';
import { toFloats } from '../tensors/tensors.js';

/** The label of a class and its probability, in 0..1. */
export interface LabelScore {
  readonly label: string;
  readonly score: number;
}

/** The likeliest classes, best first. Two classes with the same label (ImageNet has two cranes) are two entries. */
export type Classification = readonly LabelScore[];

/**
 * TorchServe's form of a classification, `result: 'torchserve'`: label → probability in 0..1. The keys are not always
 * in order of probability: a JavaScript object lists keys such as "7" before all others. If several classes have the
 * same label, the less likely ones get their index: `crane (517)`.
 */
export type TorchServeClassification = Readonly<Record<string, number>>;

/** The form of a classification for each value of `result`. */
export interface ClassificationForms {
  readonly typed: Classification;
  readonly torchserve: TorchServeClassification;
}

/** A classifier's output, `[rows, classes]`, of which other axes have the size 1. */
export interface ClassOutput {
  /** What the model declares. */
  readonly info: OutputInfo;
  readonly output: Tensor;
  readonly labels: Labels | undefined;
}

/** What a classifier's output holds. Values are the scores themselves, as of a regression: any numbers. */
export type ClassScoreKind = ScoreKind | 'values';

/** How to convert a row's scores to a classification. */
export interface ClassifyOptions {
  readonly output: ClassScoreKind;
  /** Converts logits to probabilities: `softmax` if exactly one class is right, `sigmoid` if several may be. */
  readonly activation: (logits: ArrayLike<number>) => ArrayLike<number>;
  /** The largest number of classes in a result. */
  readonly topK: number;
  /** A result has the classes whose probability, in 0..1, reaches this threshold; without a threshold, all classes. */
  readonly threshold?: number | undefined;
  /** The form of the result. */
  readonly result: keyof ClassificationForms;
  /**
   * The order of the keys in TorchServe's form: its image classifier sorts them by score, its text classifier leaves
   * them in the order of the classes.
   */
  readonly recordOrder: 'score' | 'class';
}

/**
 * Returns the score of each class, in 0..1, for each row of a model's output.
 * @throws `inference-failed` if a number is not finite, or if `output` is `probabilities` and a number is not in 0..1;
 *   what `rowScores` throws
 */
export function classScores(
  output: ClassOutput,
  rows: number,
  { output: kind, activation }: Pick<ClassifyOptions, 'output' | 'activation'>,
): ArrayLike<number>[] {
  return rowScores(output, rows).map((scores) => {
    checkScores(scores, kind === 'values' ? 'logits' : kind);
    return kind === 'logits' ? activation(scores) : scores;
  });
}

/**
 * Converts a row's scores to its likeliest classes.
 * @throws `inference-failed` if a number is not finite, or if `output` is `probabilities` and a number is not in 0..1
 */
export function classify(
  scores: Float32Array,
  labels: Labels | undefined,
  { output, activation, topK, threshold = -Infinity, result, recordOrder }: ClassifyOptions,
): Classification | TorchServeClassification {
  checkScores(scores, output === 'values' ? 'logits' : output);
  const ranked = likeliest(output === 'logits' ? activation(scores) : scores, topK)
    .filter(({ score }) => score >= threshold)
    .map(({ index, score }) => ({ index, label: labelOf(labels, index), score }));
  return result === 'torchserve' ? toRecord(ranked, recordOrder) : ranked.map(({ label, score }) => ({ label, score }));
}

function toRecord(
  ranked: readonly (LabelScore & { readonly index: number })[],
  order: ClassifyOptions['recordOrder'],
): TorchServeClassification {
  const classes = new Map<string, { readonly index: number; readonly score: number }>();
  for (const { index, label, score } of ranked)
    classes.set(classes.has(label) ? `${label} (${index})` : label, { index, score });
  const entries = [...classes];
  if (order === 'class') entries.sort(([, a], [, b]) => a.index - b.index);
  return Object.fromEntries(entries.map(([name, { score }]) => [name, score]));
}

/**
 * Checks the argument of `setMaxResultClasses` and returns it.
 * @throws `model-config` unless `k` is a positive integer
 */
export function maxResultClasses(k: number): number {
  if (Number.isInteger(k) && k >= 1) return k;
  throw new TabServeError('model-config', `setMaxResultClasses expects a positive integer, got ${k}.`);
}

/**
 * Checks that a model's output suits a classifier and the labels. The output must hold numbers `[batch, classes]`, or
 * `[classes]` if the model has no batch axis; it may have other axes of size 1. An output that declares no dims passes.
 * @throws `model-config` if the output or the number of labels does not fit
 */
export function checkClasses({ name, dtype, dims }: OutputInfo, labels: Labels | undefined): void {
  const [classes = 1, ...others] = (dims.length === 1 ? dims : dims.slice(1)).filter((size) => size !== 1);
  if (dtype === 'string' || others.length > 0 || (dims.length === 1 && typeof classes !== 'number')) {
    const given = `${dtype ? `${dtype} ` : ''}[${dims.map((size) => size ?? '?').join(', ')}]`;
    throw new TabServeError(
      'model-config',
      `handler.outputName: a classifier needs numbers [batch, classes], but the output "${name}" is ${given}. Name another output.`,
    );
  }
  if (dims.length > 0 && typeof classes === 'number') checkLabels(labels, classes);
}

/**
 * Returns the part of the output that belongs to each row. That of a single row may lack the batch axis.
 * @throws `batch-contract`, `model-config`, `inference-failed` if the output is not `[rows, classes]`
 */
export function rowScores({ info, output, labels }: ClassOutput, rows: number): Float32Array[] {
  const { name } = info;
  const { dims, dtype } = output;
  const isVector = dims.length === 1;
  if (rows > 1 || !isVector) checkRows(name, output, rows);
  checkFilled(name, output);
  // A declared number of classes was compared with the labels when the model was opened.
  const isKnown = typeof info.dims.at(-1) === 'number';
  checkClasses({ name, dtype, dims: rows > 1 && isVector ? [rows, 1] : dims }, isKnown ? undefined : labels);
  const scores = toFloats(output);
  const classes = scores.length / rows;
  return Array.from({ length: rows }, (_, index) => scores.subarray(index * classes, (index + 1) * classes));
}
