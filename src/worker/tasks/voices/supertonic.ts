import type { Context } from '../../../contract/handler.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { nextTask } from '../../../shared/next-task.js';
import { gaussian } from '../../generation/gaussian.js';
import { integers, toFloats } from '../../tensors/tensors.js';
import { readCharacterIds, readSizes, readStyles, voiceNames, type Style } from './supertonic-files.js';
import { prepareText } from './supertonic-text.js';
import { refuse, refuseFixed, soundOf, type Voice, type VoiceSettings } from './voice.js';

/** The node that tells how long a part lasts. In repositories of transformers.js, an output of the encoder does. */
const DURATION = 'duration';
const DURATIONS = 'durations';
/** The maximum number of characters that are spoken at once: that of Supertone's own code. */
const MAX_CHARACTERS = 300;
const STEPS = 5;
/** The maximum duration of a part in seconds. With more, the numbers of the model are wrong. */
const MAX_SECONDS = 600;
/** Seconds of silence between two parts, as in Supertone's own code. */
const PAUSE = 0.3;

/** What the models take, and by which names, in Supertone's repositories and in those of transformers.js. */
const INPUTS: Readonly<Record<string, keyof Values>> = {
  text_ids: 'ids',
  input_ids: 'ids',
  text_mask: 'mask',
  attention_mask: 'mask',
  text_emb: 'text',
  encoder_outputs: 'text',
  noisy_latent: 'latent',
  noisy_latents: 'latent',
  latent: 'latent',
  latents: 'latent',
  latent_mask: 'latentMask',
  current_step: 'step',
  timestep: 'step',
  total_step: 'steps',
  num_inference_steps: 'steps',
};

interface Values {
  readonly ids?: readonly number[];
  readonly mask?: readonly number[];
  readonly latentMask?: readonly number[];
  readonly step?: readonly number[];
  readonly steps?: readonly number[];
  readonly text?: Tensor;
  readonly latent?: Tensor;
}

/** Returns whether a model is the part of Supertonic that makes sound of noise. */
export function isSupertonic({ inputs }: Pick<Session, 'inputs'>): boolean {
  return inputs.some(({ name }) => INPUTS[name] === 'latent') && inputs.some(({ name }) => INPUTS[name] === 'steps');
}

/**
 * Opens Supertonic, of three or four files: the encoder of texts, the model that tells how long a part lasts, the
 * estimator, which makes a latent of noise step by step (flow matching), and the vocoder.
 */
