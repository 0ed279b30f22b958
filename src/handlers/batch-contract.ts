import { PredictionError } from '../contract/errors.js';
import type { Context } from '../contract/handler.js';
import { checkLength } from './check-length.js';

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
