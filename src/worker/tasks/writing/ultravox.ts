/** Sound as Ultravox hears it: Whisper's spectrogram, as long as the recording. */
import { invalidInput } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isSize, readLogMel, wrong } from '../../handlers/log-mel-config.js';
import type { SoundReader } from './sound-reader.js';

/**
 * @param extractor the fields of `preprocessor_config.json`
 * @param processor those of `processor_config.json`
 * @param warn called with what they say and what has no effect here
 * @throws `model-config` for a field that this spectrogram cannot have
 */
export function ultravoxReader(
  extractor: Json,
  processor: Json,
  sampleRate: number,
  warn: (message: string) => void,
): SoundReader {
  const logMel = readLogMel(extractor, sampleRate, warn);
  const { mels, frameLength, windowLength } = logMel.options;
  const {
    encoder_ds_factor: samplesOf = 320,
    stack_factor: stack = 8,
    audio_placeholder: token = '<|audio|>',
  } = processor;
  if (!isSize(samplesOf)) throw wrong('encoder_ds_factor', samplesOf, "the samples of one of the encoder's positions");
  if (!isSize(stack)) throw wrong('stack_factor', stack, 'how many positions are one token');
  if (typeof token !== 'string' || token === '') throw wrong('audio_placeholder', token, 'a token');
  return {
    placeholder: token,
    isInTexts: true,
    sampleRate,
    inputs: ['audio_values', 'input_features'],
    read(samples) {
      if (samples.length > windowLength || samples.length < frameLength)
        throw invalidInput(
          `The recording has ${samples.length} samples, and this model hears ${frameLength} to ${windowLength}, which are ${windowLength / sampleRate} seconds. Pass a part of it.`,
        );
      const positions = Math.round(samples.length / samplesOf + 1e-4);
      // What fills up the last token is followed by one more.
      const count = 1 + Math.ceil(positions / stack);
      return {
        text: token.repeat(count),
        count,
        feeds() {
          const data = logMel.spectrogram(samples, samples.length);
          const values = { dtype: 'float32', dims: [1, mels, data.length / mels], data } as const;
          return { audio_values: values, input_features: values };
        },
      };
    },
  };
}
