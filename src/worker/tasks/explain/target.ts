import { shorten } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import type { ExplainedClass } from '../../outputs/explanation.js';
import { labelOf, type Labels } from '../../outputs/labels.js';
import { nearestName } from '../../../shared/nearest-name.js';

/** The class to explain, by its index or label; undefined for the class of the highest score. */
export type Target = number | string | undefined;

/**
 * Returns the class to explain. If several classes have the label, it is the one with the highest score.
 * @param scores the score of each class for the whole input
 * @throws `invalid-input` if the model has no such class, or if no class is named and none has a score
 */
export function findTarget(target: Target, scores: ArrayLike<number>, labels: Labels | undefined): ExplainedClass {
  const indices = Array.from(scores, (_, index) => index);
  const meant = indices.filter(
    (index) => target === undefined || target === index || target === labelOf(labels, index),
  );
  const [first, ...others] = meant;
  if (first === undefined) throw noSuchClass(target!, indices, labels);
  const index = others.reduce((best, other) => (scores[other]! > scores[best]! ? other : best), first);
  if (target === undefined && !(scores[index]! > 0))
    throw new TabServeError(
      'invalid-input',
      'target: the model finds no class in this input, so there is none to explain. Name a class.',
    );
  return { index, label: labelOf(labels, index), score: scores[index]! };
}

function noSuchClass(target: number | string, indices: readonly number[], labels: Labels | undefined): TabServeError {
  const classes = `the model has ${indices.length} classes, 0 to ${indices.length - 1}`;
  if (typeof target === 'number')
    return new TabServeError('invalid-input', `target: there is no class ${target}; ${classes}.`);
  const meant = nearestName(
    target,
    indices.map((index) => labelOf(labels, index)),
  );
  return new TabServeError(
    'invalid-input',
    `target: there is no class "${shorten(target)}"; ${meant === undefined ? classes : `probably "${meant}" is meant`}.`,
  );
}
