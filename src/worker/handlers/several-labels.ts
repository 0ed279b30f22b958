/** What classifiers share whose inputs may have several labels. */
import type { Params } from '../../contract/handler.js';
import { TabServeError } from '../../contract/errors.js';
import { sigmoid, softmax } from '../outputs/scores.js';
import { hasSigmoid, labelCountOf } from '../../shared/hugging-face.js';

/** The `params` of a classifier whose inputs may have several labels. */
export interface SeveralLabelsParams {
  /**
   * With multiLabel: a result has the labels whose probability, in 0..1, reaches this threshold. Default 0.5.
   * @minimum 0
   * @maximum 1
   */
  readonly threshold?: number;
}

/** What only the config of such a classifier sets. */
export interface SeveralLabelsConfig {
  /**
   * Whether an input may have any number of labels, including none.
   * @default false
   */
  readonly multiLabel?: boolean;
}

/** Returns what follows from `config.json`: the rules of transformers' classification pipelines. */
export function severalLabels(config: Params): Params {
  if (!hasSigmoid(config)) return {};
  // A model of one class answers with its probability, however low it is.
  return { multiLabel: true, ...(labelCountOf(config) === 1 && { threshold: 0 }) };
}

/** Returns what converts logits to probabilities. @param config the section `handler:` */
export function activationOf(config: Params): typeof softmax {
  return config['multiLabel'] ? sigmoid : softmax;
}

/**
 * Returns the threshold of a result; undefined if it has all classes.
 * @param code of the error for one without `multiLabel`: it is the config's, or a request's
 */
export function thresholdOf(
  config: Params,
  threshold: number | undefined,
  code: 'model-config' | 'invalid-input',
): number | undefined {
  if (config['multiLabel']) return threshold ?? 0.5;
  if (threshold === undefined) return undefined;
  throw new TabServeError(
    code,
    'threshold: it is only for multiLabel: true. Without multiLabel, topK limits the number of classes. Remove threshold.',
  );
}
