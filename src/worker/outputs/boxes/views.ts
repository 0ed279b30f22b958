import type { Tensors } from '../../../contract/tensors.js';
import { toFloats } from '../../tensors/tensors.js';
import { checkRows, numbersOf } from '../rows.js';
import type { TensorView } from './decoder.js';

/** Returns each row's part of some outputs. @throws `batch-contract` if they have not one for each row */
export function viewsOf(outputs: Tensors, names: readonly string[], rows: number): TensorView[][] {
  const tensors = names.map((name) => {
    const output = numbersOf(outputs, name);
    checkRows(name, output, rows);
    return { dims: output.dims.slice(1), data: toFloats(output) };
  });
  return Array.from({ length: rows }, (_, index) =>
    tensors.map(({ dims, data }) => ({
      dims,
      data: data.subarray((index * data.length) / rows, ((index + 1) * data.length) / rows),
    })),
  );
}
