import { toBox, toPixels, unitSchema, type Unit } from './boxes.js';
import type { Format } from './decoder.js';
import { objectnessRows } from './objectness.js';

export interface YoloOptions {
  readonly unit?: Unit;
}

/** YOLOv5's rows, which the export has decoded: center, size, objectness, and a score for each class; YOLOv7's are the same. The score is the product of both. */
export const yolov5: Format<YoloOptions> = {
  description:
    'YOLOv5 and YOLOv7, [batch, boxes, 5 + classes]: center, size, objectness and class scores, decoded by the export. The score is objectness times class score.',
  options: { unit: unitSchema },
  iouThreshold: 0.45,
  create({ unit = 'pixels' }, model) {
    return objectnessRows('yolov5', model, {
      expected: () => '[batch, boxes, 5 + classes]',
      fits: ([boxes, columns]) =>
        typeof columns !== 'number' ||
        columns - 5 === model.labels ||
        (columns > 5 && (typeof boxes !== 'number' || boxes >= columns)),
      boxes: (size) => (numbers) => toPixels(toBox('cxcywh', ...numbers), unit, size),
    });
  },
};
