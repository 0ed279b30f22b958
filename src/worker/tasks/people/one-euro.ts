/**
 * Smooths numbers that come frame by frame: the 1€ filter (Casiez, Roussel & Vogel, CHI 2012). What moves slowly is
 * smoothed much, so that it does not jitter, and what moves fast hardly, so that it does not lag.
 */

/** What is known of the frames before: plain data. */
export interface OneEuroState {
  /** The smoothed values, and their smoothed speeds in objects a second. */
  readonly values: Float64Array;
  readonly speeds: Float64Array;
}

export interface OneEuroOptions {
  /** The cutoff frequency of what does not move, in Hz. */
  readonly minCutoff: number;
  /** How much the cutoff frequency rises with the speed. */
  readonly beta: number;
  /** The cutoff frequency of the speed, in Hz. */
  readonly speedCutoff: number;
}

/** Those of MediaPipe's landmarks. */
export const LANDMARK_SMOOTHING: OneEuroOptions = { minCutoff: 0.05, beta: 80, speedCutoff: 1 };

/**
 * Smooths the values of one more frame. Each is x̂ = α·x + (1 − α)·x̂₋₁ with α = 1 / (1 + 1 / (2π·f·Δt)), where the
 * cutoff frequency f is `minCutoff + beta · |v̂|`, and v̂ is the speed (x − x̂₋₁) / (size · Δt), smoothed likewise.
 * @param state undefined in the first frame, whose values stay as they are
 * @param seconds since the frame before, greater than 0
 * @param size of the object, in the unit of the values, so that a speed does not depend on how near it is; greater than 0
 */
export function oneEuro(
  state: OneEuroState | undefined,
  values: ArrayLike<number>,
  seconds: number,
  size: number,
  { minCutoff, beta, speedCutoff }: OneEuroOptions,
): OneEuroState {
  if (!state) return { values: Float64Array.from(values), speeds: new Float64Array(values.length) };
  const weight = (cutoff: number): number => 1 / (1 + 1 / (2 * Math.PI * cutoff * seconds));
  const speeds = state.speeds.map((before, at) => {
    const speed = (values[at]! - state.values[at]!) / (size * seconds);
    return before + weight(speedCutoff) * (speed - before);
  });
  const smoothed = state.values.map(
    (before, at) => before + weight(minCutoff + beta * Math.abs(speeds[at]!)) * (values[at]! - before),
  );
  return { values: smoothed, speeds };
}
