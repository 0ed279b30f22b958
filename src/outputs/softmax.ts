/**
 * Computes the softmax over all of `logits`: exp(xᵢ − max x) / Σ exp(xⱼ − max x), in float64.
 * @returns probabilities in 0..1 that sum to 1
 */
export function softmax(logits: ArrayLike<number>): Float64Array {
  let max = -Infinity;
  for (let i = 0; i < logits.length; i++) max = Math.max(max, logits[i]!);
  const probabilities = new Float64Array(logits.length);
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += probabilities[i] = Math.exp(logits[i]! - max);
  for (let i = 0; i < logits.length; i++) probabilities[i]! /= sum;
  return probabilities;
}
