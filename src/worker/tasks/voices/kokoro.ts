import type { Context } from '../../../contract/handler.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensors } from '../../../contract/tensors.js';
import { integers } from '../../tensors/tensors.js';
import { IDS_INPUT } from '../../text/text-inputs.js';
import { readCharacters } from './characters.js';
import {
  numbersIn,
  OF_SUPERTONIC,
  rateOf,
  refuse,
  refuseFixed,
  soundOf,
  type Voice,
  type VoiceToken,
} from './voice.js';

/** The numbers of a style: how a voice speaks a part of some length. */
const STYLE = 256;

/** The usual voice, and the folder of the repository's voices. */
const USUAL = 'af_heart';
const FOLDER = 'voices/';
const ENDING = '.bin';

/** The positions of the model's texts, of which the first and the last are marks. */
const POSITIONS = 512;
const MARK: VoiceToken = { id: 0 };

/** Returns the files of the voices that the config names. */
export function voiceFiles(names: unknown): readonly string[] {
  return (Array.isArray(names) ? names.map(String) : [USUAL]).map((name) => FOLDER + name + ENDING);
}

/**
 * Opens Kokoro: `input_ids`, `style` and `speed` → `waveform`, and of some exports `durations`. Of a voice's file,
 * float32 `[parts, 1, 256]`, it takes the style for as many tokens as there are.
 */
export async function openKokoro(
  model: Session,
  { files }: Context,
  config: Readonly<Record<string, unknown>>,
): Promise<Voice> {
  const ids = await readCharacters(files);
  const names = (config['voices'] as readonly string[] | undefined) ?? [USUAL];
  const voices = new Map(
    await Promise.all(names.map(async (name) => [name, stylesOf(await files.bytes(name + ENDING), name)] as const)),
  );
  const [idsInput, sound, durations] = [
    model.inputs.find(({ name }) => name === IDS_INPUT)!,
    model.outputs.find(({ name }) => name !== 'durations')!,
    model.outputs.find(({ name }) => name === 'durations'),
  ];
  const stylesFor = (voice = names[0]!): Float32Array =>
    voices.get(voice) ??
    refuse(
      'voice',
      `there is no "${voice}" here. There are ${names.join(', ')}; name others of the repository in handler.voices.`,
    );
  const feedsOf = (tokens: readonly VoiceToken[], voice: string | undefined, speed: number): Tensors => {
    const styles = stylesFor(voice);
    const at = Math.min(Math.max(0, tokens.length - 2), styles.length / STYLE - 1) * STYLE;
    return {
      [IDS_INPUT]: integers(
        idsInput.dtype,
        [1, tokens.length],
        tokens.map(({ id }) => id),
      ),
      style: { dtype: 'float32', dims: [1, STYLE], data: styles.slice(at, at + STYLE) },
      speed: { dtype: 'float32', dims: [1], data: Float32Array.of(speed) },
    };
  };
  return {
    sampleRate: rateOf(config['sampleRate'], 24_000),
    reads: 'phonemes',
    maxTokens: POSITIONS,
    encode(part) {
      const tokens = [...part].flatMap((character) =>
        ids.has(character) ? { id: ids.get(character)!, character } : [],
      );
      return tokens.length === 0 ? [] : [MARK, ...tokens, MARK];
    },
    check(settings) {
      refuseFixed(settings, ...OF_SUPERTONIC, 'speaker', 'noiseScale', 'durationNoise');
      stylesFor(settings.voice);
    },
    async speak(tokens, { voice, speed }, { signal }) {
      const outputs = await model.run(feedsOf(tokens, voice, speed), { signal });
      return {
        samples: soundOf(sound.name, outputs[sound.name]),
        durations: durations && numbersIn(outputs[durations.name]),
      };
    },
    example: () => feedsOf([MARK, { id: 1 }, MARK], undefined, 1),
  };
}

/** @throws `model-format` if a file holds no styles */
function stylesOf(bytes: Uint8Array, name: string): Float32Array {
  if (bytes.length > 0 && bytes.length % (STYLE * 4) === 0) return new Float32Array(bytes.slice().buffer);
  throw new TabServeError(
    'model-format',
    `${name}${ENDING} is no voice: it has ${bytes.length} bytes, and float32 [parts, 1, ${STYLE}] has a multiple of ${STYLE * 4}.`,
  );
}
