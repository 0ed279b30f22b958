import type { Context } from '../contract/handler.js';
import { asTabServeError } from '../contract/errors.js';

/** A row of a batch: the value itself, or TorchServe's `{ data }` or `{ body }` around it. */
export type Row<T> = T | { readonly data: T } | { readonly body: T };

/** The value of a row. A tensor and an ImageData have a `data` too, which is theirs: only a plain object with no other key is a row. */
export function unwrap<T>(row: Row<T>): T {
  if (typeof row !== 'object' || row === null) return row;
  const prototype: unknown = Object.getPrototypeOf(row);
  const [key, ...others] = Object.keys(row);
  const wraps =
    (prototype === Object.prototype || prototype === null) && others.length === 0 && (key === 'data' || key === 'body');
  return wraps ? (row as Record<string, T>)[key]! : (row as T);
}

/** The context of row `index` alone, as a batch of one: its params and id, and failures of its own. */
export function rowContext(context: Context, index: number): Context {
  const failures = new Map<number, Error>();
  return {
    ...context,
    systemProperties: { ...context.systemProperties, batchSize: 1 },
    requestIds: [context.requestIds[index]!],
    params: [context.params[index] ?? {}],
    failures,
    fail: (_, error) => void (failures.has(0) || failures.set(0, asTabServeError(error))),
  };
}
