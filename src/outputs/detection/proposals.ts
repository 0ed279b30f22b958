import { TabServeError } from '../../contract/errors.js';
import type { ScoredBox } from '../nms.js';
import { logistic } from '../sigmoid.js';
import type { Box } from './detection.js';

/** What a decoder makes of one image: the best class of each box and its score; the boxes themselves on demand, for most are not worth decoding. */
export interface Proposals {
  readonly scores: Float64Array;
  readonly classes: Int32Array;
  /** Box `index`, in pixels of the tensor. */
  box(index: number): Box;
}

/** Boxes whose class the model has chosen, as a number of its own; what is no number is no class, and has no score. */
export function chosenClasses(scores: Float32Array, classes: Float32Array): Pick<Proposals, 'scores' | 'classes'> {
  return {
    scores: Float64Array.from(scores, (score, box) => (Number.isFinite(classes[box]) ? score : NaN)),
    // A GPU's 3 may be 2.9999998.
    classes: Int32Array.from(classes, Math.round),
  };
}

/** Where the scores of a tensor stand: that of class `c` of box `i` at `offset + i * boxStride + c * classStride`. */
export interface ScoreLayout {
  readonly count: number;
  readonly classes: number;
  readonly offset: number;
  readonly boxStride: number;
  readonly classStride: number;
}

/** The best class of each box and its score, the lower class among equals; −∞ where no score is a number. */
export function bestClasses(data: Float32Array, layout: ScoreLayout): Pick<Proposals, 'scores' | 'classes'> {
  const { count, classes, offset, boxStride, classStride } = layout;
  const best = { scores: new Float64Array(count).fill(-Infinity), classes: new Int32Array(count) };
  // In the order in which the numbers lie in memory: many times faster than across it.
  if (boxStride < classStride) {
    const scores = new Float32Array(count).fill(-Infinity);
    for (let index = 0; index < classes; index++)
      raise(scores, best.classes, data, offset + index * classStride, boxStride, index);
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

/** Where class `index` scores higher than those before it. */
function raise(
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
/** How a model's class scores become probabilities. */
export type Activation = (typeof ACTIVATIONS)[number];

export const BACKGROUNDS = ['first', 'last', 'none'] as const;
/** Which class stands for "no object"; it counts in a softmax, and is no answer. */
export type Background = (typeof BACKGROUNDS)[number];

/** What makes probabilities of class scores, as a config says it. */
export interface ProbabilityOptions {
  readonly activation?: Activation;
  readonly background?: Background;
}

/** The best class of each box that is not the background, and its probability. */
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

/** 1 / Σ exp(xⱼ − x): the softmax of a logit `x` among those of its box. */
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

/**
 * The boxes that reach the threshold. What is not finite, a score or a corner, is left out.
 * @throws `inference-failed` if there are scores and none is finite
 */
export function select({ scores, classes, box }: Proposals, threshold: number): ScoredBox[] {
  const candidates: ScoredBox[] = [];
  for (let index = 0; index < scores.length; index++) {
    const score = scores[index]!;
    if (!(score >= threshold) || score === Infinity) continue;
    const { xmin, ymin, xmax, ymax } = box(index);
    if (Number.isFinite(xmin + ymin + xmax + ymax))
      candidates.push({ xmin, ymin, xmax, ymax, score, classIndex: classes[index]! });
  }
  if (candidates.length === 0 && scores.length > 0 && !scores.some(Number.isFinite))
    throw new TabServeError('inference-failed', 'The model answered with scores that are not finite.', {
      stage: 'postprocess',
    });
  return candidates;
}
