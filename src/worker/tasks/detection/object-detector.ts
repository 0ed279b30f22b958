import type { Context, MaybePromise, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ImageExplanation } from '../../outputs/explanation.js';
import type { Detection, DetectionForms, Detections } from '../../outputs/boxes/detection.js';
import type { DetectionDecoder, ModelFacts, Size, TensorView } from '../../outputs/boxes/decoder.js';
import { createDecoder, decoderSchema, DEFAULT_THRESHOLDS } from '../../outputs/boxes/formats.js';
import { detectorConfig } from './hugging-face.js';
import { selectBoxes } from '../../outputs/boxes/proposals.js';
import { viewsOf } from '../../outputs/boxes/views.js';
import { checkLabels, classCount, labelCount, labelOf } from '../../outputs/labels.js';
import { compose, toTensor } from '../../transforms/index.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { boxesInImage } from '../../handlers/image-boxes.js';
import { exportOf } from '../../handlers/model-export.js';
import type { Row as RowOf } from '../../handlers/row.js';
import type { Placement } from '../../handlers/placements.js';
import { VisionHandler } from '../../handlers/vision-handler.js';
import type { VisionParams } from '../../handlers/vision-params.js';

/** TorchServe's confidence threshold. */
const SCORE_THRESHOLD = 0.5;

/** The `params` of an object detector. */
export interface ObjectDetectorParams extends VisionParams {
  /** The confidence threshold, in 0..1: detections of a lower score are dropped. */
  readonly scoreThreshold?: number;
  /**
   * The IoU threshold of non-maximum suppression: if two boxes of one class overlap more, the one of lower score is
   * dropped. 1 keeps all boxes.
   */
  readonly iouThreshold?: number;
  /** The largest number of detections for one image. */
  readonly maxDetections?: number;
  /** The form of the result: `{ label, score, box }`, or TorchServe's. */
  readonly result?: keyof DetectionForms;
}

/**
 * Implements TorchServe's object detector: returns the objects in each image, with boxes in pixels of the upright
 * image. `handler.decoder` names the format of the model's outputs. Non-maximum suppression keeps the best of several
 * overlapping boxes of one class. The handler drops a box whose score or corner is not finite. If a row has scores and
 * none of them is finite, the row fails with `inference-failed`.
 * @answer `[{ label, score, box: { xmin, ymin, xmax, ymax } }, …]`, best first; boxes in pixels of the image
 */
