import { SAMPLE_RATES } from '../../../contract/audio.js';
import type { Context } from '../../../contract/handler.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensor, Tensors } from '../../../contract/tensors.js';
import { isSampleRate } from '../../handlers/speech-files.js';
import { toFloats } from '../../tensors/tensors.js';

/** A token of a model, and the character that it stands for; undefined for a blank or a mark. */
export interface VoiceToken {
  readonly id: number;
  readonly character?: string;
}

/** What a request sets, by its params. */
export interface VoiceSettings {
  readonly voice: string | undefined;
  readonly speed: number;
  readonly speaker: Float32Array | undefined;
  readonly noiseScale: number | undefined;
  readonly durationNoise: number | undefined;
  readonly threshold: number;
  readonly language: string | undefined;
  readonly steps: number | undefined;
  readonly seed: number | undefined;
}

/** What a model says of a part. */
export interface SpokenSound {
  readonly samples: Float32Array;
  /** How long each token lasts, in any unit, if the model tells it. */
  readonly durations?: ArrayLike<number> | undefined;
}

/** A kind of model: how it reads a text, and how it speaks. */
export interface Voice {
  readonly sampleRate: number;
  readonly reads: 'text' | 'phonemes';
  /** The largest number of tokens that the model takes at once. */
  readonly maxTokens: number;
  /** Seconds of silence between two parts. Default: 0. */
  readonly pause?: number;
  /** Returns the tokens of a part; none if it has no character that the model knows. */
  encode(part: string): readonly VoiceToken[];
  /** Checks what a request sets. @throws `invalid-input` naming the param and what there is */
  check(settings: VoiceSettings): void;
  speak(tokens: readonly VoiceToken[], settings: VoiceSettings, context: Context): Promise<SpokenSound>;
  /** Returns the inputs of a run for trying a backend. */
  example(node: string | undefined): Tensors | undefined;
}

/** The settings of a test run. */
export const PLAIN: VoiceSettings = {
  voice: undefined,
  speed: 1,
  speaker: undefined,
  noiseScale: 0,
  durationNoise: 0,
  threshold: 0.5,
  language: undefined,
  steps: undefined,
  seed: undefined,
};

/** The usual limit of a model that has none: memory grows with it. */
export const MANY_TOKENS = 1000;

/** @throws `inference-failed` if the model has returned no sound */
export function soundOf(name: string, output: Tensor | undefined): Float32Array {
  if (!output || output.data.length === 0)
    throw new TabServeError('inference-failed', `The output "${name}" has no samples. Export the model again.`);
  const samples = toFloats(output);
  const at = samples.findIndex((sample) => !Number.isFinite(sample));
  if (at < 0) return samples;
  throw new TabServeError(
    'inference-failed',
    `The model's sound is no number at sample ${at}: it is ${samples[at]}. In half precision (fp16, q4f16), numbers above 65504 overflow: set engine.dtype to another precision, such as 'fp32', or choose another backend.`,
  );
}

/** @throws `invalid-input` for a param that the model has no input for */
export function refuse(param: string, why: string): never {
  throw new TabServeError('invalid-input', `params.${param}: ${why}`);
}

const NOISE = 'the model has no input for its noise, which the export has fixed. Leave it out.';

/** What some models cannot do, by the setting: the param's name, and why. */
const FIXED = {
  voice: ['voice', 'the model has one voice. Leave it out.'],
  speed: [
    'speed',
    'the model has no input for it, because the export has fixed it. Leave it out, and set playbackRate where the sound is played.',
  ],
  speaker: ['speakerEmbedding', 'the model has no input for the vector of a speaker. Leave it out.'],
  noiseScale: ['noiseScale', NOISE],
  durationNoise: ['durationNoise', NOISE],
  language: ['language', 'the model speaks one language. Leave it out.'],
  steps: ['numInferenceSteps', 'the model makes its sound at once. Leave it out.'],
  seed: ['seed', 'the model draws its random numbers itself. Leave it out.'],
} as const;

/** What only Supertonic has. */
export const OF_SUPERTONIC = ['language', 'steps', 'seed'] as const;

/** @throws `invalid-input` if a request sets what the model has no input for */
export function refuseFixed(settings: VoiceSettings, ...names: readonly (keyof typeof FIXED)[]): void {
  const set = names.find((name) => settings[name] !== (name === 'speed' ? 1 : undefined));
  if (set) refuse(FIXED[set][0], FIXED[set][1]);
}

/** Returns the samples per second that the files say, or else the usual ones. @throws `model-config` for another value */
export function rateOf(value: unknown, usual: number): number {
  if (value === undefined) return usual;
  if (isSampleRate(value)) return value;
  throw new TabServeError(
    'model-config',
    `The model's sample rate must be a whole number from ${SAMPLE_RATES.least} to ${SAMPLE_RATES.most}, not ${String(value)}. Set handler.sampleRate.`,
  );
}

/** Returns the numbers of an output of any dtype; undefined if there is none. */
export function numbersIn(output: Tensor | undefined): readonly number[] | undefined {
  return output && Array.from(output.data as ArrayLike<number | bigint>, Number);
}
