import { TabServeError } from '../../../contract/errors.js';
import type { DetectionDecoder, Format, ModelFacts } from './decoder.js';
import { detr, type DetrOptions } from './detr.js';
import { nanodet, type NanodetOptions } from './nanodet.js';
import { rows, type RowsOptions } from './rows.js';
import { ssd, type SsdOptions } from './ssd.js';
import { torchvision, type TorchvisionOptions } from './torchvision.js';
import { yolov5, type YoloOptions } from './yolov5.js';
import { yolov8, type Yolov8Options } from './yolov8.js';
import { yolox, type YoloxOptions } from './yolox.js';
import { checkFloats } from '../floats.js';

/** All formats by their name in a config. */
export const FORMATS = { torchvision, yolov5, yolov8, yolox, ssd, rows, detr, nanodet } as const;
export type FormatName = keyof typeof FORMATS;

/** What a config says of each format. */
export interface Formats {
  /**
   * Final boxes, labels and scores in three outputs, as torchvision's detectors and TensorFlow's Object Detection
   * API return them. Labels use the class numbers of the model: in torchvision, class 0 is the background.
   */
  readonly torchvision?: TorchvisionOptions | null;
  /**
   * YOLOv5 and YOLOv7, [batch, boxes, 5 + classes]: center, size, objectness and class scores, which the export
   * has decoded. The score of a detection is the objectness times the class score.
   */
  readonly yolov5?: YoloOptions | null;
  /**
   * YOLOv8 and YOLO11, [batch, 4 + classes, boxes], or the same transposed: center, size and class scores, which
   * the export has decoded. The axis of the classes is the one that fits the number of labels, or the shorter one.
   */
  readonly yolov8?: Yolov8Options | null;
  /**
   * YOLOX with its own export, [batch, cells, 5 + classes]: center = (xy + cell) · stride, size = exp(wh) ·
   * stride, objectness and class scores. If the export has decoded the rows (--decode_in_inference), use yolov5.
   */
  readonly yolox?: YoloxOptions | null;
  /**
   * SSD without non-maximum suppression in the graph: class logits [batch, anchors, classes] and box regressions
   * [batch, anchors, 4]. The config describes the anchors, and the generator of the anchors sets the other
   * defaults. Labels use the class numbers of the model: if the background is first, it is class 0.
   */
  readonly ssd?: SsdOptions | null;
  /** Final detections, [batch, boxes, columns], as YOLOv10 returns them: a box, its score and its class. */
  readonly rows?: RowsOptions | null;
  /**
   * DETR: logits [batch, queries, classes], and boxes [batch, queries, 4] as center and size in fractions of the
   * input’s sides.
   */
  readonly detr?: DetrOptions | null;
  /**
   * NanoDet: class scores and the distributions of the four sides. They are in one output [batch, points, classes
   * + 4 · (regMax + 1)], or in two outputs for each stride, which the decoder recognizes by their number of
   * points.
   */
  readonly nanodet?: NanodetOptions | null;
}

/**
 * Creates the decoder that a config names, with its default IoU threshold. The config has a name or
 * `{ name: options }`.
 * @throws `model-config` if the decoder does not fit the model's outputs
 */
export async function createDecoder(value: unknown, model: ModelFacts): Promise<DetectionDecoder> {
  const [[name, options] = []] =
    typeof value === 'string' ? [[value, {}] as const] : Object.entries(value as Record<string, object | null>);
  const format = FORMATS[name as FormatName] as Format<object>;
  const decoder = await format.create(options ?? {}, model);
  const text = model.outputs.find(({ name, dtype }) => dtype === 'string' && decoder.outputs.includes(name));
  if (text)
    throw new TabServeError(
      'model-config',
      `handler.decoder: ${name} reads numbers; the model gives strings in "${text.name}". Name another output in handler.outputName or in the decoder's outputs.`,
    );
  // Boxes that are final may be in whole pixels, and their classes are numbered.
  checkFloats(name === 'torchvision' ? decoder.outputs.slice(-1) : decoder.outputs, model.outputs);
  return { ...decoder, iouThreshold: format.iouThreshold };
}