export class ObjectDetector extends VisionHandler<Detections, ImageExplanation> {
  declare readonly paramsType?: ObjectDetectorParams;
  declare readonly resultForms?: DetectionForms;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForObjectDetection'],
    processor: 'image',
    hasClasses: true,
    handlerConfig: detectorConfig,
  };

  static override readonly schema: ConfigSchema = {
    decoder: {
      ...decoderSchema,
      readOnly: true,
      description:
        "The format of the model's outputs: the name of a format, or a mapping from the name to its options.",
      default: 'torchvision',
    },
    scoreThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'The confidence threshold, in 0..1: detections of a lower score are dropped.',
      default: SCORE_THRESHOLD,
    },
    iouThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: `The IoU threshold of non-maximum suppression: if two boxes of one class overlap more, the one of lower score is dropped; 1 keeps all boxes. The default depends on the decoder: ${DEFAULT_THRESHOLDS}.`,
    },
    boxesOf: {
      enum: ['tensor', 'image'],
      readOnly: true,
      description:
        'What boxes in fractions are fractions of, if padTensor has padded an image right and below: of the whole tensor, or of the image alone. Default: image if the model has an input "pixel_mask", otherwise tensor.',
    },
    maxDetections: {
      type: 'integer',
      minimum: 1,
      description: 'The largest number of detections for one image; those of the highest scores are kept.',
      default: 100,
    },
    result: {
      enum: ['typed', 'torchserve'],
      description:
        'The form of a detection. typed: { label, score, box }; torchserve: { [label]: [x1, y1, x2, y2], score }, where the score replaces the box of a class with the label "score".',
      default: 'typed',
    },
  };

  override imageProcessing = compose(toTensor());

  /** The default confidence threshold; the config and a request's `params` override it. */
  threshold = SCORE_THRESHOLD;

  protected override get defaults(): Params {
    return { ...super.defaults, scoreThreshold: this.threshold };
  }

  protected override get fillsSizes(): boolean {
    return true;
  }

  #decoder!: DetectionDecoder;

  /**
   * Opens the model and creates the decoder.
   * @throws `model-config` if the decoder does not fit the model's outputs, or if the labels do not fit its classes
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#decoder = await this.createDecoder({
      outputs: this.model.outputs,
      output: this.outputInfo,
      size: this.fixedSize,
      labels: labelCount(this.mapping),
      json: (path) => context.files.json(path),
      warn: (message) => context.warn(message),
    });
    if (!this.#decoder.isBatched) this.unbatchedOutputs = this.#decoder.outputs;
    if (this.#decoder.classes !== undefined) checkLabels(this.mapping, this.#decoder.classes, this.#otherColumns());
  }

  /** Returns a note for more classes than labels: YOLOv5, and exports of other tasks, have columns for other things. */
  #otherColumns(): string {
    const more = (this.#decoder.classes ?? 0) - (labelCount(this.mapping) ?? Infinity);
    if (this.config['decoder'] === 'yolov8' && more === 1)
      return ' (YOLOv5 has one column more than classes: use decoder: yolov5 if it is a YOLOv5)';
    return this.config['decoder'] === 'yolov8' && (more === 32 || (more > 0 && more % 3 === 0))
      ? ` (of these, ${more} may be ${more === 32 ? 'the mask coefficients of a segmentation' : `the numbers of ${more / 3} keypoints`}; object_detector reads exports of the task detect only, ${more === 32 ? 'instance_segmenter those of the task segment' : 'pose_landmarker those of the task pose'})`
      : '';
  }

  /**
   * Creates the decoder of the model's outputs. This implementation creates the decoder that `handler.decoder` names.
   * Override it if no built-in decoder reads your model's outputs. The class still applies the thresholds, non-maximum
   * suppression and labels, and converts the boxes to pixels of the image.
   *
   * ```ts
   * protected override createDecoder({ output }: ModelFacts): DetectionDecoder {
   *   return {
   *     outputs: [output.name],
   *     isBatched: true,
   *     classes: 1,
   *     iouThreshold: 0.5,
   *     decode([faces]) {
   *       const count = faces!.dims[0]!; // [faces, 5]: x, y, width, height, score, in pixels of the tensor
   *       const at = (face: number, column: number) => faces!.data[face * 5 + column]!;
   *       return {
   *         scores: Float64Array.from({ length: count }, (_, face) => at(face, 4)),
   *         classes: new Int32Array(count),
   *         box: (face) => ({ xmin: at(face, 0), ymin: at(face, 1), xmax: at(face, 0) + at(face, 2), ymax: at(face, 1) + at(face, 3) }),
   *       };
   *     },
   *   };
   * }
   * ```
   */
  protected createDecoder(model: ModelFacts): MaybePromise<DetectionDecoder> {
    return this.#builtInDecoder(model);
  }

  async #builtInDecoder(model: ModelFacts): Promise<DetectionDecoder> {
    const decoder = this.config['decoder'] ?? this.defaults['decoder'];
    const exported = await exportOf(this.model);
    exported?.checkDecoder(
      'object_detector',
      typeof decoder === 'string' ? decoder : Object.keys(decoder as object)[0]!,
      'detect',
    );
    return await createDecoder(decoder, model);
  }

  /** Converts the model's outputs to the detections of each row. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Detections {
    const rows = context.systemProperties.batchSize;
    const views = viewsOf(outputs, this.#decoder.outputs, rows);
    return (index) => {
      const own = this.rowViews(views[index]!, index, context);
      const detections = this.#detect(own, this.requirePlacement(index, context), index, context);
      const isTorchServe = this.param<string>('result', index, context) === 'torchserve';
      // It is another form then: see `resultForms`.
      return isTorchServe ? (detections.map(toTorchServe) as unknown as Detections) : detections;
    };
  }

  protected override emptyResult: Detections = [];

  /** Returns what the decoder reads of row `index`. This implementation returns all of it. */
  protected rowViews(views: readonly TensorView[], _index: number, _context: Context): readonly TensorView[] {
    return views;
  }

  protected override get knowsPadding(): boolean {
    const boxesOf = this.config['boxesOf'];
    return boxesOf === undefined ? super.knowsPadding : boxesOf === 'image';
  }

  /** Returns the label of a class in the result of row `index`. */
  protected labelAt(classIndex: number, _index: number, _context: Context): string {
    return labelOf(this.mapping, classIndex);
  }

  /**
   * Explains the score of a class, which is the highest of all of its boxes: which pixels of the image support it.
   */
  protected override explainRows(
    inputs: Tensors,
    _data: readonly RowOf<ImageInput>[],
    context: Context,
  ): Promise<readonly ImageExplanation[]> {
    return this.explainImages(inputs, context, (outputs, rows, size) =>
      viewsOf(outputs, this.#decoder.outputs, rows).map((views) => this.#classScores(views, size)),
    );
  }

  /** Returns the highest score of the boxes of each class. @throws `inference-failed` if no score is finite */
  #classScores(views: readonly TensorView[], size: Size): Float64Array {
    const best: number[] = [];
    for (const { score, classIndex } of selectBoxes(this.#decoder.decode(views, size), 0))
      if (score > (best[classIndex] ?? 0)) best[classIndex] = score;
    const count = this.#decoder.classes ?? Math.max(classCount(this.mapping) ?? 1, best.length);
    return Float64Array.from({ length: count }, (_, index) => best[index] ?? 0);
  }

  #detect(views: readonly TensorView[], placement: Placement, index: number, context: Context): Detections {
    const size: Size = placement.content ?? { width: placement.tensorWidth, height: placement.tensorHeight };
    const found = boxesInImage(this.#decoder.decode(views, size), placement, {
      score: this.param('scoreThreshold', index, context),
      iou: this.param<number | undefined>('iouThreshold', index, context) ?? this.#decoder.iouThreshold,
      count: this.param('maxDetections', index, context),
    });
    return found.map(({ classIndex, score, box }) => ({
      label: this.labelAt(classIndex, index, context),
      score,
      box,
    }));
  }
}

function toTorchServe({ label, score, box: { xmin, ymin, xmax, ymax } }: Detection): Record<string, unknown> {
  return { [label]: [xmin, ymin, xmax, ymax], score };
}
