import { TabServeError } from '../../contract/errors.js';

/** What a model's output holds. */
export type ScoreKind = 'logits' | 'probabilities';

/** The tolerance for float16 rounding of probabilities. */
export const ROUNDING = 1e-3;

/**
 * Checks a model's scores.
 * @param isChosen whether the handler has the option `output`, which says the kind
 * @throws `inference-failed` if a number is not finite, or if a probability is not in 0..1
 */
export function checkScores(values: Float32Array, kind: ScoreKind, isChosen = true): void {
  const [least, most] = kind === 'probabilities' ? [-ROUNDING, 1 + ROUNDING] : [-Number.MAX_VALUE, Number.MAX_VALUE];
  let at = 0;
  while (at < values.length && values[at]! >= least && values[at]! <= most) at += 1;
  if (at < values.length) throw wrongScores(values, isChosen);
}

/** Returns the error for scores of which one is not what it should be. */
function wrongScores(values: Float32Array, isChosen: boolean): TabServeError {
  let low = values[0] ?? 0;
  let high = low;
  // If one of the numbers is NaN, so are both.
  for (let at = 0; at < values.length; at++) {
    low = Math.min(low, values[at]!);
    high = Math.max(high, values[at]!);
  }
  if (!Number.isFinite(high - low))
    return new TabServeError(
      'inference-failed',
      'The model returned a number that is not finite. Check the input, or try another backend.',
    );
  return new TabServeError(
    'inference-failed',
    isChosen
      ? `output: "probabilities" must be in 0..1, but the model returned numbers from ${low} to ${high}. Use output: "logits" if they are logits.`
      : `The handler needs probabilities, in 0..1, but the model returned numbers from ${low} to ${high}. Export the model with its last activation, or name another output in handler.outputName.`,
  );
}

/**
 * Computes the softmax over all of `logits`: exp(xᵢ − max x) / Σ exp(xⱼ − max x), in float64.
 * @returns probabilities in 0..1 that sum to 1
 */
export function softmax(logits: ArrayLike<number>): Float64Array {
  let max = -Infinity;
  for (let i = 0; i < logits.length; i++) max = Math.max(max, logits[i]!);
  const probabilities = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += probabilities[i] = Math.exp(logits[i]! - max);
  for (let i = 0; i < logits.length; i++) probabilities[i]! /= sum;
  return probabilities;
}

/** Returns the index of the largest number; of the first one, if there are several. */
export function indexOfLargest(numbers: ArrayLike<number>): number {
  let best = 0;
  for (let at = 1; at < numbers.length; at++) if (numbers[at]! > numbers[best]!) best = at;
  return best;
}

/** Returns the logistic function of one logit, 1 / (1 + exp(−x)): a probability in 0..1. */
export function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Applies `logistic` to each logit, in float64. @returns independent probabilities in 0..1 */
export function sigmoid(logits: ArrayLike<number>): Float64Array {
  return Float64Array.from(logits, logistic);
}

/** Returns a score as a probability: models that were trained on maps, or in float16, return a little less or more. */
export function inUnit(score: number): number {
  return Math.min(Math.max(score, 0), 1);
}

/** A class and its score. */
export interface Ranked {
  readonly index: number;
  readonly score: number;
}

/**
 * Returns the `k` highest scores, highest first; if scores are equal, the lower index comes first. Returns all scores
 * if there are fewer.
 */
export function topK(scores: ArrayLike<number>, k: number): Ranked[] {
  return Array.from(scores, (score, index) => ({ index, score }))
    .sort((a, b) => b.score - a.score || a.index - b.index)
    .slice(0, k);
}
