import { toBox, toPixels, type Unit } from './boxes.js';
import type { Format } from './decoder.js';
import { objectnessRows } from './objectness.js';

export interface YoloOptions {
  /**
   * The unit of the boxes: pixels of the model's input (pixels), or fractions of its sides (fraction). Default
   * pixels.
   */
  readonly unit?: Unit;
}

/**
 * The decoded rows of YOLOv5 and YOLOv7 exports: center, size, objectness, and a score for each class. The score of a
 * detection is the objectness times the class score.
 */
export const yolov5: Format<YoloOptions> = {
  iouThreshold: 0.45,
  create({ unit = 'pixels' }, model) {
    // Where only the number of columns is declared, a small image may have fewer boxes than columns.
    const [declaredBoxes, declaredColumns] = model.output.dims.slice(-2);
    const declaresColumns = typeof declaredColumns === 'number' && typeof declaredBoxes !== 'number';
    return objectnessRows('yolov5', model, {
      expected: () => '[batch, boxes, 5 + classes]',
      fits: ([boxes, columns]) =>
        typeof columns !== 'number' ||
        columns - 5 === model.labels ||
        (columns > 5 && (declaresColumns || typeof boxes !== 'number' || boxes >= columns)),
      boxes: (size) => (numbers) => toPixels(toBox('cxcywh', ...numbers), unit, size),
    });
  },
};
