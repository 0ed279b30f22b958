/** How a recording becomes the input of an encoder of sound, by `preprocessor_config.json`: samples or a spectrogram. */
import type { Files } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import type { Json } from '../../shared/hugging-face.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { wrong } from './log-mel-config.js';
import { KINDS, SAMPLES, THREE_D_SPEAKER, type Given } from './sound-kinds.js';
import { isSampleRate, PREPROCESSOR, readJson } from './speech-files.js';
import { toFloat16 } from '../tensors/float16.js';
import { integers } from '../tensors/tensors.js';

/** Makes the inputs of a model. */
export interface SoundFeatures {
  /** Samples per second; undefined if the files do not say it. */
  readonly sampleRate: number | undefined;
  /** The fewest samples of a recording. */
  readonly leastSamples: number;
  /** Whether the model's input has the samples themselves. */
  readonly areSamples: boolean;
  /** Samples for each frame of the model's input, if it has frames of the whole recording. */
  readonly hop: number | undefined;
  /** Returns the model's inputs for one recording. */
  feeds(samples: Float32Array): Tensors;
}

const MASK = 'attention_mask';

/** The features of models that lie in no repository of transformers, by the toolkit that they were trained with. */
export const SPEAKER_FEATURES = {
  wespeaker: { feature_extractor_type: 'WeSpeakerFeatureExtractor' },
  '3d-speaker': { feature_extractor_type: THREE_D_SPEAKER },
} as const satisfies Readonly<Record<string, Json>>;

/**
 * Reads how sound becomes a model's input. Without `preprocessor_config.json`, it is the samples.
 * @param handler its name, for messages
 * @param given samples per second, instead of the files'; `extractor` in place of `preprocessor_config.json`
 * @throws `model-config` if the files say what cannot be done here, or what the model does not take; `model-format`
 */
export async function readFeatures(
  files: Files,
  { inputs }: Session,
  input: TensorInfo,
  {
    handler,
    warn,
    sampleRate: givenRate,
    extractor: given,
    otherInputs = [],
  }: Pick<Given, 'warn'> & {
    readonly handler: string;
    readonly sampleRate: unknown;
    readonly extractor?: Json | undefined;
    /** Those that the handler fills itself. */
    readonly otherInputs?: readonly string[];
  },
): Promise<SoundFeatures> {
  const hasFile = !given && files.has(PREPROCESSOR);
  const extractor = given ?? (hasFile ? await readJson(files, PREPROCESSOR, handler) : { do_normalize: false });
  const config = files.has(HF_CONFIG) ? await readJson(files, HF_CONFIG, handler) : {};
  const { feature_extractor_type: type = SAMPLES, sampling_rate: rate = 16_000 } = extractor as Json;
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind) throw wrong('feature_extractor_type', type, Object.keys(KINDS).join(' or '));
  const sampleRate = givenRate ?? rate;
  if (!isSampleRate(sampleRate)) throw wrong('sampling_rate', sampleRate, 'a whole number of samples per second');
  const { leastSamples, hop, axes, of } = kind(extractor, { sampleRate, config, warn });
  const own = inputs.filter(({ name }) => name !== input.name && !otherInputs.includes(name));
  const mask = own.find(({ name }) => name === MASK);
  const others = own.filter(({ name }) => name !== MASK);
  const areSamples = type === SAMPLES;
  /** Without an axis of rows: YAMNet's `waveform`. */
  const isOneRow = areSamples && input.dims.length === 1;
  const isOther = (size: number | string, at: number): boolean =>
    typeof size === 'number' && typeof input.dims[at + 1] === 'number' && input.dims[at + 1] !== size;
  if (others.length > 0 || (!isOneRow && (input.dims.length !== axes.length + 1 || axes.some(isOther))))
    throw new TabServeError(
      'model-config',
      `${handler} gives the model an input [rows, ${axes.join(', ')}]${hasFile ? `, as ${PREPROCESSOR} says` : ''}; the model has the inputs ${inputs.map((one) => `"${one.name}" [${one.dims.map((size) => size ?? '?').join(', ')}]`).join(', ')}. audio_handler returns the outputs of any model of samples.`,
    );
  return {
    sampleRate: hasFile || givenRate !== undefined ? sampleRate : undefined,
    leastSamples,
    areSamples,
    hop,
    feeds(samples) {
      const made = of(samples);
      const sizes = isOneRow ? made.dims : [1, ...made.dims];
      const { name, dtype } = input;
      const tensor: Tensor =
        dtype === 'float16'
          ? { dtype, dims: sizes, data: toFloat16(made.data) }
          : { dtype: 'float32', dims: sizes, data: made.data };
      if (!mask) return { [name]: tensor };
      const length = made.dims[0]!;
      const { count = length } = made;
      return {
        [name]: tensor,
        [MASK]: integers(
          mask.dtype,
          [1, length],
          Array.from({ length }, (_, at) => (at < count ? 1 : 0)),
        ),
      };
    },
  };
}
