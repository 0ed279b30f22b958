/** What handlers and those who call them agree on: which methods are whose, and one result for each row. */
import { TabServeError } from '../../contract/errors.js';

/** The methods that the worker has wrapped to time them, by their wrappers. */
const wrapped = new WeakMap<object, object>();

/** Replaces a method of one handler by one that wraps it. */
export function wrapMethod<T extends object, Name extends keyof T>(
  handler: T,
  name: Name,
  value: T[Name] & object,
): void {
  wrapped.set(value, handler[name] as object);
  Object.defineProperty(handler, name, { value, configurable: true, writable: true });
}

/** Returns a handler's method, without what wraps it. */
export function methodOf<T extends object>(handler: T, name: keyof T): unknown {
  const method = handler[name] as object;
  return wrapped.get(method) ?? method;
}

/** Returns whether a handler has a class's own method: neither a subclass nor a field overrides it. */
export function hasMethodOf<T extends object>(
  handler: T,
  { prototype }: { readonly prototype: T },
  name: keyof T,
): boolean {
  return methodOf(handler, name) === prototype[name];
}

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
