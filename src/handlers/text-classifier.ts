import type { Context, MaybePromise, Params } from '../contract/handler.js';
import type { Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import {
  checkClasses,
  classify,
  classScores,
  maxResultClasses,
  type Classification,
  type ClassOutput,
  type ClassificationForms,
} from '../outputs/classification.js';
import type { TextExplanation } from '../outputs/explanation.js';
import { numbersOf } from '../outputs/rows.js';
import type { ScoreKind } from '../outputs/scores.js';
import { sigmoid } from '../outputs/sigmoid.js';
import { softmax } from '../outputs/softmax.js';
import type { ConfigSchema } from '../shared/schema.js';
import { TEXT_EXPLAIN_SCHEMA, type TextExplainParams } from './explain/options.js';
import type { Row as RowOf } from './row.js';
import { TextHandler, type TextInput, type TextParams } from './text-handler.js';

/** The `params` of a text classifier. */
export interface TextClassifierParams extends TextParams {
  /** The largest number of classes in a result. */
  readonly topK?: number;
  /** With `multiLabel`: a result has the labels whose probability, in 0..1, reaches this threshold. */
  readonly threshold?: number;
  /** What the model's output holds. */
  readonly output?: ScoreKind;
  /** The form of the result: a list, best first, or TorchServe's record. */
  readonly result?: keyof ClassificationForms;
}

/**
 * Implements TorchServe's text classifier: returns the classes of each text, best first. A result has all classes
 * unless `topK` limits their number. Softmax converts logits to probabilities. With `multiLabel`, sigmoid converts
 * them, and a result has only the labels whose probability reaches `threshold`, so it may be empty.
 */
export class TextClassifier extends TextHandler {
  declare readonly paramsType?: TextClassifierParams;
  declare readonly resultForms?: ClassificationForms;
  declare readonly explainParamsType?: TextExplainParams;

  static override readonly explainSchema: ConfigSchema = TEXT_EXPLAIN_SCHEMA;

  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities'],
      description:
        "What the model's output holds: logits, which softmax (with multiLabel: sigmoid) converts to probabilities, or probabilities.",
      default: 'logits',
    },
    multiLabel: {
      type: 'boolean',
      readOnly: true,
      description: 'Whether a text may have any number of labels, including none.',
      default: false,
    },
    threshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description:
        'With multiLabel: a result has the labels whose probability, in 0..1, reaches this threshold. Default 0.5.',
    },
    topK: {
      type: 'integer',
      minimum: 1,
      description: 'The largest number of classes in a result. Default: all classes.',
    },
    result: {
      enum: ['typed', 'torchserve'],
      description: 'The form of the result. typed: [{ label, score }, …], best first; torchserve: { [label]: score }.',
      default: 'typed',
    },
  };

  /** The default number of classes in a result; the config and a request's `params` override it. */
  topk = Infinity;

  protected override get defaults(): Params {
    return { ...super.defaults, topK: this.topk };
  }

  /** Sets the default number of classes in a result. @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output does not hold one number for each class, if the labels do not fit the classes,
   *   or if the config has a `threshold` without `multiLabel`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
    this.#threshold(0, context);
  }

  /**
   * Converts the model's output, `[rows, classes]`, to the classes of each row, best first.
   *
   * An override may return a list of any other type, with one result for each row, and may call `super.postprocess`
   * without a cast. The two equal signatures with a type parameter make this possible: TypeScript compares an override
   * with overloads as if their type parameters were `any`. Callers do not set the type parameter.
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
    return classify(this.#classes(outputs), context, (index) => ({
      output: this.param('output', index, context),
      activation: this.#activation,
      topK: this.param('topK', index, context),
      result: this.param('result', index, context),
      threshold: this.#threshold(index, context),
    }));
  }

  /**
   * Explains the score of a class: by how much it falls without each word.
   *
   * An override may return a list of any other type, with one explanation for each row, and may call
   * `super.getInsights` without a cast. See `postprocess`.
   */
  override getInsights<Row extends TextExplanation = TextExplanation>(
    inputs: Tensors,
    data: readonly RowOf<TextInput>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override getInsights<Row extends TextExplanation = TextExplanation>(
    inputs: Tensors,
    data: readonly RowOf<TextInput>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override async getInsights(
    _inputs: Tensors,
    data: readonly RowOf<TextInput>[],
    context: Context,
  ): Promise<readonly unknown[]> {
    const { explainTexts } = await import('./explain/texts.js');
    const options = { output: this.param<ScoreKind>('output', 0, context), activation: this.#activation };
    return await explainTexts(
      {
        labels: this.mapping,
        scores: (outputs, rows) => classScores(this.#classes(outputs), rows, options),
        preprocess: (texts, rows) => this.preprocess(texts, rows),
        inference: (inputs, rows) => this.inference(inputs, rows),
      },
      data,
      context,
    );
  }

  #classes(outputs: Tensors): ClassOutput {
    const info = this.outputInfo;
    return { info, output: numbersOf(outputs, info.name), labels: this.mapping };
  }

  get #activation(): typeof softmax {
    return this.config['multiLabel'] ? sigmoid : softmax;
  }

  /** Returns the threshold of row `index`. @throws `model-config` if there is a threshold without `multiLabel` */
  #threshold(index: number, context: Context): number | undefined {
    const threshold = this.param<number | undefined>('threshold', index, context);
    if (this.config['multiLabel']) return threshold ?? 0.5;
    if (threshold === undefined) return undefined;
    throw new TabServeError(
      'model-config',
      'threshold: it is only for multiLabel: true. Without multiLabel, topK limits the number of classes. Remove threshold.',
    );
  }
}
