import type { Context } from '../../../contract/handler.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensors } from '../../../contract/tensors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { readJson } from '../../handlers/speech-files.js';
import { integers } from '../../tensors/tensors.js';
import {
  MANY_TOKENS,
  numbersIn,
  OF_SUPERTONIC,
  PLAIN,
  rateOf,
  refuse,
  refuseFixed,
  soundOf,
  type Voice,
  type VoiceSettings,
  type VoiceToken,
} from './voice.js';

/** What a file beside Piper's model is called: the model's name, and this. */
export const PIPER_CONFIG = '.json';

const [BEGIN, END, PAD] = ['^', '$', '_'];

/**
 * Opens Piper: `input`, `input_lengths`, `scales` and of several speakers `sid` → `output`. `NAME.onnx.json` has the ids
 * of phonemes. Its texts are phonemes of espeak-ng, unless `phoneme_type` is `text`.
 */
export async function openPiper(model: Session, { files, manifest }: Context, sampleRate: unknown): Promise<Voice> {
  const path = `${manifest.model.serializedFile ?? 'model.onnx'}${PIPER_CONFIG}`;
  const config = await readJson(files, path, 'text_to_speech');
  const ids = idsOf(config, path);
  const isText = config['phoneme_type'] === 'text';
  const usual = isRecord(config['inference']) ? config['inference'] : {};
  const speakers = isRecord(config['speaker_id_map'])
    ? (config['speaker_id_map'] as Readonly<Record<string, number>>)
    : {};
  const hasSpeakers = model.inputs.some(({ name }) => name === 'sid');
  const [sound, durations] = model.outputs;
  const mark = (name: string): readonly VoiceToken[] => (ids.get(name) ?? []).map((id) => ({ id }));
  const speakerOf = (voice: string | undefined): number => {
    if (voice === undefined) return 0;
    const found = Object.hasOwn(speakers, voice) ? speakers[voice] : Number(voice);
    const count = typeof config['num_speakers'] === 'number' ? config['num_speakers'] : Object.keys(speakers).length;
    if (Number.isInteger(found) && found! >= 0 && found! < count) return found!;
    const names = Object.keys(speakers).slice(0, 20).join(', ');
    return refuse('voice', `there is no "${voice}". The model has ${names || `the numbers 0 to ${count - 1}`}.`);
  };
  const feedsOf = (
    tokens: readonly VoiceToken[],
    { voice, speed, noiseScale, durationNoise }: VoiceSettings,
  ): Tensors => {
    const scales = [
      noiseScale ?? numberOf(usual['noise_scale'], 0.667),
      numberOf(usual['length_scale'], 1) / speed,
      durationNoise ?? numberOf(usual['noise_w'], 0.8),
    ];
    return {
      input: integers(
        'int64',
        [1, tokens.length],
        tokens.map(({ id }) => id),
      ),
      input_lengths: integers('int64', [1], [tokens.length]),
      scales: { dtype: 'float32', dims: [3], data: Float32Array.from(scales) },
      ...(hasSpeakers && { sid: integers('int64', [1], [speakerOf(voice)]) }),
    };
  };
  const encode = (part: string): readonly VoiceToken[] => {
    const characters = [...(isText ? part.toLowerCase() : part).normalize('NFD')];
    const tokens = characters.flatMap((character) => {
      const own = ids.get(character)?.map((id) => ({ id, character }));
      return own ? [...own, ...mark(PAD)] : [];
    });
    return tokens.length === 0 ? [] : [...mark(BEGIN), ...mark(PAD), ...tokens, ...mark(END)];
  };
  return {
    sampleRate: rateOf(sampleRate ?? (isRecord(config['audio']) ? config['audio']['sample_rate'] : undefined), 22_050),
    reads: isText ? 'text' : 'phonemes',
    maxTokens: MANY_TOKENS,
    encode,
    check(settings) {
      refuseFixed(settings, ...OF_SUPERTONIC, 'speaker', ...(hasSpeakers ? [] : (['voice'] as const)));
      if (hasSpeakers) speakerOf(settings.voice);
    },
    async speak(tokens, settings, { signal }) {
      const outputs = await model.run(feedsOf(tokens, settings), { signal });
      return {
        samples: soundOf(sound!.name, outputs[sound!.name]),
        durations: durations && numbersIn(outputs[durations.name]),
      };
    },
    example: () => feedsOf(encode([...ids.keys()].find((one) => ![BEGIN, END, PAD].includes(one)) ?? ''), PLAIN),
  };
}

/** @throws `model-format` if the file has no ids of phonemes */
function idsOf(config: Json, path: string): ReadonlyMap<string, readonly number[]> {
  const map = config['phoneme_id_map'];
  const entries = isRecord(map) ? Object.entries(map) : [];
  const isIds = (ids: unknown): boolean => Array.isArray(ids) && ids.every((id) => Number.isSafeInteger(id));
  if (entries.length > 0 && entries.every(([, ids]) => isIds(ids))) return new Map(entries as [string, number[]][]);
  throw new TabServeError('model-format', `${path} has no phoneme_id_map: a list of numbers for each phoneme.`);
}

function numberOf(value: unknown, usual: number): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : usual;
}
