import { TabServeError } from '../../contract/errors.js';
import type { Tensor } from '../../contract/tensors.js';

/** @throws `invalid-input` if tensors differ in dtype or dims */
export function checkEqual(rows: readonly Tensor[]): void {
  const [first] = rows;
  for (const [i, row] of rows.entries()) {
    if (row.dtype !== first!.dtype || row.dims.join() !== first!.dims.join()) {
      throw new TabServeError(
        'invalid-input',
        `Row ${i} is ${row.dtype} [${row.dims.join(', ')}], row 0 is ${first!.dtype} [${first!.dims.join(', ')}]; a batch needs equal rows.`,
      );
    }
  }
}
