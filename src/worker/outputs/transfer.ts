const marked = new WeakMap<object, readonly Transferable[]>();

/**
 * Marks buffers of a result to be transferred to the page instead of copied:
 * `return transferResult(result, [result.mask.buffer])`. Each row needs its own buffers. After the transfer, the buffer
 * is empty in the worker.
 */
export function transferResult<T extends object>(value: T, list: readonly Transferable[]): T {
  marked.set(value, list);
  return value;
}

/** Returns the objects that `transferResult` marked for `value`. */
export function transferablesOf(value: unknown): readonly Transferable[] {
  return (typeof value === 'object' && value !== null && marked.get(value)) || [];
}
