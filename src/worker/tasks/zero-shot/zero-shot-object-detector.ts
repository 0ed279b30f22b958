import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { architectureOf } from '../../../shared/hugging-face.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { DetectionDecoder, TensorView } from '../../outputs/boxes/decoder.js';
import { BOXES, joinTextQueries, LOGITS, readTextQueries, textQueryDecoder, type Columns } from './text-queries.js';
import { concat, pad, slice } from '../../tensors/tensors.js';
import { TEXT_INPUTS } from '../../text/text-inputs.js';
import {
  checkLabels,
  labelsOf,
  LabelTexts,
  type TextLengths,
  textsOf,
  type LabelParams,
  type ParamOf,
} from '../../handlers/label-texts.js';
import { DetectionHandler, type ObjectDetectorParams } from '../../handlers/detection-handler.js';
import type { Row } from '../../handlers/row.js';
import { ZERO_SHOT_OBJECT_DETECTOR_SCHEMA } from './schemas.js';
import type { DetectionHandlerConfig } from '../../handlers/detection-handler.js';

/** The `params` of `zero_shot_object_detector`. */
export interface ZeroShotObjectDetectorParams extends ObjectDetectorParams, LabelParams {
  /**
   * The text that the model reads for each label, with {} for the label.
   * @default '{}'
   */
  readonly hypothesisTemplate?: string;
  /**
   * The confidence threshold, in 0..1: detections of a lower score are dropped.
   * @minimum 0
   * @maximum 1
   * @default 0.1
   */
  readonly scoreThreshold?: number;
}

/** The confidence threshold of transformers' pipeline. */
const SCORE_THRESHOLD = 0.1;

/** The keys of `handler:` that only the config sets. */
export interface ZeroShotObjectDetectorConfig extends DetectionHandlerConfig, TextLengths {
  /**
   * What the columns of the output "logits", [images, queries, columns], are: the texts (OWL-ViT), or the tokens
   * of one text (Grounding DINO).
   * @default 'texts'
   */
  readonly columns?: 'texts' | 'tokens';
}

/**
 * Finds in images what the labels of a request name, by a model that reads images and texts, such as OWL-ViT and
 * Grounding DINO, as transformers' pipeline `zero-shot-object-detection` does. The model reads one image at a time,
 * with the texts of all labels, or if it reads them as one sentence (Grounding DINO) with one after the other. A score
 * is the probability of a label by itself. A request without labels fails with `invalid-input`, unless `handler.labels`
 * has some.
 * @sample { "params": { "labels": ["a person", "a cat", "a cup"] } }
 * @answer `[{ label, score, box: { xmin, ymin, xmax, ymax } }, …]`, best first; boxes in pixels of the image
 */
