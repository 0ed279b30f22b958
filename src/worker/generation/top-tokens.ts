/** The tokens that a model holds most probable. */
import { logSumExp } from './sample.js';

/** A token and the natural logarithm of its probability by the model. */
export interface RankedToken {
  readonly token: number;
  readonly logprob: number;
}

/** Returns the most probable tokens, the best first; of equal ones, the one with the lower number. */
export function topTokens(logits: Float32Array, count: number): readonly RankedToken[] {
  const best: number[] = [];
  for (const [token, logit] of logits.entries()) {
    if (best.length === count && !(logit > logits[best.at(-1)!]!)) continue;
    const at = best.findIndex((one) => logits[one]! < logit);
    best.splice(at < 0 ? best.length : at, 0, token);
    if (best.length > count) best.pop();
  }
  const sum = logSumExp(logits);
  return best.map((token) => ({ token, logprob: logits[token]! - sum }));
}
