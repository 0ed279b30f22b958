import type { Context, MaybePromise, Params } from '../contract/handler.js';
import type { ImageInput } from '../contract/images.js';
import type { Tensors } from '../contract/tensors.js';
import type { ImageExplanation } from '../outputs/explanation.js';
import {
  checkClasses,
  classify,
  classScores,
  maxResultClasses,
  type Classification,
  type ClassOutput,
  type ClassificationForms,
} from '../outputs/classification.js';
import { numbersOf } from '../outputs/rows.js';
import type { ScoreKind } from '../outputs/scores.js';
import { softmax } from '../outputs/softmax.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../shared/schema.js';
import type { Row as RowOf } from './row.js';
import { VisionHandler } from './vision-handler.js';
import type { VisionParams } from './vision-params.js';

/** TorchServe's default number of classes in a result. */
const TOP_K = 5;

/** The `params` of an image classifier. */
export interface ImageClassifierParams extends VisionParams {
  /** The number of classes in a result, likeliest first. */
  readonly topK?: number;
  /** What the model's output holds. */
  readonly output?: ScoreKind;
  /** The form of the result: a list, best first, or TorchServe's record. */
  readonly result?: keyof ClassificationForms;
}

/**
 * Implements TorchServe's image classifier: returns the likeliest classes of each image. The default transforms are
 * ImageNet's. Softmax converts logits to probabilities; with `output: 'probabilities'`, the handler uses them
 * unchanged.
 */
export class ImageClassifier extends VisionHandler {
  declare readonly paramsType?: ImageClassifierParams;
  declare readonly resultForms?: ClassificationForms;

  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities'],
      description: "What the model's output holds: logits, which softmax converts to probabilities, or probabilities.",
      default: 'logits',
    },
    topK: {
      type: 'integer',
      minimum: 1,
      description:
        'The number of classes in a result, likeliest first. If the model has fewer classes, a result has all of them.',
      default: TOP_K,
    },
    result: {
      enum: ['typed', 'torchserve'],
      description: 'The form of the result. typed: [{ label, score }, …], best first; torchserve: { [label]: score }.',
      default: 'typed',
    },
  };

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** The default number of classes in a result; the config and a request's `params` override it. */
  topk = TOP_K;

  protected override get defaults(): Params {
    return { ...super.defaults, topK: this.topk };
  }

  /** Sets the default number of classes in a result. @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output does not hold one number for each class, or if the labels do not fit the
   *   classes
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
  }

  /**
   * Converts the model's output, `[rows, classes]`, to the likeliest classes of each row. `topK` is limited to the
   * number of classes.
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
      activation: softmax,
      topK: this.param('topK', index, context),
      result: this.param('result', index, context),
    }));
  }

  /**
   * Explains the score of a class: which pixels of the image support it.
   *
   * An override may return a list of any other type, with one explanation for each row, and may call
   * `super.getInsights` without a cast. See `postprocess`.
   */
  override getInsights<Row extends ImageExplanation = ImageExplanation>(
    inputs: Tensors,
    data: readonly RowOf<ImageInput>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override getInsights<Row extends ImageExplanation = ImageExplanation>(
    inputs: Tensors,
    data: readonly RowOf<ImageInput>[],
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override getInsights(
    inputs: Tensors,
    _data: readonly RowOf<ImageInput>[],
    context: Context,
  ): MaybePromise<readonly unknown[]> {
    return this.explainImages(inputs, context, (outputs, rows) =>
      classScores(this.#classes(outputs), rows, { output: this.param('output', 0, context), activation: softmax }),
    );
  }

  #classes(outputs: Tensors): ClassOutput {
    const info = this.outputInfo;
    return { info, output: numbersOf(outputs, info.name), labels: this.mapping };
  }
}
