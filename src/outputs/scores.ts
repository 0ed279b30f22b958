import { TabServeError } from '../contract/errors.js';

/** What a model's numbers are before they are probabilities. */
export type ScoreKind = 'logits' | 'probabilities';

/** Probabilities may be off by what float16 rounds. */
const ROUNDING = 1e-3;

/** @throws `inference-failed` if a number is not finite, or is no probability where it should be one */
export function checkScores(values: Float32Array, kind: ScoreKind): void {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (!Number.isFinite(value))
      throw new TabServeError('inference-failed', 'The model answered with numbers that are not finite.');
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (kind === 'probabilities' && (low < -ROUNDING || high > 1 + ROUNDING)) {
    throw new TabServeError(
      'inference-failed',
      `output says "probabilities", but the model answered with numbers from ${low} to ${high}; are they logits?`,
    );
  }
}
