import { PredictionError, TabServeError } from '../contract/errors.js';
import type { Context } from '../contract/handler.js';
import type { Tensor } from '../contract/tensors.js';
import { row } from '../tensors/tensors.js';
import { checkLength } from './check-length.js';

/**
 * Returns what an output holds for one row of a batch.
 * @throws `batch-contract` if its first axis has not one item for each row
 */
export function rowPart(name: string, output: Tensor, index: number, rows: number): Tensor {
  if (output.dims[0] === rows) return row(output, index);
  if (rows === 1) return output;
  throw otherRows(name, output, rows);
}

/** Returns the error for an output whose first axis has not one item for each row. */
export function otherRows(name: string, { dims }: Tensor, rows: number): TabServeError {
  return new TabServeError(
    'batch-contract',
    `Output "${name}" has the dims [${dims.join(', ')}]; the first axis must have the size ${rows}, one item per row.`,
  );
}

/**
 * Returns a handler's results, with an error in place of each row that has failed.
 * @throws `batch-contract` if there is not one result for each row
 */
export function withFailures<Result>(
  results: readonly Result[],
  rows: number,
  { failures }: Context,
): readonly (Result | PredictionError)[] {
  if (failures.size < rows) checkLength(results, rows);
  return Array.from({ length: rows }, (_, index) => {
    const failure = failures.get(index);
    return failure ? PredictionError.from(failure) : results[index]!;
  });
}
