import type { OutputInfo } from '../../../contract/tensors.js';
import { toBox, toPixels, type Unit } from './boxes.js';
import { isBatch, isTable, mismatchError, withBatchAxis, describeOutputs, type Format, type Size } from './decoder.js';
import { levelsOf, pointCount } from './grid.js';
import { bestClasses } from './proposals.js';

const EXPECTED = '[batch, 4 + classes, boxes] or [batch, boxes, 4 + classes]';

/** The strides of the feature maps that models have: three in a row in most, P2 to P7. */
const STRIDES = [4, 8, 16, 32, 64, 128];

/** Returns a warning if no feature maps of the input's size have that number of boxes. */
function countFault(count: unknown, size: Size | undefined, output: OutputInfo): string | undefined {
  if (typeof count !== 'number' || !size) return undefined;
  const possible = STRIDES.flatMap((_, from) =>
    STRIDES.map((__, to) => pointCount(levelsOf(STRIDES.slice(from, to + 1), size))),
  );
  if (possible.includes(count)) return undefined;
  return `handler.decoder: yolov8 reads a box for each point of the feature maps, of which an input of ${size.width} × ${size.height} has ${pointCount(levelsOf([8, 16, 32], size))} (strides 8, 16 and 32); the model gives ${describeOutputs([output])}, so ${count} boxes. If the model finds the boxes itself, as the end-to-end exports of YOLOv10 and YOLO26 do ([batch, 300, 6]), use decoder: rows.`;
}

/** The number of classes in COCO, which most published models have. */
const COCO_CLASSES = 80;

export interface Yolov8Options {
  /**
   * The unit of the boxes: pixels of the model's input (pixels), or fractions of its sides (fraction). Default pixels.
   * Ultralytics' exports for TensorFlow.js use fractions.
   */
  readonly unit?: Unit;
}

/**
 * The decoded output of YOLOv8 and YOLO11 exports: center, size, and a score for each class. Boxes usually are the last
 * axis.
 */
export const yolov8: Format<Yolov8Options> = {
  iouThreshold: 0.7,
  create({ unit = 'pixels' }, { output, labels, size, warn }) {
    /** Returns the index of the axis that holds the box and the class scores. */
    const columnAxis = ([first, second]: readonly unknown[]): 0 | 1 => {
      if (labels !== undefined && (first === labels + 4) !== (second === labels + 4))
        return first === labels + 4 ? 0 : 1;
      if (typeof first !== 'number') return typeof second === 'number' ? 1 : 0;
      return typeof second !== 'number' || first <= second ? 0 : 1;
    };
    const dims = output.dims.slice(-2);
    const columns = dims[columnAxis(dims)];
    /** A model that declares the number of its columns may find as few boxes as it likes, or none. */
    const declaresColumns = typeof columns === 'number';
    if (!isTable(output) || (declaresColumns && columns < 5)) throw mismatchError('yolov8', EXPECTED, [output]);
    if (labels === undefined && columnAxis(dims) === 1 && columns === 5 + COCO_CLASSES)
      warn(
        `handler.decoder: ${describeOutputs([output])} looks like YOLOv5's output, with boxes first and 5 + ${COCO_CLASSES} columns; yolov8 reads it as ${columns - 4} classes. Use yolov5 if the model is a YOLOv5.`,
      );
    else if (unit === 'pixels') {
      // Those of RT-DETR by Ultralytics are queries, and fractions.
      const fault = countFault(dims[1 - columnAxis(dims)], size, output);
      if (fault !== undefined) warn(fault);
    }
    return {
      outputs: [output.name],
      isBatched: isBatch(output),
      classes: declaresColumns ? columns - 4 : undefined,
      decode([view], size) {
        const { data, dims: given } = view!;
        const axis = columnAxis(declaresColumns ? dims : given);
        const [columns, count] = [given[axis]!, given[1 - axis]!];
        if (given.length !== 2 || columns < 5)
          throw mismatchError('yolov8', EXPECTED, withBatchAxis([output], [view!]));
        const [boxStride, columnStride] = axis === 0 ? [1, count] : [columns, 1];
        return {
          ...bestClasses(data, {
            count,
            classes: columns - 4,
            offset: 4 * columnStride,
            boxStride,
            classStride: columnStride,
          }),
          box(index) {
            const at = index * boxStride;
            return toPixels(
              toBox(
                'cxcywh',
                data[at]!,
                data[at + columnStride]!,
                data[at + 2 * columnStride]!,
                data[at + 3 * columnStride]!,
              ),
              unit,
              size,
            );
          },
        };
      },
    };
  },
};
