/** Sound as Granite Speech hears it: two frames of its spectrogram at a time. */
import { invalidInput } from '../../../contract/errors.js';
import { isRecord } from '../../../shared/schema.js';
import type { Json } from '../../../shared/hugging-face.js';
import { Fourier } from '../../audio/fourier.js';
import { GraniteMel } from '../../audio/granite-mel.js';
import { isSize, wrong } from '../../handlers/log-mel-config.js';
import type { SoundReader } from './sound-reader.js';

const AUDIO = '<|audio|>';
/** What a file may ask for. Granite Speech has 80 mels. */
const MAX_MELS = 1024;
/** The most frames of a window. */
const MAX_WINDOW = 4096;

/**
 * @param extractor the fields of `preprocessor_config.json`
 * @throws `model-config` for a field that this spectrogram cannot have
 */
export function graniteReader(extractor: Json, sampleRate: number): SoundReader {
  const mel = new GraniteMel(optionsOf(extractor, sampleRate));
  const { hop, mels } = mel.options;
  // The encoder makes so many tokens of a window of frames.
  const [window, tokens] = windowOf(extractor);
  return {
    placeholder: AUDIO,
    isInTexts: true,
    sampleRate,
    inputs: ['input_features'],
    read(samples) {
      if (samples.length < mel.leastSamples)
        throw invalidInput(
          `The recording has ${samples.length} samples, and this model hears ${mel.leastSamples} or more. Leave it out.`,
        );
      const frames = Math.floor((Math.floor(samples.length / hop) + 1) / 2);
      const count = Math.ceil(frames / window) * tokens;
      return {
        text: AUDIO.repeat(count),
        count,
        feeds() {
          // An odd frame is left out.
          const data = mel.spectrogram(samples).slice(0, 2 * frames * mels);
          return { input_features: { dtype: 'float32', dims: [1, frames, 2 * mels], data } };
        },
      };
    },
  };
}

function optionsOf(extractor: Json, sampleRate: number): GraniteMel['options'] {
  const { melspec_kwargs: own = extractor } = extractor;
  if (!isRecord(own)) throw wrong('melspec_kwargs', own, 'a mapping');
  const { n_fft: fftLength = 512, win_length: frameLength = 400, hop_length: hop = 160, n_mels: mels = 80 } = own;
  const { sample_rate: rate = sampleRate } = own;
  if (rate !== sampleRate) throw wrong('melspec_kwargs.sample_rate', rate, `${sampleRate}, as sampling_rate`);
  if (!isSize(mels) || mels > MAX_MELS) throw wrong('n_mels', mels, 'how many mels the encoder takes');
  if (!isSize(fftLength) || fftLength > sampleRate || !Fourier.takes(fftLength) || fftLength % 2 > 0)
    throw wrong(
      'n_fft',
      fftLength,
      `an even number up to sampling_rate, ${sampleRate}, whose prime factors are at most 64`,
    );
  if (!isSize(frameLength) || frameLength > fftLength || frameLength % 2 > 0)
    throw wrong('win_length', frameLength, `an even number of samples up to n_fft, ${fftLength}`);
  if (!isSize(hop)) throw wrong('hop_length', hop, 'a number of samples');
  return { sampleRate, mels, fftLength, frameLength, hop };
}

function windowOf(extractor: Json): readonly [frames: number, tokens: number] {
  const { projector_window_size: window = 15, projector_downsample_rate: rate = 5 } = extractor;
  if (!isSize(window) || window > MAX_WINDOW)
    throw wrong('projector_window_size', window, `a number of frames up to ${MAX_WINDOW}`);
  if (!isSize(rate) || rate > window)
    throw wrong('projector_downsample_rate', rate, `a whole number up to projector_window_size, ${window}`);
  return [window, Math.floor(window / rate)];
}
