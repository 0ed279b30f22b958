import { toBox, toPixels, unitSchema } from './boxes.js';
import { isBatch, isTable, mismatchError, withBatchAxis, describeOutputs, type Format } from './decoder.js';
import { bestClasses } from './proposals.js';
import type { YoloOptions } from './yolov5.js';

const EXPECTED = '[batch, 4 + classes, boxes] or [batch, boxes, 4 + classes]';

/** The number of classes in COCO, which most published models have. */
const COCO_CLASSES = 80;

/**
 * The decoded output of YOLOv8 and YOLO11 exports: center, size, and a score for each class. Boxes usually are the last
 * axis.
 */
export const yolov8: Format<YoloOptions> = {
  description:
    'YOLOv8 and YOLO11, [batch, 4 + classes, boxes], or the same transposed: center, size and class scores, which the export has decoded. The axis of the classes is the one that fits the number of labels, or the shorter one.',
  options: {
    unit: {
      ...unitSchema,
      description: `${unitSchema.description} Ultralytics' exports for TensorFlow.js use fractions.`,
    },
  },
  iouThreshold: 0.7,
  create({ unit = 'pixels' }, { output, labels, warn }) {
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
