import { SAMPLE_RATES } from '../../contract/audio.js';
import { describeValue } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';

/**
 * @param whose the words before `sample rate` in the message
 * @throws `invalid-input` unless it is a whole number in `SAMPLE_RATES`
 */
export function checkSampleRate(rate: unknown, whose: string): asserts rate is number {
  if (Number.isInteger(rate) && (rate as number) >= SAMPLE_RATES.least && (rate as number) <= SAMPLE_RATES.most) return;
  throw new TabServeError(
    'invalid-input',
    `${whose} sample rate must be a whole number of samples per second, ${SAMPLE_RATES.least} to ${SAMPLE_RATES.most}, not ${describeValue(rate)}.`,
  );
}

/** @param from the position of the first sample in its recording @throws `invalid-input` if a sample is not finite */
export function checkFinite(samples: Float32Array, from = 0): void {
  for (let index = 0; index < samples.length; index++)
    if (!Number.isFinite(samples[index]))
      throw new TabServeError(
        'invalid-input',
        `The audio has ${samples[index]} at sample ${from + index}; every sample must be a finite number, full scale −1 to 1.`,
      );
}

/** @throws `invalid-input` if the lengths of channels differ */
export function checkLengths([first, ...others]: readonly Float32Array[]): void {
  const different = others.find(({ length }) => length !== first!.length);
  if (!different) return;
  throw new TabServeError(
    'invalid-input',
    `The channels must have the same length; they have ${first!.length} and ${different.length} samples.`,
  );
}

/** Returns the mean of channels, which have one length. */
export function meanOfChannels(channels: readonly Float32Array[]): Float32Array {
  const [first, ...others] = channels as readonly [Float32Array, ...Float32Array[]];
  if (others.length === 0) return first;
  return first.map((value, index) => others.reduce((sum, channel) => sum + channel[index]!, value) / channels.length);
}

/**
 * Returns samples of mean 0 and variance 1, as `zero_mean_unit_var_norm` of transformers' Wav2Vec2FeatureExtractor:
 * (x − mean) / √(variance + 1e−7).
 */
export function zeroMeanUnitVariance(samples: Float32Array): Float32Array {
  let sum = 0;
  for (const value of samples) sum += value;
  const mean = sum / samples.length;
  let squares = 0;
  for (const value of samples) squares += (value - mean) ** 2;
  const deviation = Math.sqrt(squares / samples.length + 1e-7);
  return samples.map((value) => (value - mean) / deviation);
}
