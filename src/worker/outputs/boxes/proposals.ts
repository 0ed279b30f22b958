import { TabServeError } from '../../../contract/errors.js';
import { MAX_LABELS } from '../../../contract/limits.js';
import type { ScoredBox } from './nms.js';
import { logistic, ROUNDING } from '../scores.js';
import type { Box } from './detection.js';

/**
 * A decoder's result for one image: the best class of each box and its score. `box` decodes a box only on demand,
 * because most boxes score too low.
 */
export interface Proposals {
  readonly scores: Float64Array;
  readonly classes: Int32Array;
  /** Returns box `index`, in pixels of the tensor. */
  box(index: number): Box;
}

/**
 * Returns the proposals of a model that outputs the class of each box. If the class is not a finite number, the score
 * is NaN.
 */
export function chosenClasses(scores: Float32Array, classes: Float32Array): Pick<Proposals, 'scores' | 'classes'> {
  return {
    scores: Float64Array.from(scores, (score, box) => (Number.isFinite(classes[box]) ? score : NaN)),
    // Round, because a GPU may return 2.9999998 for class 3. Clamp what int32 cannot hold: wrapped around, it could be
    // a possible class.
    classes: Int32Array.from(classes, (index) => Math.min(Math.max(Math.round(index), -(2 ** 31)), 2 ** 31 - 1)),
  };
}

/**
 * The positions of the scores in a tensor: the score of class `c` for box `i` is at
 * `offset + i * boxStride + c * classStride`.
 */
export interface ScoreLayout {
  readonly count: number;
  readonly classes: number;
  readonly offset: number;
  readonly boxStride: number;
  readonly classStride: number;
}

/**
 * Returns the best class of each box and its score. The lower class wins a tie. If every score of a box is NaN, its
 * best score is −∞.
 */
export function bestClasses(data: Float32Array, layout: ScoreLayout): Pick<Proposals, 'scores' | 'classes'> {
  const { count, classes, offset, boxStride, classStride } = layout;
  const best = { scores: new Float64Array(count).fill(-Infinity), classes: new Int32Array(count) };
  // Read the numbers in the order of memory, which is many times faster.
  if (boxStride < classStride) {
    const scores = new Float32Array(count).fill(-Infinity);
    for (let index = 0; index < classes; index++)
      updateBest(scores, best.classes, data, offset + index * classStride, boxStride, index);
    best.scores.set(scores);
  } else {
    for (let box = 0; box < count; box++) {
      let highest = -Infinity;
      let at = offset + box * boxStride;
      for (let index = 0; index < classes; index++, at += classStride) {
        if (data[at]! > highest) {
          highest = data[at]!;
          best.classes[box] = index;
        }
      }
      best.scores[box] = highest;
    }
  }
  return best;
}

/** Updates the best class of each box where class `index` scores higher than the previous classes. */
function updateBest(
  scores: Float32Array,
  classes: Int32Array,
  data: Float32Array,
  from: number,
  stride: number,
  index: number,
): void {
  for (let box = 0, at = from; box < scores.length; box++, at += stride) {
    if (data[at]! > scores[box]!) {
      scores[box] = data[at]!;
      classes[box] = index;
    }
  }
}

export const ACTIVATIONS = ['softmax', 'sigmoid', 'none'] as const;
/** How class scores become probabilities. */
export type Activation = (typeof ACTIVATIONS)[number];

export const BACKGROUNDS = ['first', 'last', 'none'] as const;
/** Which class stands for "no object". Softmax includes it, but it is never the class of a detection. */
export type Background = (typeof BACKGROUNDS)[number];

/** The config of how class scores become probabilities. */
export interface ProbabilityOptions {
  readonly activation?: Activation;
  readonly background?: Background;
}

