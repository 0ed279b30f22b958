import { toBox } from './boxes.js';
import { isBatch, isTable, misfit, type Format, type Size } from './decoder.js';
import { levelsOf, pointAt, pointCount, stridesSchema } from './grid.js';
import { bestClasses } from './proposals.js';

export interface YoloxOptions {
  readonly strides?: readonly number[];
}

/**
 * YOLOX's raw rows, as its own export leaves them: centre and size by the cell of a grid, objectness, and a score for each class.
 * Centre = (xy + cell) · stride, size = exp(wh) · stride; the score is objectness times class score.
 * An export that has decoded them (`--decode_in_inference`) makes yolov5's rows.
 */
export const yolox: Format<YoloxOptions> = {
  description: 'YOLOX as it exports itself, [batch, cells, 5 + classes]: centre = (xy + cell) · stride, size = exp(wh) · stride, objectness and class scores.',
  options: { strides: stridesSchema },
  iouThreshold: 0.45,
  create({ strides = [8, 16, 32] }, { output, size }) {
    const expected = (size?: Size): string => `[batch, ${size ? `${pointCount(levelsOf(strides, size))} cells (strides ${strides.join(', ')})` : 'cells'}, 5 + classes]`;
    const fits = ([cells, columns]: readonly unknown[], size?: Size): boolean =>
      (typeof columns !== 'number' || columns > 5) && (typeof cells !== 'number' || !size || cells === pointCount(levelsOf(strides, size)));
    const dims = output.dims.slice(-2);
    if (!isTable(output) || !fits(dims, size)) throw misfit('yolox', expected(size), [output]);
    return {
      outputs: [output.name],
      isBatched: isBatch(output),
      classes: typeof dims[1] === 'number' ? dims[1] - 5 : undefined,
      decode([view], size) {
        const { data, dims } = view!;
        const [count, columns] = dims as readonly [number, number];
        if (dims.length !== 2 || !fits(dims, size)) throw misfit('yolox', expected(size), [{ name: output.name, dims: ['batch', ...dims] }]);
        const levels = levelsOf(strides, size);
        const { scores, classes } = bestClasses(data, { count, classes: columns - 5, offset: 5, boxStride: columns, classStride: 1 });
        for (let cell = 0; cell < count; cell++) scores[cell]! *= data[cell * columns + 4]!;
        return {
          scores,
          classes,
          box(index) {
            const at = index * columns;
            const { x, y, stride } = pointAt(levels, index);
            return toBox('cxcywh', (data[at]! + x) * stride, (data[at + 1]! + y) * stride, Math.exp(data[at + 2]!) * stride, Math.exp(data[at + 3]!) * stride);
          },
        };
      },
    };
  },
};