export class ZeroShotObjectDetector extends DetectionHandler {
  declare readonly paramsType?: ZeroShotObjectDetectorParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['OwlViTForObjectDetection', 'Owlv2ForObjectDetection', 'GroundingDinoForObjectDetection'],
    processor: 'both',
    handlerConfig: (config) =>
      architectureOf(config)?.endsWith('GroundingDinoForObjectDetection')
        ? { columns: 'tokens' }
        : { columns: 'texts' },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 20, reads: 'images-and-texts', main: {}, hasBoxes: true },
  ];

  declare readonly configType?: ZeroShotObjectDetectorConfig;
  static override readonly schema: ConfigSchema = ZERO_SHOT_OBJECT_DETECTOR_SCHEMA;

  override threshold = SCORE_THRESHOLD;

  /** The example is for the model: `inference` takes images alone. */
  readonly exampleIsForModel = true;

  #texts!: LabelTexts;

  /**
   * Opens the model and loads the tokenizer.
   * @throws `model-config` if the model does not read images and texts together, or has other outputs
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#texts = await LabelTexts.load(this.model, this.inputInfo, context, this.config);
  }

  /** @throws `model-config` if the outputs are not `logits` and `pred_boxes` */
  protected override createDecoder(): DetectionDecoder {
    if (this.config['decoder'] !== undefined)
      throw new TabServeError(
        'model-config',
        `handler.decoder: zero_shot_object_detector reads the outputs "${LOGITS}" and "${BOXES}". Remove handler.decoder.`,
      );
    const names = this.model.outputs.map(({ name }) => name);
    if (names.includes(LOGITS) && names.includes(BOXES)) return textQueryDecoder;
    throw new TabServeError(
      'model-config',
      `zero_shot_object_detector needs the outputs "${LOGITS}" and "${BOXES}"; this model has ${names.map((name) => `"${name}"`).join(', ')}. Export it for zero-shot-object-detection.`,
    );
  }

  /** Reads no labels of the model: `handler.labels` are those to look for. */
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

  /** Converts images to the model's input. A row without labels fails. */
  override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
    checkLabels(context, (index) => this.#paramOf(index, context));
    return await super.preprocess(data, context);
  }

  /**
   * Runs the model on one image after the other, with its labels' texts. Returns `logits`, `[images, texts, queries]`,
   * and `pred_boxes`, `[images, texts, queries, 4]`. An image with fewer labels has logits of −∞ after them.
   */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const rows: (Awaited<ReturnType<typeof joinTextQueries>> | undefined)[] = [];
    for (let index = 0; index < context.systemProperties.batchSize; index++)
      rows.push(context.failures.has(index) ? undefined : await this.#runRow(inputs, index, context));
    const some = rows.find((row) => row !== undefined)!;
    const texts = Math.max(...rows.map((row) => row?.logits.dims[1] ?? 0));
    const joined = (name: 'logits' | 'boxes', filler: number): Tensor =>
      concat(rows.map((row) => padded((row ?? some)[name], texts, filler)));
    return { [LOGITS]: joined('logits', -Infinity), [BOXES]: joined('boxes', 0) };
  }

  async #runRow(inputs: Tensors, index: number, context: Context): Promise<ReturnType<typeof joinTextQueries>> {
    const { signal } = context;
    const image = Object.fromEntries(
      Object.entries(inputs).map(([name, tensor]) => [name, slice(tensor, index, index + 1)]),
    );
    const columns = this.param<Columns>('columns', index, context);
    const texts = textsOf(this.#paramOf(index, context));
    const runs = columns === 'tokens' || this.#texts.takesOneText ? texts.map((text) => [text]) : [texts];
    const parts = [];
    for (const run of runs) {
      const outputs = await this.model.run({ ...image, ...this.#texts.feeds(run) }, { signal });
      parts.push(readTextQueries(outputs, columns, run.length));
      context.heartbeat();
    }
    return joinTextQueries(parts);
  }

  /** Returns the views of row `index`, of its own labels alone. */
  protected override rowViews(
    [logits, boxes]: readonly TensorView[],
    index: number,
    context: Context,
  ): readonly TensorView[] {
    const { length } = labelsOf(this.#paramOf(index, context));
    return [logits!, boxes!].map(({ dims: [texts, ...dims], data }) => ({
      dims: [length, ...dims],
      data: data.subarray(0, (data.length / texts!) * length),
    }));
  }

  protected override labelAt(classIndex: number, index: number, context: Context): string {
    return labelsOf(this.#paramOf(index, context))[classIndex]!;
  }

  /** @throws `unsupported` */
  protected override explainRows(): Promise<never> {
    throw new TabServeError('unsupported', 'zero_shot_object_detector has no explanations.');
  }

  #paramOf(index: number, context: Context): ParamOf {
    return (name) => this.param(name, index, context);
  }
}

/** Returns `[1, texts, …]` with more texts, whose numbers are `filler`. */
function padded(tensor: Tensor, texts: number, filler: number): Tensor {
  const [, ...dims] = tensor.dims;
  const { dims: longer, data } = pad({ ...tensor, dims } as Tensor<'float32'>, texts, filler);
  return { dtype: 'float32', dims: [1, ...longer], data };
}
