/** The spectrogram of Whisper's models, as `preprocessor_config.json` describes it. */
import type { TabServeError } from '../../contract/errors.js';
import { underivable, type Json } from '../../shared/hugging-face.js';
import { Fourier } from '../audio/fourier.js';
import { LogMel } from '../audio/log-mel.js';
import { PREPROCESSOR } from './speech-files.js';

/** Limits on what a file may ask for. Whisper has 80 or 128 mels, frames of 400 samples, and windows of 30 seconds. */
const MAX_MELS = 1024;
const MAX_FRAME = 65_536;
const MAX_WINDOW = 600;

/**
 * @param extractor the parsed `preprocessor_config.json`
 * @param warn called with what the file says and what has no effect here
 * @throws `model-config` if the file says what cannot be done here
 */
export function readLogMel(extractor: Json, sampleRate: number, warn: (message: string) => void): LogMel {
  const {
    feature_size: mels = 80,
    hop_length: hop = 160,
    chunk_length: window = 30,
    n_fft: frameLength = 400,
    padding_value: padding = 0,
    dither = 0,
  } = extractor;
  if (!isSize(mels) || mels > MAX_MELS) throw wrong('feature_size', mels, 'how many mels the encoder takes');
  if (!isSize(frameLength) || frameLength > MAX_FRAME || !Fourier.takes(frameLength) || frameLength % 2 > 0)
    throw wrong('n_fft', frameLength, `an even number up to ${MAX_FRAME} whose prime factors are at most 64`);
  if (!isSize(window) || window > MAX_WINDOW) throw wrong('chunk_length', window, `whole seconds up to ${MAX_WINDOW}`);
  if (!isSize(hop) || (window * sampleRate) % hop > 0)
    throw wrong('hop_length', hop, 'a number of samples that divides those of chunk_length');
  if (typeof padding !== 'number') throw wrong('padding_value', padding, 'a sample');
  if (dither !== 0) warn(`${PREPROCESSOR}: dither adds noise to the sound in transformers, and has no effect here.`);
  return new LogMel({ sampleRate, mels, frameLength, hop, windowLength: window * sampleRate, padding });
}

/** Returns the error for a key of `preprocessor_config.json`. */
export function wrong(key: string, value: unknown, expected: string): TabServeError {
  return underivable(PREPROCESSOR, key, value, expected, 'Take the file of the model that was exported.');
}

export function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
