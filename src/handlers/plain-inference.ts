/** Implementations of `inference` that run the model on their inputs, and do nothing else. */
const plain = new WeakSet<object>();

/** Records that an implementation of `inference` does nothing but run the model. */
export function markPlain(inference: object): void {
  plain.add(inference);
}

/** Returns whether an implementation of `inference` does nothing but run the model. */
export function isPlain(inference: object): boolean {
  return plain.has(inference);
}