/** Returns the best class of each box besides the background, and its probability. */
export function bestProbabilities(
  data: Float32Array,
  layout: ScoreLayout,
  activation: Activation,
  background: Background,
): Pick<Proposals, 'scores' | 'classes'> {
  const first = background === 'first' ? 1 : 0;
  const own = {
    ...layout,
    offset: layout.offset + first * layout.classStride,
    classes: layout.classes - (background === 'none' ? 0 : 1),
  };
  const { scores, classes } = bestClasses(data, own);
  for (let box = 0; box < scores.length; box++) {
    classes[box]! += first;
    if (activation !== 'none' && Number.isFinite(scores[box]))
      scores[box] = activation === 'sigmoid' ? logistic(scores[box]!) : softmaxOf(scores[box]!, data, layout, box);
  }
  return { scores, classes };
}

/** Returns the probability of each class of each box besides the background: a box's classes one after the other. */
export function allProbabilities(
  data: Float32Array,
  layout: ScoreLayout,
  activation: Activation,
  background: Background,
): Pick<Proposals, 'scores' | 'classes'> {
  const first = background === 'first' ? 1 : 0;
  const classes = layout.classes - (background === 'none' ? 0 : 1);
  const length = layout.count * classes;
  const all = { scores: new Float64Array(length), classes: new Int32Array(length) };
  for (let at = 0; at < length; at++) {
    const box = Math.floor(at / classes);
    all.classes[at] = first + (at % classes);
    const logit = data[layout.offset + box * layout.boxStride + all.classes[at]! * layout.classStride]!;
    all.scores[at] =
      activation === 'none' || !Number.isFinite(logit)
        ? logit
        : activation === 'sigmoid'
          ? logistic(logit)
          : softmaxOf(logit, data, layout, box);
  }
  return all;
}

/** Returns the softmax of a logit `x` among the logits of its box: 1 / Σ exp(xⱼ − x). */
function softmaxOf(
  x: number,
  data: Float32Array,
  { classes, offset, boxStride, classStride }: ScoreLayout,
  box: number,
): number {
  let sum = 0;
  for (let index = 0; index < classes; index++)
    sum += Math.exp(data[offset + box * boxStride + index * classStride]! - x);
  return 1 / sum;
}

/** A box that scores high enough. */
export interface Candidate extends ScoredBox {
  /** Its index among the proposals. */
  readonly proposal: number;
}

/**
 * Returns the boxes whose score reaches the threshold. It skips boxes with a score or a corner that is not finite.
 * @throws `inference-failed` if there are scores and none of them is finite; if one of these boxes has a score above 1,
 *   or no possible class
 */
export function selectBoxes({ scores, classes, box }: Proposals, threshold: number): Candidate[] {
  const candidates: Candidate[] = [];
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index]!;
    if (!(score >= threshold) || score === Infinity) continue;
    checkBox(score, classes[index]!);
    const { xmin, ymin, xmax, ymax } = box(index);
    if (Number.isFinite(xmin + ymin + xmax + ymax))
      candidates.push({ xmin, ymin, xmax, ymax, score, classIndex: classes[index]!, proposal: index });
  }
  if (candidates.length === 0 && scores.length > 0 && !scores.some(Number.isFinite))
    throw new TabServeError(
      'inference-failed',
      'None of the scores that the model returned is finite. Check the input, or try another backend.',
      {
        stage: 'postprocess',
      },
    );
  return candidates;
}

/** @throws `inference-failed` */
function checkBox(score: number, classIndex: number): void {
  if (score > 1 + ROUNDING)
    throw new TabServeError(
      'inference-failed',
      `The model returned a box with the score ${score}; a score must be in 0..1. Check handler.decoder and its options.`,
    );
  // Rows that only fill up a fixed number of boxes have the score 0, and often the class -1.
  if (score > 0 && !(classIndex >= 0 && classIndex < MAX_LABELS))
    throw new TabServeError(
      'inference-failed',
      `The model returned a box of class ${classIndex}; a class must be an integer in 0..${MAX_LABELS - 1}. Check handler.decoder and its options.`,
    );
}
