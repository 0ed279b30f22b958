const marked = new WeakMap<object, readonly Transferable[]>();

/**
 * Marks the buffers of a result that are moved to the page instead of copied: `return transferResult(result, [result.mask.buffer])`.
 * Each row needs buffers of its own. A moved buffer is empty in the worker afterwards.
 */
export function transferResult<T extends object>(value: T, list: readonly Transferable[]): T {
  marked.set(value, list);
  return value;
}

/** Returns what `transferResult` has marked on `value`. */
export function transferablesOf(value: unknown): readonly Transferable[] {
  return (typeof value === 'object' && value !== null && marked.get(value)) || [];
}
