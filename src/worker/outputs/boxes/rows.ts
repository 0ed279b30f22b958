import { TabServeError } from '../../../contract/errors.js';
import { toBox, toPixels, type BoxFormat, type Unit } from './boxes.js';
import { isBatch, isTable, mismatchError, withBatchAxis, type Format } from './decoder.js';
import { chosenClasses } from './proposals.js';

const COLUMNS = ['x1', 'y1', 'x2', 'y2', 'w', 'h', 'cx', 'cy', 'score', 'class', 'ignore'] as const;
type Column = (typeof COLUMNS)[number];

const BOXES: readonly (readonly [BoxFormat, readonly Column[]])[] = [
  ['xyxy', ['x1', 'y1', 'x2', 'y2']],
  ['xywh', ['x1', 'y1', 'w', 'h']],
  ['cxcywh', ['cx', 'cy', 'w', 'h']],
];

export interface RowsOptions {
  /**
   * The meaning of each column: a box as x1 y1 x2 y2, x1 y1 w h or cx cy w h; score; class (without it, the class
   * is 0); ignore, any number of times. Default [x1, y1, x2, y2, score, class].
   */
  readonly columns?: readonly Column[];
  /**
   * The unit of the boxes: pixels of the model's input (pixels), or fractions of its sides (fraction). Default
   * pixels.
   */
  readonly unit?: Unit;
}

/**
 * One output whose rows are final detections: YOLOv10, and other models whose graph includes the suppression.
 */
export const rows: Format<RowsOptions> = {
  iouThreshold: 1,
  create({ columns = ['x1', 'y1', 'x2', 'y2', 'score', 'class'], unit = 'pixels' }, { output }) {
    const format = BOXES.find(([, names]) => names.every((name) => columns.includes(name)));
    const once = columns.filter((column) => column !== 'ignore');
    const isBox =
      format &&
      columns.includes('score') &&
      once.length === new Set(once).size &&
      once.every((name) => [...format[1], 'score', 'class'].includes(name));
    if (!isBox)
      throw new TabServeError(
        'model-config',
        `handler.decoder.rows.columns must name score and one of ${BOXES.map(([, names]) => names.join(' ')).join(', ')}, each once, not ${columns.join(' ')}.`,
      );
    const expected = `[batch, boxes, ${columns.length}] (${columns.join(', ')})`;
    const width = output.dims.at(-1);
    if (!isTable(output) || (typeof width === 'number' && width !== columns.length))
      throw mismatchError('rows', expected, [output]);
    const [a, b, c, d] = format[1].map((name) => columns.indexOf(name)) as [number, number, number, number];
    const [scoreColumn, classColumn] = [columns.indexOf('score'), columns.indexOf('class')];
    return {
      outputs: [output.name],
      isBatched: isBatch(output),
      classes: undefined,
      decode([view], size) {
        const { data, dims } = view!;
        const [count, width] = dims as readonly [number, number];
        if (dims.length !== 2 || width !== columns.length)
          throw mismatchError('rows', expected, withBatchAxis([output], [view!]));
        const column = (index: number): Float32Array =>
          Float32Array.from({ length: count }, (_, row) => data[row * width + index]!);
        return {
          ...chosenClasses(column(scoreColumn), classColumn < 0 ? new Float32Array(count) : column(classColumn)),
          box(row) {
            const at = row * width;
            return toPixels(toBox(format[0], data[at + a]!, data[at + b]!, data[at + c]!, data[at + d]!), unit, size);
          },
        };
      },
    };
  },
};
