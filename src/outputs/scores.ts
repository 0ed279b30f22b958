import { TabServeError } from '../contract/errors.js';

/** What a model's output holds. */
export type ScoreKind = 'logits' | 'probabilities';

/** The tolerance for float16 rounding of probabilities. */
const ROUNDING = 1e-3;

/** Checks a model's scores. @throws `inference-failed` if a number is not finite, or if a probability is not in 0..1 */
export function checkScores(values: Float32Array, kind: ScoreKind): void {
  let [low, high] = [Infinity, -Infinity];
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!;
    if (!Number.isFinite(value))
      throw new TabServeError(
        'inference-failed',
        'The model returned a number that is not finite. Check the input, or try another backend.',
      );
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (kind === 'probabilities' && (low < -ROUNDING || high > 1 + ROUNDING)) {
    throw new TabServeError(
      'inference-failed',
      `output: "probabilities" must be in 0..1, but the model returned numbers from ${low} to ${high}. Use output: "logits" if they are logits.`,
    );
  }
}
