/** 1 / (1 + exp(−x)) of one logit: a probability in 0..1. */
export function logistic(logit: number): number {
  return 1 / (1 + Math.exp(-logit));
}

/** `logistic` of each logit, computed in float64. @returns probabilities in 0..1, each for itself */
export function sigmoid(logits: ArrayLike<number>): Float64Array {
  return Float64Array.from(logits, logistic);
}
