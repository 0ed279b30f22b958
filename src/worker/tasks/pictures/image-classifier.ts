import type { Context, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ImageExplanation } from '../../outputs/explanation.js';
import { activationFault } from '../../outputs/activation.js';
import {
  checkClasses,
  classify,
  classScores,
  maxResultClasses,
  rowScores,
  type Classification,
  type ClassificationForms,
  type ClassifyOptions,
  type ClassOutput,
} from '../../outputs/classification.js';
import { numbersOf } from '../../outputs/rows.js';
import type { ScoreKind } from '../../outputs/scores.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../../transforms/index.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { exportOf } from '../../handlers/model-export.js';
import type { Row as RowOf } from '../../handlers/row.js';
import {
  activationOf,
  severalLabels,
  thresholdOf,
  type SeveralLabelsConfig,
  type SeveralLabelsParams,
} from '../../handlers/several-labels.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { IMAGE_CLASSIFIER_SCHEMA } from './schemas.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import { floatOutput } from '../../outputs/floats.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** TorchServe's default number of classes in a result. */
const TOP_K = 5;

/** The `params` of an image classifier. */
export interface ImageClassifierParams extends VisionParams, SeveralLabelsParams {
  /**
   * The number of classes in a result, likeliest first. If the model has fewer classes, a result has all of them.
   * @integer
   * @minimum 1
   * @default 5
   */
  readonly topK?: number;
  /**
   * What the model's output holds: logits, which softmax (with multiLabel: sigmoid) converts to probabilities, or
   * probabilities.
   * @default 'logits'
   */
  readonly output?: ScoreKind;
  /**
   * The form of the result. typed: [{ label, score }, …], best first; torchserve: { [label]: score }.
   * @default 'typed'
   */
  readonly result?: keyof ClassificationForms;
}

/**
 * Implements TorchServe's image classifier: returns the likeliest classes of each image. The default transforms are
 * ImageNet's. Softmax converts logits to probabilities; with `output: 'probabilities'`, the handler uses them
 * unchanged. With `multiLabel`, sigmoid converts them, and a result has only the labels whose probability reaches
 * `threshold`, so it may be empty.
 * @answer `[{ label, score }, …]`, best first
 */
export class ImageClassifier extends VisionHandler<Classification, ImageExplanation> {
  declare readonly paramsType?: ImageClassifierParams;
  declare readonly configType?: VisionConfig & SeveralLabelsConfig;
  declare readonly resultForms?: ClassificationForms;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForImageClassification', 'ForImageClassificationWithTeacher'],
    processor: 'image',
    hasClasses: true,
    /** The rules of transformers' image classification pipeline. */
    handlerConfig: severalLabels,
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 130, reads: 'images', main: { rank: 2, isLogits: true } },
    {
      order: 132,
      reads: 'images',
      // With the names of Paddle, Caffe2 and MXNet.
      main: {
        rank: 2,
        name: ['softmax', 'softmax_tmp', 'gpu_softmax', 'softmaxout', 'probabilities', 'probability', 'probs', 'prob'],
      },
    },
    { order: 134, reads: 'images', main: { rank: 2, name: ['output', 'predictions', 'fetch_name'], isOnly: true } },
  ];

  static override readonly ultralytics: string = 'classify';

  static override readonly schema: ConfigSchema = IMAGE_CLASSIFIER_SCHEMA;

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
    (await exportOf(this.model))?.checkTask('image_classifier', 'classify');
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    checkClasses(this.outputInfo, this.mapping);
    const fault = activationFault(this.outputInfo, this.param('output', 0, context));
    if (fault !== undefined) context.warn(fault);
    thresholdOf(this.config, this.param('threshold', 0, context), 'model-config');
  }

  /**
   * Converts the model's output, `[rows, classes]`, to the likeliest classes of each row. `topK` is limited to the
   * number of classes.
   */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const scores = rowScores(this.#classes(outputs), context.systemProperties.batchSize);
    const options = (index: number): ClassifyOptions => ({
      output: this.param('output', index, context),
      activation: activationOf(this.config),
      topK: this.param('topK', index, context),
      threshold: thresholdOf(this.config, this.param('threshold', index, context), 'invalid-input'),
      result: this.param('result', index, context),
      recordOrder: 'score',
    });
    // With the param `result`, it is another form: see `resultForms`.
    return (index) => classify(scores[index]!, this.mapping, options(index)) as Classification;
  }

  static {
    declareStandard(this.prototype.rowResults);
  }

  protected override emptyResult: Classification = [];

  /** Explains the score of a class: which pixels of the image support it. */
  protected override explainRows(
    inputs: Tensors,
    _data: readonly RowOf<ImageInput>[],
    context: Context,
  ): Promise<readonly ImageExplanation[]> {
    return this.explainImages(inputs, context, (outputs, rows) =>
      classScores(this.#classes(outputs), rows, {
        output: this.param('output', 0, context),
        activation: activationOf(this.config),
      }),
    );
  }

  #classes(outputs: Tensors): ClassOutput {
    const info = this.outputInfo;
    return { info, output: numbersOf(outputs, info.name), labels: this.mapping };
  }
}
