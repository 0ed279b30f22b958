/** How a recording becomes the input of an encoder of sound, by `preprocessor_config.json`: samples or a spectrogram. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import type { Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { FilterBank } from '../../audio/filter-bank.js';
import { zeroMeanUnitVariance } from '../../audio/samples.js';
import { isSize, readLogMel, wrong } from '../../handlers/log-mel-config.js';
import { isSampleRate, PREPROCESSOR, readConvolutions, readJson } from '../../handlers/speech-files.js';
import { toFloat16 } from '../../tensors/float16.js';
import { integers } from '../../tensors/tensors.js';

/** Makes the inputs of a model. */
export interface SoundFeatures {
  /** Samples per second; undefined if the files do not say it. */
  readonly sampleRate: number | undefined;
  /** The fewest samples of a recording. */
  readonly leastSamples: number;
  /** Whether the model's input has the samples themselves. */
  readonly areSamples: boolean;
  /** Returns the model's inputs for one recording. */
  feeds(samples: Float32Array): Tensors;
}

/** What makes a kind of features of the samples, by its name in transformers. */
type Kind = (
  extractor: Json,
  given: Given,
) => Pick<SoundFeatures, 'leastSamples'> & {
  readonly of: (samples: Float32Array) => { readonly dims: readonly number[]; readonly data: Float32Array };
};

interface Given {
  readonly sampleRate: number;
  /** The parsed `config.json`. */
  readonly config: Json;
  readonly warn: (message: string) => void;
}

/** The samples themselves. */
const SAMPLES = 'Wav2Vec2FeatureExtractor';
const MASK = 'attention_mask';

const KINDS: Readonly<Record<string, Kind>> = {
  [SAMPLES]: ({ do_normalize: isNormalized = true }, { config }) => ({
    leastSamples: readConvolutions(config)?.leastSamples ?? 1,
    of: (samples) => ({
      dims: [samples.length],
      data: isNormalized === false ? samples : zeroMeanUnitVariance(samples),
    }),
  }),
  /** Of a recording that is longer than the window, the beginning. */
  WhisperFeatureExtractor(extractor, { sampleRate, warn }) {
    const logMel = readLogMel(extractor, sampleRate, warn);
    const { mels, windowLength } = logMel.options;
    return {
      leastSamples: 1,
      of: (samples) => ({
        dims: [mels, logMel.frames],
        data: logMel.spectrogram(samples.subarray(0, windowLength)),
      }),
    };
  },
  ASTFeatureExtractor(extractor, { sampleRate }) {
    const {
      num_mel_bins: mels = 128,
      max_length: frames = 1024,
      do_normalize: isNormalized = true,
      mean = -4.2677393,
      std = 4.5689974,
    } = extractor;
    if (!isSize(mels) || mels > MAX_MELS) throw wrong('num_mel_bins', mels, `a whole number up to ${MAX_MELS}`);
    if (!isSize(frames) || frames > MAX_FRAMES) throw wrong('max_length', frames, `a whole number up to ${MAX_FRAMES}`);
    if (typeof mean !== 'number') throw wrong('mean', mean, 'a number');
    if (typeof std !== 'number' || std === 0) throw wrong('std', std, 'a number other than 0');
    const bank = new FilterBank(sampleRate, mels);
    const scaled = (value: number): number => (isNormalized === false ? value : (value - mean) / (std * 2));
    return {
      leastSamples: bank.frameLength,
      of(samples) {
        const data = new Float32Array(frames * mels);
        data.set(bank.features(samples, frames));
        return { dims: [frames, mels], data: data.map(scaled) };
      },
    };
  },
};

/** Limits on what a file may ask for. */
const MAX_MELS = 1024;
const MAX_FRAMES = 100_000;

/**
 * Reads how sound becomes a model's input. Without `preprocessor_config.json`, it is the samples.
 * @param handler its name, for messages
 * @param given samples per second, instead of the files'
 * @throws `model-config` if the files say what cannot be done here, or what the model does not take; `model-format`
 */
export async function readFeatures(
  files: Files,
  { inputs }: Session,
  input: TensorInfo,
  { handler, warn, sampleRate: own }: Pick<Given, 'warn'> & { readonly handler: string; readonly sampleRate: unknown },
): Promise<SoundFeatures> {
  const hasFile = files.has(PREPROCESSOR);
  const extractor = hasFile ? await readJson(files, PREPROCESSOR, handler) : { do_normalize: false };
  const config = files.has(HF_CONFIG) ? await readJson(files, HF_CONFIG, handler) : {};
  const { feature_extractor_type: type = SAMPLES, sampling_rate: rate = 16_000 } = extractor as Json;
  const kind = typeof type === 'string' && Object.hasOwn(KINDS, type) ? KINDS[type] : undefined;
  if (!kind) throw wrong('feature_extractor_type', type, Object.keys(KINDS).join(' or '));
  const sampleRate = own ?? rate;
  if (!isSampleRate(sampleRate)) throw wrong('sampling_rate', sampleRate, 'a whole number of samples per second');
  const { leastSamples, of } = kind(extractor, { sampleRate, config, warn });
  const mask = inputs.find(({ name }) => name === MASK);
  const others = inputs.filter(({ name }) => name !== input.name && name !== MASK);
  const { dims } = of(new Float32Array(leastSamples));
  const areSamples = type === SAMPLES;
  const isOther = (size: number, at: number): boolean =>
    !areSamples && typeof input.dims[at + 1] === 'number' && input.dims[at + 1] !== size;
  if (others.length > 0 || input.dims.length !== dims.length + 1 || dims.some(isOther))
    throw new TabServeError(
      'model-config',
      `${handler} gives the model an input [rows, ${areSamples ? 'samples' : dims.join(', ')}]${hasFile ? `, as ${PREPROCESSOR} says` : ''}; the model has the inputs ${inputs.map((one) => `"${one.name}" [${one.dims.map((size) => size ?? '?').join(', ')}]`).join(', ')}. audio_handler returns the outputs of any model of samples.`,
    );
  return {
    sampleRate: hasFile || own !== undefined ? sampleRate : undefined,
    leastSamples,
    areSamples,
    feeds(samples) {
      const made = of(samples);
      const sizes = [1, ...made.dims];
      const { name, dtype } = input;
      const tensor: Tensor =
        dtype === 'float16'
          ? { dtype, dims: sizes, data: toFloat16(made.data) }
          : { dtype: 'float32', dims: sizes, data: made.data };
      if (!mask) return { [name]: tensor };
      const length = made.dims[0]!;
      return {
        [name]: tensor,
        [MASK]: integers(
          mask.dtype,
          [1, length],
          Array.from({ length }, () => 1),
        ),
      };
    },
  };
}
