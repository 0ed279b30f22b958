import type { Context, MaybePromise, Params } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import type { ImageExplanation } from '../outputs/explanation.js';
import type { Detection, DetectionForms, Detections } from '../outputs/boxes/detection.js';
import type { DetectionDecoder, ModelFacts, Size, TensorView } from '../outputs/boxes/decoder.js';
import { viewsOf } from '../outputs/boxes/views.js';
import { checkLabels, labelCount, labelOf } from '../outputs/labels.js';
import { compose, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { boxesInImage } from './image-boxes.js';
import type { Placement } from './placements.js';
import { VisionHandler } from './vision-handler.js';
import type { VisionParams } from './vision-params.js';
import { DETECTION_HANDLER_SCHEMA } from './schemas.js';
import { declareStandard } from './handler-contract.js';
import type { VisionConfig } from './vision-params.js';

/** TorchServe's confidence threshold. */
const SCORE_THRESHOLD = 0.5;

/** The `params` of an object detector. */
export interface ObjectDetectorParams extends VisionParams {
  /**
   * The confidence threshold, in 0..1: detections of a lower score are dropped.
   * @minimum 0
   * @maximum 1
   * @default 0.5
   */
  readonly scoreThreshold?: number;
  /**
   * The IoU threshold of non-maximum suppression: if two boxes of one class overlap more, the one of lower score
   * is dropped; 1 keeps all boxes. The default depends on the decoder: torchvision 1, yolov5 0.45, yolov8 0.7,
   * yolox 0.45, ssd 0.45, rows 1, detr 1, nanodet 0.6.
   * @minimum 0
   * @maximum 1
   */
  readonly iouThreshold?: number;
  /**
   * The largest number of detections for one image; those with the highest scores stay.
   * @integer
   * @minimum 1
   * @maximum 3000
   * @default 100
   */
  readonly maxDetections?: number;
  /**
   * The form of a detection. typed: { label, score, box }; torchserve: { [label]: [x1, y1, x2, y2], score }, where
   * the score replaces the box of a class with the label "score".
   * @default 'typed'
   */
  readonly result?: keyof DetectionForms;
}

/** The keys of `handler:` that only the config sets. */
export interface DetectionHandlerConfig extends VisionConfig {
  /**
   * Whether boxes in fractions are fractions of the whole tensor, or of the image alone, if padTensor has padded an
   * image right and below. Default: image if the model has an input "pixel_mask", otherwise tensor.
   */
  readonly boxesOf?: 'tensor' | 'image';
}

/** What the handlers share that find objects in images. A subclass says how the model's outputs are decoded. */
export abstract class DetectionHandler extends VisionHandler<Detections, ImageExplanation> {
  declare readonly paramsType?: ObjectDetectorParams;
  declare readonly resultForms?: DetectionForms;

  declare readonly configType?: DetectionHandlerConfig;
  static override readonly schema: ConfigSchema = DETECTION_HANDLER_SCHEMA;

  override imageProcessing = compose(toTensor());

  /** The default confidence threshold; the config and a request's `params` override it. */
  threshold = SCORE_THRESHOLD;

  protected override get defaults(): Params {
    return { ...super.defaults, scoreThreshold: this.threshold };
  }

  protected override get fillsSizes(): boolean {
    return true;
  }

  protected decoder!: DetectionDecoder;

  /**
   * Opens the model and creates the decoder.
   * @throws `model-config` if the decoder does not fit the model's outputs, or if the labels do not fit its classes
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.decoder = await this.createDecoder({
      outputs: this.model.outputs,
      output: this.outputInfo,
      size: this.fixedSize,
      labels: labelCount(this.mapping),
      json: (path) => context.files.json(path),
      warn: (message) => context.warn(message),
    });
    if (!this.decoder.isBatched) this.unbatchedOutputs = this.decoder.outputs;
    if (this.decoder.classes !== undefined) checkLabels(this.mapping, this.decoder.classes, this.otherColumns());
  }

  /** Creates the decoder of the model's outputs. @throws `model-config` if the outputs do not fit */
  protected abstract createDecoder(model: ModelFacts): MaybePromise<DetectionDecoder>;

  /** Returns a note for the error that the model has more classes than labels. */
  protected otherColumns(): string {
    return '';
  }

  /** Converts the model's outputs to the detections of each row. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Detections {
    const rows = context.systemProperties.batchSize;
    const views = viewsOf(outputs, this.decoder.outputs, rows);
    return (index) => {
      const own = this.rowViews(views[index]!, index, context);
      const detections = this.#detect(own, this.requirePlacement(index, context), index, context);
      const isTorchServe = this.param<string>('result', index, context) === 'torchserve';
      // It is another form then: see `resultForms`.
      return isTorchServe ? (detections.map(toTorchServe) as unknown as Detections) : detections;
    };
  }

  static {
    declareStandard(this.prototype.rowResults);
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

  #detect(views: readonly TensorView[], placement: Placement, index: number, context: Context): Detections {
    const size: Size = placement.content ?? { width: placement.tensorWidth, height: placement.tensorHeight };
    const found = boxesInImage(this.decoder.decode(views, size), placement, {
      score: this.param('scoreThreshold', index, context),
      iou: this.param<number | undefined>('iouThreshold', index, context) ?? this.decoder.iouThreshold,
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
