import type { OutputInfo } from '../../../contract/tensors.js';
import { numbersAt, type BoxNumbers } from './boxes.js';
import { isBatch, isTable, mismatchError, withBatchAxis, type Decoder, type ModelFacts, type Size } from './decoder.js';
import type { Box } from './detection.js';
import { bestClasses } from './proposals.js';

type Dims = OutputInfo['dims'];

/** The parts that differ between formats with objectness. `size` is the size of the input tensor, if it is known. */
interface RowFormat {
  /** Returns the expected dims as text, for a message. */
  expected(size?: Size): string;
  /** Returns whether the dims fit the format. */
  fits(dims: Dims, size?: Size): boolean;
  /** Returns a function that converts the first four numbers of a row to a box. */
  boxes(size: Size): (numbers: BoxNumbers, row: number) => Box;
}

/**
 * Creates a decoder of rows `[batch, boxes, 5 + classes]` with a box, objectness, and a score for each class. The score
 * of a detection is the objectness times the class score.
 */
export function objectnessRows(
  name: string,
  { output, size }: ModelFacts,
  { expected, fits, boxes }: RowFormat,
): Decoder {
  const dims = output.dims.slice(-2);
  if (!isTable(output) || !fits(dims, size)) throw mismatchError(name, expected(size), [output]);
  return {
    outputs: [output.name],
    isBatched: isBatch(output),
    classes: typeof dims[1] === 'number' ? dims[1] - 5 : undefined,
    decode([view], size) {
      const { data, dims } = view!;
      const [count, columns] = dims as readonly [number, number];
      if (dims.length !== 2 || !fits(dims, size))
        throw mismatchError(name, expected(size), withBatchAxis([output], [view!]));
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
