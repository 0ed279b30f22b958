import { toBox } from './boxes.js';
import type { Format } from './decoder.js';
import { levelsOf, pointAt, pointCount, stridesSchema } from './grid.js';
import { objectnessRows } from './objectness.js';

export interface YoloxOptions {
  readonly strides?: readonly number[];
}

/**
 * YOLOX's raw rows, as its own export leaves them: center and size by the cell of a grid, objectness, and a score for each class.
 * Center = (xy + cell) · stride, size = exp(wh) · stride; the score is objectness times class score.
 * An export that has decoded them (`--decode_in_inference`) makes yolov5's rows.
 */
export const yolox: Format<YoloxOptions> = {
  description:
    'YOLOX as it exports itself, [batch, cells, 5 + classes]: center = (xy + cell) · stride, size = exp(wh) · stride, objectness and class scores.',
  options: { strides: stridesSchema },
  iouThreshold: 0.45,
  create({ strides = [8, 16, 32] }, model) {
    return objectnessRows('yolox', model, {
      expected: (size) =>
        `[batch, ${size ? `${pointCount(levelsOf(strides, size))} cells (strides ${strides.join(', ')})` : 'cells'}, 5 + classes]`,
      fits: ([cells, columns], size) =>
        (typeof columns !== 'number' || columns > 5) &&
        (typeof cells !== 'number' || !size || cells === pointCount(levelsOf(strides, size))),
      boxes(size) {
        const levels = levelsOf(strides, size);
        return ([cx, cy, w, h], cell) => {
          const { x, y, stride } = pointAt(levels, cell);
          return toBox('cxcywh', (cx + x) * stride, (cy + y) * stride, Math.exp(w) * stride, Math.exp(h) * stride);
        };
      },
    });
  },
};
