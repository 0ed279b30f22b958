import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { ImageInput } from '../../../contract/images.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { Classification } from '../../outputs/classification.js';
import { numbersOf } from '../../outputs/rows.js';
import { sigmoid, softmax, topK } from '../../outputs/scores.js';
import { concat, toFloats } from '../../tensors/tensors.js';
import { IDS_INPUT, TEXT_INPUTS } from '../../text/text-inputs.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import {
  checkLabels,
  differentTexts,
  LabelTexts,
  type TextLengths,
  siglipLengths,
  type LabelParams,
  type ParamOf,
  labelLogits,
} from '../../handlers/label-texts.js';
import { firstColumns, labelVectors, logitsOf, type LabelVectors } from './label-vectors.js';
import type { Row } from '../../handlers/row.js';
import type { StateConfig } from '../../handlers/state-config.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { ZERO_SHOT_IMAGE_CLASSIFIER_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

/** The `params` of `zero_shot_image_classifier`. */
export interface ZeroShotImageClassifierParams extends VisionParams, LabelParams {
  /**
   * The text that the model reads for each label, with {} for the label.
   * @default 'This is a photo of {}.'
   */
  readonly hypothesisTemplate?: string;
}

/** The model's output `[images, texts]`. */
const LOGITS = 'logits_per_image';

/** The keys of `handler:` that only the config sets. */
export interface ZeroShotImageClassifierConfig extends VisionConfig, TextLengths, StateConfig {
  /**
   * Whether the probabilities are those among the labels (softmax), or each label has its own (sigmoid), for a
   * model that was trained so, as SigLIP.
   * @default 'softmax'
   */
  readonly activation?: 'softmax' | 'sigmoid';
}

/**
 * Chooses among labels that a request names, by a model that compares images with texts, such as CLIP and SigLIP, as
 * transformers' pipeline `zero-shot-image-classification` does. The model reads the image and a text about each label.
 * Its output `logits_per_image`, `[images, texts]`, becomes probabilities: among the labels by softmax, or of each
 * label by itself with SigLIP, which was trained so. A request without labels fails with `invalid-input`, unless
 * `handler.labels` has some.
 *
 * The model is one file with inputs for both, `model.onnx`. What its two parts (`text_model.onnx` and
 * `vision_model.onnx`) return becomes no probability without the scale that the whole model multiplies with, which they
 * do not have: `image_text_embedder` reads them. If the model also returns `image_embeds` and `text_embeds`, of length
 * 1, it reads a list of several labels once: their vectors stay in the worker, up to `maxStateBytes`, and the model
 * reads one text with the next image.
 * @sample { "params": { "labels": ["a person", "a cat", "a street"] } }
 * @answer `[{ label, score }, …]`, best first
 */
export class ZeroShotImageClassifier extends VisionHandler<Classification> {
  declare readonly paramsType?: ZeroShotImageClassifierParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['CLIPModel', 'MetaClip2Model', 'SiglipModel'],
    processor: 'both',
    handlerConfig: (config) => ({
      ...siglipLengths(config),
      ...(config['model_type'] === 'siglip' && { activation: 'sigmoid' }),
    }),
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 10, reads: 'images-and-texts', outputs: ['logits_per_image'] },
  ];

  declare readonly configType?: ZeroShotImageClassifierConfig;
  static override readonly schema: ConfigSchema = ZERO_SHOT_IMAGE_CLASSIFIER_SCHEMA;

  #texts!: LabelTexts;
  /** Whether the vectors of labels are worth a third text beside two: without them, each request would read it. */
  #keepsVectors = true;

  /**
   * Opens the model and loads the tokenizer.
   * @throws `model-config` if the model does not read images and texts together
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const output = this.model.outputs.find(({ name }) => name === (this.config['outputName'] ?? LOGITS));
    if (!output)
      throw new TabServeError(
        'model-config',
        `handler.outputName: the model has no output "${LOGITS}", [images, texts]; it has ${this.model.outputs.map(({ name }) => `"${name}"`).join(', ')}. Name the output, or use image_text_embedder for a model that returns vectors.`,
      );
    this.outputInfo = floatOutput(output, [], this.config);
    this.#texts = await LabelTexts.load(this.model, this.inputInfo, context, this.config);
  }

  /** Reads no labels of the model: `handler.labels` are those to choose from. */
  protected override readLabels(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  protected override get ownInputs(): readonly string[] {
    return TEXT_INPUTS;
  }

  override async example(context: Context): Promise<Tensors | undefined> {
    const images = await super.example(context);
    return images && this.#texts.withText(images);
  }

  override async examples(context: Context): Promise<readonly Tensors[]> {
    return (await super.examples(context)).map((images) => this.#texts.withText(images));
  }

  /** The example is for the model: `inference` takes images alone. */
  readonly exampleIsForModel = true;

  /** Converts images to the model's input. A row without labels fails. */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    checkLabels(context, (index) => this.#paramOf(index, context));
    return await super.preprocess(data, context);
  }

  /**
   * Runs the model on the images, with the texts of all rows; with one of them, if it has read the same texts before.
   */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const { name } = this.outputInfo;
    const texts = this.#allTexts(context);
    const key = JSON.stringify(texts);
    const cached = context.kept.get(key) as LabelVectors | undefined;
    if (cached) {
      const runs = await this.#texts.run(inputs, this.#texts.feeds(texts.slice(0, 1), cached.tokens), context);
      return { [name]: concat(runs.map((outputs) => logitsOf(outputs, name, cached))) };
    }
    // The products with two labels do not tell the scale; those with the letter beside them do.
    // If the model quantizes at run time, a label that is read alone has other numbers than beside others.
    const canKeep = !this.model.quantizesAtRunTime;
    const isPair = texts.length === 2 && this.#keepsVectors && canKeep;
    const feeds = this.#texts.feeds(isPair ? [...texts, 'a'] : texts);
    const runs = await this.#texts.run(inputs, feeds, context);
    if (texts.length > 1 && canKeep) {
      const vectors = labelVectors(runs[0]!, name, { labels: texts.length, tokens: feeds[IDS_INPUT]!.dims[1]! });
      this.#keepsVectors =
        vectors !== undefined && context.kept.set(key, vectors, { bytes: vectors.texts.byteLength + 2 * key.length });
    }
    return { [name]: concat(runs.map((outputs) => firstColumns(outputs[name]!, texts.length))) };
  }

  /** Converts the model's output, `[images, texts]`, to the labels of each image. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const output = numbersOf(outputs, this.outputInfo.name);
    const logits = toFloats(output);
    const own = labelLogits(logits, context, (index) => this.#paramOf(index, context));
    return (index) => {
      const { labels, logits } = own(index);
      const scores = this.param('activation', index, context) === 'sigmoid' ? sigmoid(logits) : softmax(logits);
      return topK(scores, labels.length).map(({ index: at, score }) => ({ label: labels[at]!, score }));
    };
  }

  protected override emptyResult: Classification = [];

  /** Returns the different texts of all rows. */
  #allTexts(context: Context): readonly string[] {
    return differentTexts(context, (index) => this.#paramOf(index, context));
  }

  #paramOf(index: number, context: Context): ParamOf {
    return (name) => this.param(name, index, context);
  }
}
