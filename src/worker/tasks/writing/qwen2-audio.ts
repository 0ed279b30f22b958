/** Sound as Qwen2-Audio hears it: one window of Whisper's spectrogram, of which the frames of the recording count. */
import { invalidInput } from '../../../contract/errors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { readLogMel } from '../../handlers/log-mel-config.js';
import { integers } from '../../tensors/tensors.js';
import type { SoundReader } from './sound-reader.js';

const AUDIO = '<|AUDIO|>';

/**
 * @param extractor the fields of `preprocessor_config.json`
 * @param warn called with what they say and what has no effect here
 * @throws `model-config` for a field that this spectrogram cannot have
 */
export function qwen2AudioReader(extractor: Json, sampleRate: number, warn: (message: string) => void): SoundReader {
  const logMel = readLogMel(extractor, sampleRate, warn);
  const { frames } = logMel;
  const { mels, hop, windowLength } = logMel.options;
  return {
    placeholder: AUDIO,
    isInTexts: false,
    sampleRate,
    inputs: ['input_features', 'feature_attention_mask'],
    read(samples) {
      const sounding = Math.ceil(samples.length / hop);
      // The encoder makes a position of two frames, and a token of two whole positions.
      const count = Math.floor(Math.ceil(sounding / 2) / 2);
      if (samples.length > windowLength || count === 0)
        throw invalidInput(
          `The recording has ${samples.length} samples, and this model hears ${2 * hop + 1} to ${windowLength}, which are ${windowLength / sampleRate} seconds. Pass a part of it.`,
        );
      return {
        text: AUDIO.repeat(count),
        count,
        feeds: () => ({
          input_features: { dtype: 'float32', dims: [1, mels, frames], data: logMel.spectrogram(samples) },
          feature_attention_mask: integers(
            'int64',
            [1, frames],
            Array.from({ length: frames }, (_, frame) => Number(frame < sounding)),
          ),
        }),
      };
    },
  };
}
