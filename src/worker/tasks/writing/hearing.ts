/** The sense of sound. */
import type { AudioInput } from '../../../contract/audio.js';
import { invalidInput } from '../../../contract/errors.js';
import { hashOf } from '../../../shared/hash.js';
import { openAudio, readAudio } from '../../audio/read-audio.js';
import type { Sense } from './sense.js';
import type { SoundReader } from './sound-reader.js';

export const AUDIO_ENCODER = 'audio_encoder';

/** What a recording may be. */
export interface HearingLimits {
  /** Tokens of prompt and answer. */
  readonly contextLength: number;
  /** Seconds. */
  readonly maxDuration: number;
}

export function hearingOf(reader: SoundReader, limits: () => HearingLimits): Sense {
  const { placeholder, isInTexts, inputs, sampleRate } = reader;
  return {
    medium: 'audio',
    one: 'a recording',
    many: 'recordings',
    node: AUDIO_ENCODER,
    inputs,
    placeholder,
    isInTexts,
    async read(audio, _index, context) {
      const { contextLength, maxDuration } = limits();
      const samples = await readAudio(await openAudio(audio as AudioInput), sampleRate, maxDuration, context);
      if (samples.length === 0) throw invalidInput('The recording is empty: it has no samples. Leave it out.');
      const { text, count, feeds } = reader.read(samples);
      if (count >= contextLength)
        throw invalidInput(
          `The recording has ${count} tokens, and the model's context has ${contextLength}, for prompt and answer together. Pass a part of it.`,
        );
      const key = await hashOf([new Blob([samples as Float32Array<ArrayBuffer>])]);
      return { key, text, count, feeds: () => feeds(() => context.heartbeat()) };
    },
    /** Of a second of silence. */
    example: () => reader.read(new Float32Array(sampleRate)).feeds(() => {}),
  };
}
