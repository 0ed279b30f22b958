/** A row of a batch: the value itself, or TorchServe's `{ data }` or `{ body }` around it. */
export type Row<T> = T | { readonly data: T } | { readonly body: T };

/** The value of a row. A tensor and an ImageData have a `data` too, which is theirs: only a plain object with no other key is a row. */
export function unwrap<T>(row: Row<T>): T {
  if (typeof row !== 'object' || row === null) return row;
  const prototype: unknown = Object.getPrototypeOf(row);
  const [key, ...others] = Object.keys(row);
  const wraps = (prototype === Object.prototype || prototype === null) && others.length === 0 && (key === 'data' || key === 'body');
  return wraps ? (row as Record<string, T>)[key]! : (row as T);
}
