const marked = new WeakMap<object, readonly Transferable[]>();

/**
 * Marks what of a result is to be moved to the page instead of copied: `return transfer(result, [result.mask.buffer])`.
 * Each row needs buffers of its own; a moved buffer is gone here.
 */
export function transfer<T extends object>(value: T, list: readonly Transferable[]): T {
  marked.set(value, list);
  return value;
}

/** What `transfer` has marked on `value`. */
export function transferablesOf(value: unknown): readonly Transferable[] {
  return (typeof value === 'object' && value !== null && marked.get(value)) || [];
}
