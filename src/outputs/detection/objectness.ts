import type { OutputInfo } from '../../contract/tensors.js';
import { numbersAt, type BoxNumbers } from './boxes.js';
import { isBatch, isTable, misfit, ofBatch, type Decoder, type ModelFacts, type Size } from './decoder.js';
import type { Box } from './detection.js';
import { bestClasses } from './proposals.js';

type Dims = OutputInfo['dims'];

/** What one format of such rows has of its own. The size is the input tensor's, where it is known. */
interface Rows {
  /** The dims that it reads, in words. */
  expected(size?: Size): string;
  fits(dims: Dims, size?: Size): boolean;
  /** How the first four numbers of a row become a box. */
  boxes(size: Size): (numbers: BoxNumbers, row: number) => Box;
}

/** Rows of a box, objectness, and a score for each class, `[batch, boxes, 5 + classes]`. The score of a box is objectness times class score. */
export function objectnessRows(name: string, { output, size }: ModelFacts, { expected, fits, boxes }: Rows): Decoder {
  const dims = output.dims.slice(-2);
  if (!isTable(output) || !fits(dims, size)) throw misfit(name, expected(size), [output]);
  return {
    outputs: [output.name],
    isBatched: isBatch(output),
    classes: typeof dims[1] === 'number' ? dims[1] - 5 : undefined,
    decode([view], size) {
      const { data, dims } = view!;
      const [count, columns] = dims as readonly [number, number];
      if (dims.length !== 2 || !fits(dims, size)) throw misfit(name, expected(size), ofBatch([output], [view!]));
      const { scores, classes } = bestClasses(data, {
        count,
        classes: columns - 5,
        offset: 5,
        boxStride: columns,
        classStride: 1,
      });
      for (let row = 0; row < count; row++) scores[row]! *= data[row * columns + 4]!;
      const boxOf = boxes(size);
      return { scores, classes, box: (row) => boxOf(numbersAt(data, row * columns), row) };
    },
  };
}
