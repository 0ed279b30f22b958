import type { Context } from '../../../contract/handler.js';
import type { Session } from '../../../contract/tensors.js';
import { readJson } from '../../handlers/speech-files.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { integers } from '../../tensors/tensors.js';
import { IDS_INPUT, MASK_INPUT } from '../../text/text-inputs.js';
import { readVitsCharacters } from './characters.js';
import { MANY_TOKENS, OF_SUPERTONIC, rateOf, refuseFixed, soundOf, type Voice } from './voice.js';

const WAVEFORM = 'waveform';

/** Opens VITS and MMS-TTS, which read characters: `input_ids` and `attention_mask` → `waveform`. */
export async function openVits(model: Session, { files }: Context, sampleRate: unknown): Promise<Voice> {
  const { reads, encode } = await readVitsCharacters(files);
  const config = files.has(HF_CONFIG) ? await readJson(files, HF_CONFIG, 'text_to_speech') : {};
  const inputs = model.inputs.filter(({ name }) => name === IDS_INPUT || name === MASK_INPUT);
  const feedsOf = (ids: readonly number[]) =>
    Object.fromEntries(
      inputs.map(({ name, dtype }) => [
        name,
        integers(dtype, [1, ids.length], name === MASK_INPUT ? ids.map(() => 1) : ids),
      ]),
    );
  return {
    sampleRate: rateOf(sampleRate ?? config['sampling_rate'], 16_000),
    reads,
    maxTokens: MANY_TOKENS,
    encode,
    check: (settings) =>
      refuseFixed(settings, ...OF_SUPERTONIC, 'voice', 'speed', 'speaker', 'noiseScale', 'durationNoise'),
    async speak(tokens, _, { signal }) {
      const outputs = await model.run(feedsOf(tokens.map(({ id }) => id)), { signal });
      return { samples: soundOf(WAVEFORM, outputs[WAVEFORM]) };
    },
    example: () => feedsOf([0, 1, 0]),
  };
}
