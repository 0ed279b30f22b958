/**
 * Sound as Gemma 4 hears it: four frames of its spectrogram are a token. Frames and texts are those of transformers' Gemma4Processor
 * that no padding is in.
 */
import { invalidInput } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { Fourier } from '../../audio/fourier.js';
import { Gemma4Mel } from '../../audio/gemma4-mel.js';
import { isSize, wrong } from '../../handlers/log-mel-config.js';
import { PREPROCESSOR } from '../../handlers/speech-files.js';
import type { SoundReader } from './sound-reader.js';

const [BEGIN, AUDIO, END] = ['<|audio>', '<|audio|>', '<audio|>'] as const;
/** What transformers' extractor reads of a recording. */
const MOST_SAMPLES = 480_000;
/** What a file may ask for. Gemma 4 has 128 mels. */
const MAX_MELS = 1024;
/** Fields of what transformers can do, and nothing here does, with their values in Gemma 4's file, which leave it out. */
const LEFT_OUT = { preemphasis: 0, input_scale_factor: 1, per_bin_mean: null, per_bin_stddev: null } as const;

/**
 * @param extractor the fields of the feature extractor
 * @param warn called with what they say and what has no effect here
 * @throws `model-config` for a field that this spectrogram cannot have
 */
export function gemma4SoundReader(extractor: Json, sampleRate: number, warn: (message: string) => void): SoundReader {
  const mel = new Gemma4Mel(optionsOf(extractor, sampleRate, warn));
  const { mels } = mel.options;
  return {
    placeholder: AUDIO,
    isInTexts: false,
    sampleRate,
    inputs: ['input_features', 'input_features_mask'],
    read(samples) {
      const { length } = samples;
      if (length < mel.leastSamples || length > MOST_SAMPLES)
        throw invalidInput(
          `The recording has ${length} samples, and this model hears ${mel.leastSamples} to ${MOST_SAMPLES}, which are ${MOST_SAMPLES / sampleRate} seconds. Pass a part of it.`,
        );
      const frames = mel.framesOf(length);
      // Two convolutions, of which each halves the frames.
      const count = Math.ceil(Math.ceil(frames / 2) / 2);
      return {
        text: BEGIN + AUDIO.repeat(count) + END,
        count,
        feeds: () => ({
          input_features: { dtype: 'float32', dims: [1, frames, mels], data: mel.spectrogram(samples) },
          input_features_mask: { dtype: 'bool', dims: [1, frames], data: new Uint8Array(frames).fill(1) },
        }),
      };
    },
  };
}

function optionsOf(extractor: Json, sampleRate: number, warn: (message: string) => void): Gemma4Mel['options'] {
  for (const [key, expected] of Object.entries(LEFT_OUT))
    if ((extractor[key] ?? expected) !== expected) throw wrong(key, extractor[key], `${expected}, as of Gemma 4`);
  const {
    feature_size: mels = 128,
    frame_length: frameLength = Math.round(sampleRate / 50),
    hop_length: hop = Math.round(sampleRate / 100),
    fft_length: fftLength = 2 ** Math.ceil(Math.log2(sampleRate / 50)),
    min_frequency: lowest = 0,
    max_frequency: highest = 8000,
    mel_floor: floor = 0.001,
    dither = 0,
  } = extractor;
  if (!isSize(mels) || mels > MAX_MELS) throw wrong('feature_size', mels, 'how many mels the encoder takes');
  if (!isSize(fftLength) || fftLength > sampleRate || !Fourier.takes(fftLength) || fftLength % 2 > 0)
    throw wrong(
      'fft_length',
      fftLength,
      `an even number up to sampling_rate, ${sampleRate}, whose prime factors are at most 64`,
    );
  if (!isSize(frameLength) || frameLength > fftLength || frameLength % 2 > 0)
    throw wrong('frame_length', frameLength, `an even number of samples up to fft_length, ${fftLength}`);
  if (!isSize(hop)) throw wrong('hop_length', hop, 'a number of samples');
  if (typeof lowest !== 'number' || !(lowest >= 0)) throw wrong('min_frequency', lowest, 'hertz');
  if (typeof highest !== 'number' || !(highest > lowest))
    throw wrong('max_frequency', highest, 'hertz above min_frequency');
  if (typeof floor !== 'number' || !(floor > 0)) throw wrong('mel_floor', floor, 'a number above 0');
  if (dither !== 0) warn(`${PREPROCESSOR}: dither adds noise to the sound in transformers, and has no effect here.`);
  return { sampleRate, mels, fftLength, frameLength, hop, lowest, highest, floor };
}
