/** Returns the logistic function of one logit, 1 / (1 + exp(−x)): a probability in 0..1. */
export function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** Applies `logistic` to each logit, in float64. @returns independent probabilities in 0..1 */
export function sigmoid(logits: ArrayLike<number>): Float64Array {
  return Float64Array.from(logits, logistic);
}
