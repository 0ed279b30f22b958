/**
 * What a handler caches in its worker between requests, by keys of its own: an image's embedding, the vectors of
 * labels. A value may be evicted at any time, so the handler must be able to make it again. All handlers of a worker
 * share one budget, `handler.maxStateBytes`: the least recently used values are freed first, and each one that no
 * request has used for five minutes.
 */
export interface KeptValues {
  /**
   * Returns the value of a key, and counts as its use; undefined if there is none any more. A value may be freed while
   * it is used: memory that is not the engine's lives on until then, and a `GpuTensor` needs `use`.
   */
  get(key: unknown): unknown;
  /**
   * Caches a value, and replaces the key's earlier one. A value that alone exceeds the budget is freed at once.
   * @returns whether it is cached
   */
  set(key: unknown, value: unknown, cost: KeptCost): boolean;
  /** Returns whether there is a value. This does not count as its use. */
  has(key: unknown): boolean;
  /** Frees the value of a key, if there is one. */
  delete(key: unknown): void;
}

/** What caching a value costs. */
export interface KeptCost {
  readonly bytes: number;
  /** Called once when the value is evicted, to free what the garbage collector does not. */
  readonly free?: () => void;
}
