/** Sound as Voxtral hears it: windows of Whisper's spectrogram. Prompts are those of mistral_common. */
import type { Json } from '../../../shared/hugging-face.js';
import { readLogMel } from '../../handlers/log-mel-config.js';
import type { SoundReader } from './sound-reader.js';

const [BEGIN, AUDIO] = ['[BEGIN_AUDIO]', '[AUDIO]'] as const;
/** The encoder makes a position of two frames, and a token of four positions. */
const FRAMES_PER_TOKEN = 8;

/**
 * @param extractor the fields of `preprocessor_config.json`
 * @param warn called with what they say and what has no effect here
 * @throws `model-config` for a field that this spectrogram cannot have
 */
export function voxtralReader(extractor: Json, sampleRate: number, warn: (message: string) => void): SoundReader {
  const logMel = readLogMel(extractor, sampleRate, warn);
  const { frames } = logMel;
  const { mels, windowLength } = logMel.options;
  return {
    placeholder: AUDIO,
    isInTexts: false,
    sampleRate,
    inputs: ['audio_values', 'input_features'],
    read(samples) {
      const windows = Math.ceil(samples.length / windowLength);
      const count = (windows * frames) / FRAMES_PER_TOKEN;
      return {
        text: BEGIN + AUDIO.repeat(count),
        count,
        feeds(heartbeat) {
          const data = new Float32Array(windows * mels * frames);
          for (let at = 0; at < windows; at++) {
            const window = samples.subarray(at * windowLength, (at + 1) * windowLength);
            data.set(logMel.spectrogram(window), at * mels * frames);
            heartbeat();
          }
          const values = { dtype: 'float32', dims: [windows, mels, frames], data } as const;
          return { audio_values: values, input_features: values };
        },
      };
    },
  };
}
