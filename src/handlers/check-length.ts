import { TabServeError } from '../contract/errors.js';

/**
 * Returns a handler's results. A place of their list that was not set is undefined.
 * @throws `batch-contract` if there is not one result for each row
 */
export function checkLength<Result>(results: readonly Result[], rows: number): readonly Result[] {
  if (Array.isArray(results) && results.length === rows) return [...results];
  throw new TabServeError(
    'batch-contract',
    `The handler got ${rows} rows and returned ${Array.isArray(results) ? `${results.length} results` : 'no list'}; it must return one result per row.`,
  );
}
