/** What handlers and those who call them agree on: what methods may be expected to do, and one result for each row. */
import { TabServeError } from '../../contract/errors.js';

const standard = new WeakSet<object>();

/**
 * Declares that methods of a class do what the library may count on:
 * - `preprocess` makes the model's inputs as the class's `example` does;
 * - `inference` does nothing but run the model, and reads no number of its inputs;
 * - `checkRow` reads no number of the tensor;
 * - `postprocess` and `rowResults` obey the param `result`.
 *
 * An override is another method, of which nothing is known unless its class declares it, too.
 */
export function declareStandard(...methods: readonly object[]): void {
  for (const method of methods) standard.add(method);
}

/** Returns whether a method, or the one that it wraps, was declared to do what the library may count on. */
export function isStandard(method: object | undefined): boolean {
  return method !== undefined && standard.has(method);
}

/** Replaces a method of one handler by one that wraps it. */
export function wrapMethod<T extends object, Name extends keyof T>(
  handler: T,
  name: Name,
  value: T[Name] & object,
): void {
  if (isStandard(handler[name] as object)) declareStandard(value);
  Object.defineProperty(handler, name, { value, configurable: true, writable: true });
}

/**
 * Returns a handler's results. An index of their list that was not set is undefined.
 * @throws `batch-contract` if there is not one result for each row
 */
export function checkLength<Result>(results: readonly Result[], rows: number): readonly Result[] {
  if (Array.isArray(results) && results.length === rows) return [...results];
  throw new TabServeError(
    'batch-contract',
    `The handler got ${rows} rows and returned ${Array.isArray(results) ? `${results.length} results` : 'no list'}; it must return one result per row.`,
  );
}
