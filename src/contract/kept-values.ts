/**
 * What a handler leaves in its worker between requests, by keys of its own: an image's embedding, the vectors of labels.
 * A value may be gone at any time, so whoever asks for it must be able to make it again. All handlers of a worker share
 * one budget, `handler.maxStateBytes`: the least recently used values are freed first, and each one that no request has
 * used for five minutes.
 */
export interface KeptValues {
  /**
   * Returns the value of a key, and counts as its use; undefined if there is none any more. A value may be freed while
   * it is used: memory that is not the engine's lives on until then, and a `GpuTensor` needs `use`.
   */
  get(key: unknown): unknown;
  /**
   * Keeps a value, instead of the key's earlier one. One that alone exceeds the budget is freed at once.
   * @returns whether it is kept
   */
  set(key: unknown, value: unknown, cost: KeptCost): boolean;
  /** Returns whether there is a value. That is no use of it. */
  has(key: unknown): boolean;
  /** Frees the value of a key, if there is one. */
  delete(key: unknown): void;
}

/** What it takes to keep a value. */
export interface KeptCost {
  readonly bytes: number;
  /** Called once when the value is no longer kept: frees what the garbage collector does not. */
  readonly free?: () => void;
}
