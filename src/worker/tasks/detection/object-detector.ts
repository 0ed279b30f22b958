import type { Context, MaybePromise } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { ImageInput } from '../../../contract/images.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { OneOf } from '../../../shared/one-of.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { DetectionHandler } from '../../handlers/detection-handler.js';
import { exportOf } from '../../handlers/model-export.js';
import type { Row as RowOf } from '../../handlers/row.js';
import type { DetectionDecoder, ModelFacts, Size, TensorView } from '../../outputs/boxes/decoder.js';
import { createDecoder, type FormatName, type Formats } from '../../outputs/boxes/formats.js';
import { selectBoxes } from '../../outputs/boxes/proposals.js';
import { viewsOf } from '../../outputs/boxes/views.js';
import type { ImageExplanation } from '../../outputs/explanation.js';
import { classCount, labelCount } from '../../outputs/labels.js';
import { detectorConfig } from './hugging-face.js';
import { OBJECT_DETECTOR_SCHEMA } from './schemas.js';
import type { DetectionHandlerConfig } from '../../handlers/detection-handler.js';

/** The keys of `handler:` that only the config sets. */
export interface ObjectDetectorConfig extends DetectionHandlerConfig {
  /**
   * The format of the model's outputs: the name of a format, or a mapping from the name to its options.
   * @default 'torchvision'
   */
  readonly decoder?: FormatName | OneOf<Formats>;
}

/**
 * Implements TorchServe's object detector: returns the objects in each image, with boxes in pixels of the upright
 * image. `handler.decoder` names the format of the model's outputs. Non-maximum suppression keeps the best of several
 * overlapping boxes of one class. The handler drops a box whose score or corner is not finite. If a row has scores and
 * none of them is finite, the row fails with `inference-failed`.
 * @answer `[{ label, score, box: { xmin, ymin, xmax, ymax } }, …]`, best first; boxes in pixels of the image
 */
export class ObjectDetector extends DetectionHandler {
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForObjectDetection'],
    processor: 'image',
    hasClasses: true,
    handlerConfig: detectorConfig,
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 50, reads: 'images', main: {}, hasBoxes: true },
    { order: 52, reads: 'images', main: { rank: 3, isDetections: true } },
  ];

  static override readonly ultralytics: string = 'detect';

  declare readonly configType?: ObjectDetectorConfig;
  static override readonly schema: ConfigSchema = OBJECT_DETECTOR_SCHEMA;

  /** Returns a note for more classes than labels: YOLOv5, and exports of other tasks, have columns for other things. */
  protected override otherColumns(): string {
    const more = (this.decoder.classes ?? 0) - (labelCount(this.mapping) ?? Infinity);
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
  protected override createDecoder(model: ModelFacts): MaybePromise<DetectionDecoder> {
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

  /**
   * Explains the score of a class, which is the highest of all of its boxes: which pixels of the image support it.
   */
  protected override explainRows(
    inputs: Tensors,
    _data: readonly RowOf<ImageInput>[],
    context: Context,
  ): Promise<readonly ImageExplanation[]> {
    return this.explainImages(inputs, context, (outputs, rows, size) =>
      viewsOf(outputs, this.decoder.outputs, rows).map((views) => this.#classScores(views, size)),
    );
  }

  /** Returns the highest score of the boxes of each class. @throws `inference-failed` if no score is finite */
  #classScores(views: readonly TensorView[], size: Size): Float64Array {
    const best: number[] = [];
    for (const { score, classIndex } of selectBoxes(this.decoder.decode(views, size), 0))
      if (score > (best[classIndex] ?? 0)) best[classIndex] = score;
    const count = this.decoder.classes ?? Math.max(classCount(this.mapping) ?? 1, best.length);
    return Float64Array.from({ length: count }, (_, index) => best[index] ?? 0);
  }
}
