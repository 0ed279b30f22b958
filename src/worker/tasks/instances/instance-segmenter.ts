import { TabServeError } from '../../../contract/errors.js';
import type { Context, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { OutputInfo, Tensors } from '../../../contract/tensors.js';
import { pause } from '../../../shared/next-task.js';
import { architectureOf } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import type { ModelFacts } from '../../outputs/boxes/decoder.js';
import type { Box } from '../../outputs/boxes/detection.js';
import { viewsOf } from '../../outputs/boxes/views.js';
import { checkLabels, labelCount, labelOf } from '../../outputs/labels.js';
import { type Subtask } from './queries.js';
import type { RunMask } from '../../outputs/runs.js';
import { transferResult } from '../../outputs/transfer.js';
import { compose, normalize, resize, toTensor } from '../../transforms/index.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import { maskForm, prototypeForm } from './instance-boxes.js';
import type { InstanceForm } from './instance-form.js';
import { QUERY_OUTPUTS, queryForm, queryOutputs } from './instance-queries.js';
import { exportOf } from '../../handlers/model-export.js';
import { paintedForm } from './painted-masks.js';
import type { TaskTokens } from './task-tokens.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';
import { INSTANCE_SEGMENTER_SCHEMA } from './schemas.js';
import type { VisionConfig } from '../../handlers/vision-params.js';

export type { RunMask } from '../../outputs/runs.js';

/** The `params` of an instance segmenter. */
export interface InstanceSegmenterParams extends VisionParams {
  /**
   * What is segmented: objects and regions (panoptic), or objects alone (instance). Only for OneFormer.
   * @default 'panoptic'
   */
  readonly subtask?: Subtask;
  /**
   * Segments whose class has a probability of at most this are dropped; of a model that finds boxes, those below
   * it. Default: 0.9 for queries, otherwise 0.5.
   * @minimum 0
   * @maximum 1
   */
  readonly scoreThreshold?: number;
  /**
   * The probability from which a pixel is in a segment's own mask.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly maskThreshold?: number;
  /**
   * Segments of which others cover all but this part are dropped. Only for queries.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly overlapThreshold?: number;
  /**
   * The IoU threshold of non-maximum suppression, as of object_detector, with its default for the decoder. Only
   * for a model that finds boxes.
   * @minimum 0
   * @maximum 1
   */
  readonly iouThreshold?: number;
  /**
   * The largest number of instances in one photo; those with the highest scores stay. Only for a model that finds
   * boxes.
   * @integer
   * @minimum 1
   * @maximum 3000
   * @default 100
   */
  readonly maxDetections?: number;
}

/** One object or region of a photo. */
export interface Instance {
  readonly label: string;
  /** The probability of the label, in 0..1. */
  readonly score: number;
  /**
   * In pixels of the upright photo: the model's own box, clipped to the photo. Of a model that finds no boxes, the smallest
   * one around the mask.
   */
  readonly box: Box;
  /** Its pixels in the upright photo. */
  readonly mask: RunMask;
}

const DECODERS = ['queries', 'rf-detr', 'torchvision', 'yolov8', 'yolov5', 'rows'] as const;
type Decoder = (typeof DECODERS)[number];

/** The input that tells OneFormer what to segment. */
const TASK_INPUT = 'task_inputs';

/** The names that torchvision's users give the outputs of Mask R-CNN. */
const MASK_OUTPUTS = ['boxes', 'labels', 'scores', 'masks'];

/** The keys of `handler:` that only the config sets. */
export interface InstanceSegmenterConfig extends VisionConfig {
  /**
   * The form of the model's outputs: a class and a mask for each query (queries; rf-detr, if each class has a
   * probability of its own), Mask R-CNN's (torchvision), or
   * YOLO's boxes with mask coefficients (yolov8, which YOLO11 has, too; yolov5; rows, if the model removes
   * overlapping boxes itself). Default: by the outputs' names, and by what Ultralytics writes in the file.
   */
  readonly decoder?: 'queries' | 'rf-detr' | 'torchvision' | 'yolov8' | 'yolov5' | 'rows';
  /**
   * The side of the square that the model's masks are interpolated to before their sigmoid is taken; 384 for
   * Mask2Former. Default: their own size.
   * @integer
   * @minimum 1
   */
  readonly maskSide?: number;
}

/**
 * Finds the objects and regions of a photo, each with its pixels. The model has one of four forms, `handler.decoder`:
 *
 * - A class and a mask for each of its queries, as MaskFormer, Mask2Former, OneFormer and DETR, by transformers'
 *   pipeline `image-segmentation`: `class_queries_logits` `[rows, queries, classes + 1]` and `masks_queries_logits`
 *   `[rows, queries, height, width]`, or DETR's `logits` and `pred_masks`. A pixel is in one segment only. A text tells
 *   OneFormer what to segment (the param `subtask`), for which it needs its tokenizer.
 * - A probability for each class of each query, and a mask, as RF-DETR: `logits` `[rows, queries, classes]` and
 *   `pred_masks` `[rows, queries, height, width]`. A pixel is in the best segment whose mask has it.
 * - torchvision's Mask R-CNN: `boxes` `[boxes, 4]`, `labels`, `scores`, and `masks` `[boxes, 1, height, width]`.
 * - YOLO's segmentation: boxes with a coefficient for each of some prototypes, `[rows, prototypes, height, width]`.
 *
 * The default transforms are ImageNet's, for a square.
 * @answer `[{ label, score, box: { xmin, ymin, xmax, ymax }, mask: { width, height, runs } }, …]`, best first; box
 *   and mask in pixels of the image; `paintInstances` makes them an `ImageData`
 */
export class InstanceSegmenter extends VisionHandler<readonly Instance[]> {
  declare readonly paramsType?: InstanceSegmenterParams;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForUniversalSegmentation', 'ForInstanceSegmentation', 'DetrForSegmentation'],
    processor: 'image',
    hasClasses: true,
    readsTexts: ['OneFormerForUniversalSegmentation'],
    handlerConfig: (config, own) => {
      const architecture = architectureOf(config);
      if (architecture?.startsWith('RfDetr') && own['decoder'] === undefined) return { decoder: 'rf-detr' };
      return architecture?.startsWith('Mask2Former') && own['maskSide'] === undefined ? { maskSide: 384 } : {};
    },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 40, reads: 'images', main: {}, outputs: [['pred_masks', 'masks_queries_logits']] },
    { order: 42, reads: 'images', main: { rank: 3, isDetections: true }, outputs: ['output1'] },
  ];

  static override readonly ultralytics: string = 'segment';

  declare readonly configType?: InstanceSegmenterConfig;
  static override readonly schema: ConfigSchema = INSTANCE_SEGMENTER_SCHEMA;

  override imageProcessing = compose(
    resize([800, 800]),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  #form!: InstanceForm;
  /** Undefined if no input tells the model what to segment. */
  #tasks: TaskTokens | undefined;

  /**
   * Opens the model and finds its outputs.
   * @throws `model-config` if they are not there, or if the labels or another key do not fit them
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const task = this.model.inputs.find(({ name }) => name === TASK_INPUT);
    if (task) {
      const tokens = await loadScript(async () => (await import('./task-tokens.js')).TaskTokens);
      this.#tasks = await tokens.load(task, context);
    }
    this.#form = await this.#createForm(context);
    const { isBatched, outputs, classes, note } = this.#form;
    if (!isBatched) this.unbatchedOutputs = outputs;
    if (classes !== undefined) checkLabels(this.mapping, classes, note);
    this.#checkUsed(this.config, 'handler', 'model-config');
  }

  async #createForm(context: Context): Promise<InstanceForm> {
    const { outputs } = this.model;
    const model: ModelFacts = {
      outputs,
      output: this.outputInfo,
      size: this.fixedSize,
      labels: labelCount(this.mapping),
      json: (path) => context.files.json(path),
      warn: (message) => context.warn(message),
    };
    const exported = await exportOf(this.model);
    const own = this.config['decoder'] as Decoder | undefined;
    if (own) exported?.checkDecoder('instance_segmenter', own, 'segment');
    else exported?.checkTask('instance_segmenter', 'segment');
    const name = own ?? decoderOf(outputs) ?? (exported?.decoderOf('segment') as Decoder | undefined);
    if (name === 'queries')
      return queryForm(model, this.config['maskSide'] as number | undefined, this.#tasks !== undefined);
    if (name === 'rf-detr') return paintedForm(model);
    if (name === 'torchvision') return await maskForm(model);
    if (name) return await prototypeForm(name, model);
    throw new TabServeError(
      'model-config',
      `By its outputs' names, an instance segmenter knows ${QUERY_OUTPUTS.map((pair) => pair.join(' and ')).join(', ')}, and ${MASK_OUTPUTS.join(', ')}, but the model has ${outputs.map((one) => one.name).join(', ')}. Export it for the task image-segmentation, set handler.decoder to one of ${DECODERS.join(', ')}, or use image_segmenter for one map of classes.`,
    );
  }

  protected override get defaults(): Params {
    return { ...super.defaults, ...this.#form.defaults };
  }

  /** @throws if a key is without effect on the model's form */
  #checkUsed(keys: Params, where: string, code: 'model-config' | 'invalid-input'): void {
    const unused = this.#form.unused.find((key) => keys[key] !== undefined);
    if (unused !== undefined)
      throw new TabServeError(
        code,
        `${where}.${unused} is without effect on this model, whose outputs are ${this.#form.outputs.join(' and ')}. Remove it.`,
      );
  }

  protected override get ownInputs(): readonly string[] {
    return [TASK_INPUT];
  }

  /** Runs the model, with the input that tells it what to segment in each photo, if it has one. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    if (!this.#tasks) return await super.inference(inputs, context);
    const rows = inputs[this.inputInfo.name]!.dims[0]!;
    const subtasks = Array.from({ length: rows }, (_, index) => this.param<Subtask>('subtask', index, context));
    return await super.inference({ ...inputs, [TASK_INPUT]: this.#tasks.tensor(subtasks) }, context);
  }

  static {
    declareStandard(this.prototype.inference);
  }

  /** Converts the model's outputs to the segments of each row, and transfers their buffers to the page. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Promise<readonly Instance[]> {
    const views = viewsOf(outputs, this.#form.outputs, context.systemProperties.batchSize);
    return async (index) => {
      this.#checkUsed(context.params[index] ?? {}, 'params', 'invalid-input');
      const segments = await this.#form.segments(
        views[index]!,
        this.requirePlacement(index, context),
        <T>(name: string) => this.param<T>(name, index, context),
        () => pause(context),
      );
      return transferResult(
        segments.map(({ classIndex, score, box, mask }) => ({
          label: labelOf(this.mapping, classIndex),
          score,
          box,
          mask,
        })),
        segments.map(({ mask }) => mask.runs.buffer),
      );
    };
  }

  protected override emptyResult: readonly Instance[] = [];
}

/** Returns the decoder that the names of a model's outputs show; undefined if they show none. */
function decoderOf(outputs: readonly OutputInfo[]): Decoder | undefined {
  if (queryOutputs(outputs)) return 'queries';
  return MASK_OUTPUTS.every((name) => outputs.some((output) => output.name === name)) ? 'torchvision' : undefined;
}