export async function openSupertonic(
  estimator: Session,
  context: Context,
  config: Readonly<Record<string, unknown>>,
): Promise<Voice> {
  const { files } = context;
  const [encoder, vocoder, sizes, idsOf] = await Promise.all([
    context.open('encoder'),
    context.open('vocoder'),
    readSizes(files, config['sampleRate']),
    readCharacterIds(files),
  ]);
  const tellsDuration = encoder.outputs.some(({ name }) => name === DURATIONS);
  const duration = tellsDuration ? undefined : await context.open(DURATION);
  const names = voiceNames(config['voices']);
  const styles = await readStyles(files, names);
  const styleOf = (voice = names[0]!): Style =>
    styles.get(voice) ??
    refuse(
      'voice',
      `there is no "${voice}" here. There are ${names.join(', ')}; name others of the repository in handler.voices.`,
    );
  const latentOf = (data: Float32Array): Tensor => ({
    dtype: 'float32',
    dims: [1, sizes.channels, data.length / sizes.channels],
    data,
  });
  const tags = (language: string | undefined): readonly (readonly number[])[] =>
    language === undefined ? [[], []] : [idsOf(`<${language}>`), idsOf(`</${language}>`)];

  async function speakIds(ids: readonly number[], settings: VoiceSettings, { signal, heartbeat }: Context) {
    const style = styleOf(settings.voice);
    const read: Values = { ids, mask: ids.map(() => 1) };
    const run = async (model: Session, values: Values): Promise<Tensors> =>
      await model.run(feedsOf(model, values, style), { signal });
    const encoded = await run(encoder, read);
    const text = outputOf(encoder, encoded, 'text_emb', 'last_hidden_state');
    const lengths = duration
      ? outputOf(duration, await run(duration, read), 'duration')
      : outputOf(encoder, encoded, DURATIONS);
    // In float32, as it is computed in Python.
    const seconds = Math.fround(toFloats(lengths)[0]! / Math.fround(settings.speed));
    const count = Math.trunc(Math.fround(seconds * sizes.sampleRate));
    if (!(count > 0 && count < MAX_SECONDS * sizes.sampleRate))
      throw new TabServeError(
        'inference-failed',
        `The model says that ${ids.length} characters last ${seconds} seconds. Set engine.dtype to another precision, such as 'fp32', or choose another backend.`,
      );
    const columns = Math.ceil(count / sizes.samples);
    const steps = settings.steps ?? STEPS;
    const latentMask = Array.from({ length: columns }, () => 1);
    const seed = settings.seed ?? Math.floor(Math.random() * Number.MAX_SAFE_INTEGER);
    let latent = latentOf(gaussian(seed, sizes.channels * columns));
    for (let step = 0; step < steps; step++) {
      const values = { ...read, text, latent, latentMask, step: [step], steps: [steps] };
      latent = outputOf(estimator, await run(estimator, values), 'denoised_latent', 'denoised_latents');
      heartbeat();
      await nextTask();
    }
    const sound = outputOf(vocoder, await run(vocoder, { latent }), 'wav_tts', 'waveform');
    return { samples: soundOf('waveform', sound).slice(0, count) };
  }

  return {
    sampleRate: sizes.sampleRate,
    reads: 'text',
    maxTokens: MAX_CHARACTERS,
    pause: PAUSE,
    encode(part) {
      const text = prepareText(part);
      return /[\p{L}\p{N}]/u.test(text) ? idsOf(text).map((id) => ({ id })) : [];
    },
    check(settings) {
      refuseFixed(settings, 'speaker', 'noiseScale', 'durationNoise');
      styleOf(settings.voice);
      const { language } = settings;
      if (language === undefined) return;
      if (!/^[a-z]{2,3}$/.test(language))
        refuse('language', `expected the code of a language, such as en, got "${language.slice(0, 40)}".`);
      if (idsOf('<').length === 0) refuse('language', 'the model has no marks of languages. Leave it out.');
    },
    async speak(tokens, settings, context) {
      const [before, after] = tags(settings.language);
      return await speakIds([...before!, ...tokens.map(({ id }) => id), ...after!], settings, context);
    },
    example(node) {
      const model = node === 'encoder' ? encoder : node === 'vocoder' ? vocoder : node ? duration! : estimator;
      const [columns, ids] = [4, [1, 2, 3]];
      const dims = textDims(estimator, ids.length);
      const text = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
      const values: Values = {
        ids,
        mask: ids.map(() => 1),
        latentMask: Array.from({ length: columns }, () => 1),
        step: [0],
        steps: [STEPS],
        text: { dtype: 'float32', dims, data: text },
        latent: latentOf(gaussian(1, sizes.channels * columns)),
      };
      return feedsOf(model, values, styleOf(undefined));
    },
  };
}

/** Returns the dims of the encoder's output: what is free in the estimator's input is the number of characters. */
function textDims({ inputs }: Session, count: number): readonly number[] {
  const dims = inputs.find(({ name }) => INPUTS[name] === 'text')?.dims ?? [];
  return dims.map((dim, axis) => (axis === 0 ? 1 : typeof dim === 'number' ? dim : count));
}

/** Returns the inputs of a model. @throws `model-config` for an input that is not known */
function feedsOf({ inputs }: Session, values: Values, style: Style): Tensors {
  return Object.fromEntries(inputs.map((info) => [info.name, feedOf(info, values, style)]));
}

function feedOf(info: TensorInfo, values: Values, style: Style): Tensor {
  const numbers = style[info.name];
  if (numbers) return { dtype: 'float32', dims: styleDims(info, numbers), data: numbers };
  const value = values[INPUTS[info.name]!];
  if (!value)
    throw new TabServeError(
      'model-config',
      `The model has an input "${info.name}", which Supertonic does not have. Its inputs are ${Object.keys(INPUTS).join(', ')}.`,
    );
  if (!Array.isArray(value)) return value as Tensor;
  // [1], [1, n] or [1, 1, n].
  const dims = [...info.dims.slice(1).map(() => 1), value.length];
  if (info.dtype === 'float32') return { dtype: 'float32', dims, data: Float32Array.from(value as readonly number[]) };
  return integers(info.dtype, dims, value as readonly number[]);
}

/** @throws `model-config` for a voice of another model */
function styleDims({ name, dims }: TensorInfo, { length }: Float32Array): readonly number[] {
  const last = dims.at(-1);
  const middle = typeof last === 'number' ? length / last : NaN;
  if (Number.isInteger(middle) && (typeof dims[1] !== 'number' || dims[1] === middle)) return [1, middle, Number(last)];
  throw new TabServeError(
    'model-config',
    `The voice has ${length} numbers for the input "${name}", which takes [${dims.join(', ')}]: it is of another model.`,
  );
}

/** Returns an output by its usual names, or else the first one. */
function outputOf({ outputs }: Session, made: Tensors, ...names: readonly string[]): Tensor {
  return made[names.find((name) => made[name] !== undefined) ?? outputs[0]!.name]!;
}
