import { toBox } from './boxes.js';
import type { Format } from './decoder.js';
import { levelsOf, pointAt, pointCount, type Stride } from './grid.js';
import { objectnessRows } from './objectness.js';

export interface YoloxOptions {
  /**
   * The distance between two points of each feature map, in pixels of the input, in the order of the output.
   * Default [8, 16, 32].
   * @minItems 1
   * @maxItems 100
   */
  readonly strides?: readonly Stride[];
}

/**
 * The raw rows of YOLOX's own export: center and size relative to a cell of the grid, objectness, and a score for each
 * class. Center = (xy + cell) · stride, size = exp(wh) · stride; the score of a detection is the objectness times the
 * class score. An export with decoded rows (`--decode_in_inference`) has the format yolov5.
 */
export const yolox: Format<YoloxOptions> = {
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
