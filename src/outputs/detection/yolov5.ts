import { toBox, toPixels, unitSchema, type Unit } from './boxes.js';
import { isBatch, isTable, misfit, type Format } from './decoder.js';
import { bestClasses } from './proposals.js';

export interface YoloOptions {
  readonly unit?: Unit;
}

const EXPECTED = '[batch, boxes, 5 + classes]';

/** YOLOv5's rows, which the export has decoded: centre, size, objectness, and a score for each class; YOLOv7's are the same. The score is the product of both. */
export const yolov5: Format<YoloOptions> = {
  description: 'YOLOv5 and YOLOv7, [batch, boxes, 5 + classes]: centre, size, objectness and class scores, decoded by the export. The score is objectness times class score.',
  options: { unit: { ...unitSchema, description: `${unitSchema.description} pixels by default.` } },
  iouThreshold: 0.45,
  create({ unit = 'pixels' }, { output, labels }) {
    const fits = ([boxes, columns]: readonly unknown[]): boolean =>
      typeof columns !== 'number' || columns - 5 === labels || (columns > 5 && (typeof boxes !== 'number' || boxes >= columns));
    const dims = output.dims.slice(-2);
    if (!isTable(output) || !fits(dims)) throw misfit('yolov5', EXPECTED, [output]);
    return {
      outputs: [output.name],
      isBatched: isBatch(output),
      classes: typeof dims[1] === 'number' ? dims[1] - 5 : undefined,
      decode([view], size) {
        const { data, dims } = view!;
        const [count, columns] = dims as readonly [number, number];
        if (dims.length !== 2 || !fits(dims)) throw misfit('yolov5', EXPECTED, [{ name: output.name, dims: ['batch', ...dims] }]);
        const { scores, classes } = bestClasses(data, { count, classes: columns - 5, offset: 5, boxStride: columns, classStride: 1 });
        for (let box = 0; box < count; box++) scores[box]! *= data[box * columns + 4]!;
        return {
          scores,
          classes,
          box(index) {
            const at = index * columns;
            return toPixels(toBox('cxcywh', data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!), unit, size);
          },
        };
      },
    };
  },
};
