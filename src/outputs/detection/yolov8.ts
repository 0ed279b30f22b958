import { toBox, toPixels, unitSchema } from './boxes.js';
import { isBatch, isTable, misfit, ofBatch, shown, type Format } from './decoder.js';
import { bestClasses } from './proposals.js';
import type { YoloOptions } from './yolov5.js';

const EXPECTED = '[batch, 4 + classes, boxes] or [batch, boxes, 4 + classes]';

/** COCO's: most published models tell those apart. */
const COCO_CLASSES = 80;

/** YOLOv8's output, which the export has decoded: center, size, and a score for each class, usually with the boxes along the last axis; YOLO11's is the same. */
export const yolov8: Format<YoloOptions> = {
  description:
    'YOLOv8 and YOLO11, [batch, 4 + classes, boxes], or the same transposed: center, size and class scores, decoded by the export. The axis of the classes is the one that fits the labels, else the shorter one.',
  options: {
    unit: {
      ...unitSchema,
      description: `${unitSchema.description} Ultralytics' exports for TensorFlow.js have fractions.`,
    },
  },
  iouThreshold: 0.7,
  create({ unit = 'pixels' }, { output, labels, warn }) {
    /** Index of the axis of the columns. */
    const columnAxis = ([first, second]: readonly unknown[]): 0 | 1 => {
      if (labels !== undefined && (first === labels + 4) !== (second === labels + 4))
        return first === labels + 4 ? 0 : 1;
      if (typeof first !== 'number') return typeof second === 'number' ? 1 : 0;
      return typeof second !== 'number' || first <= second ? 0 : 1;
    };
    const dims = output.dims.slice(-2);
    const columns = dims[columnAxis(dims)];
    if (!isTable(output) || (typeof columns === 'number' && columns < 5)) throw misfit('yolov8', EXPECTED, [output]);
    if (labels === undefined && columnAxis(dims) === 1 && columns === 5 + COCO_CLASSES)
      warn(
        `handler.decoder: ${shown([output])} looks like YOLOv5's, boxes first and 5 + ${COCO_CLASSES} columns; yolov8 reads ${columns - 4} classes of it.`,
      );
    return {
      outputs: [output.name],
      isBatched: isBatch(output),
      classes: typeof columns === 'number' ? columns - 4 : undefined,
      decode([view], size) {
        const { data, dims } = view!;
        const axis = columnAxis(dims);
        const [columns, count] = [dims[axis]!, dims[1 - axis]!];
        if (dims.length !== 2 || columns < 5) throw misfit('yolov8', EXPECTED, ofBatch([output], [view!]));
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
