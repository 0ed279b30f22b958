import type { Context, MaybePromise, Params } from '../contract/handler.js';
import type { Tensors } from '../contract/tensors.js';
import {
  checkClasses,
  classify,
  maxResultClasses,
  type Classification,
  type ClassificationForms,
} from '../outputs/classification.js';
import type { ScoreKind } from '../outputs/scores.js';
import { softmax } from '../outputs/softmax.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../shared/schema.js';
import { VisionHandler, type VisionParams } from './vision-handler.js';

/** TorchServe's number of classes. */
const TOP_K = 5;

/** The `params` of an image classifier. */
export interface ImageClassifierParams extends VisionParams {
  /** How many classes a result holds, the likeliest. */
  readonly topK?: number;
  /** What the model's numbers are. */
  readonly output?: ScoreKind;
  /** The form of the result: a list, best first, or TorchServe's record. */
  readonly result?: keyof ClassificationForms;
}

/**
 * TorchServe's image classifier: the likeliest classes of each image.
 * The transforms are ImageNet's; logits become probabilities by softmax unless `handler.output` says that they are some already.
 */
export class ImageClassifier extends VisionHandler {
  declare readonly paramsType?: ImageClassifierParams;
  declare readonly resultForms?: ClassificationForms;

  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities'],
      description: 'What the model answers with: logits, which softmax turns into probabilities, or probabilities.',
      default: 'logits',
    },
    topK: {
      type: 'integer',
      minimum: 1,
      description: 'How many classes a result holds, the likeliest; all where there are fewer.',
      default: TOP_K,
    },
    result: {
      enum: ['typed', 'torchserve'],
      description: 'typed: [{ label, score }, …], best first; torchserve: { [label]: score }.',
      default: 'typed',
    },
  };

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** How many classes a result holds, unless the config or a request says otherwise. */
  topk = TOP_K;

  protected override get defaults(): Params {
    return { ...super.defaults, topK: this.topk };
  }

  /** @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /** @throws `model-config` if the model's output is not of classes, or of others than there are labels */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
  }

  /**
   * Turns the model's output, `[rows, classes]`, into each row's likeliest classes. `topK` is clamped to the number of classes.
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
      activation: softmax,
      labels: this.mapping,
      topK: this.param('topK', index, context),
      result: this.param('result', index, context),
    }));
  }
}
