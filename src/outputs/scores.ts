import { TabServeError } from '../contract/errors.js';

/** What a model's output holds. */
export type ScoreKind = 'logits' | 'probabilities';

/** The tolerance for float16 rounding of probabilities. */
const ROUNDING = 1e-3;

/** Checks a model's scores. @throws `inference-failed` if a number is not finite, or if a probability is not in 0..1 */
export function checkScores(values: Float32Array, kind: ScoreKind): void {
  let low = values[0] ?? 0;
  let high = low;
  // If one of the numbers is NaN, so are both.
  for (let at = 0; at < values.length; at++) {
    low = Math.min(low, values[at]!);
    high = Math.max(high, values[at]!);
  }
  if (!Number.isFinite(high - low))
    throw new TabServeError(
      'inference-failed',
      'The model returned a number that is not finite. Check the input, or try another backend.',
    );
  if (kind === 'probabilities' && (low < -ROUNDING || high > 1 + ROUNDING)) {
    throw new TabServeError(
      'inference-failed',
      `output: "probabilities" must be in 0..1, but the model returned numbers from ${low} to ${high}. Use output: "logits" if they are logits.`,
    );
  }
}
