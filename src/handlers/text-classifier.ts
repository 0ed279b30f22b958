import type { Context, MaybePromise, Params } from '../contract/handler.js';
import type { Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import {
  checkClasses,
  classify,
  maxResultClasses,
  type Classification,
  type ClassificationForms,
} from '../outputs/classification.js';
import type { ScoreKind } from '../outputs/scores.js';
import { sigmoid } from '../outputs/sigmoid.js';
import { softmax } from '../outputs/softmax.js';
import type { ConfigSchema } from '../shared/schema.js';
import { TextHandler, type TextParams } from './text-handler.js';

/** The `params` of a text classifier. */
export interface TextClassifierParams extends TextParams {
  /** How many classes a result holds, at most. */
  readonly topK?: number;
  /** With `multiLabel`: the probability, 0 to 1, from which on a label is given. */
  readonly threshold?: number;
  /** What the model's numbers are. */
  readonly output?: ScoreKind;
  /** The form of the result: a list, best first, or TorchServe's record. */
  readonly result?: keyof ClassificationForms;
}

/**
 * TorchServe's text classifier: the classes of each text, all of them unless `topK` says how many. Logits become probabilities by softmax; where a text may
 * have several labels (`multiLabel`), by sigmoid, and a result holds those that reach `threshold`: none of them, too.
 */
export class TextClassifier extends TextHandler {
  declare readonly paramsType?: TextClassifierParams;
  declare readonly resultForms?: ClassificationForms;

  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities'],
      description: 'What the model answers with: logits, which become probabilities, or probabilities.',
      default: 'logits',
    },
    multiLabel: {
      type: 'boolean',
      readOnly: true,
      description: 'Whether a text may have several labels, or none.',
      default: false,
    },
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'With multiLabel: the probability, 0 to 1, from which on a label is given; 0.5 by default.',
    },
    topK: { type: 'integer', minimum: 1, description: 'How many classes a result holds, at most; all by default.' },
    result: {
      enum: ['typed', 'torchserve'],
      description: 'typed: [{ label, score }, …], best first; torchserve: { [label]: score }.',
      default: 'typed',
    },
  };

  /** How many classes a result holds, unless the config or a request says otherwise. */
  topk = Infinity;

  protected override get defaults(): Params {
    return { ...super.defaults, topK: this.topk };
  }

  /** @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /** @throws `model-config` if the model's output is not of classes, or of others than there are labels, or a threshold is given without `multiLabel` */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
    this.#threshold(0, context);
  }

  /**
   * Turns the model's output, `[rows, classes]`, into each row's classes, best first.
   *
   * An override may return any list, of one result a row, and it calls `super.postprocess` without a cast. The two equal signatures with a type
   * parameter allow it: TypeScript compares an override with overloads as if their type parameters were `any`. Leave the type parameter alone.
   */
  override postprocess<Row extends Classification = Classification>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess<Row extends Classification = Classification>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    return classify(outputs[this.outputInfo.name]!, context, (index) => ({
      output: this.param('output', index, context),
      activation: this.config['multiLabel'] ? sigmoid : softmax,
      labels: this.mapping,
      topK: this.param('topK', index, context),
      result: this.param('result', index, context),
      threshold: this.#threshold(index, context),
    }));
  }

  /** @throws `model-config` if there is one for a model that always gives its likeliest class */
  #threshold(index: number, context: Context): number | undefined {
    const threshold = this.param<number | undefined>('threshold', index, context);
    if (this.config['multiLabel']) return threshold ?? 0.5;
    if (threshold === undefined) return undefined;
    throw new TabServeError(
      'model-config',
      'threshold: it is for multiLabel: true; of one label a text, the likeliest classes are given, topK of them.',
    );
  }
}
