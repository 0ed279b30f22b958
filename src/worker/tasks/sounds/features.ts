/** How a recording becomes the input of an encoder of sound, by `preprocessor_config.json`: samples or a spectrogram. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { architectureOf, type Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { DecibelMel, repeated } from '../../audio/decibel-mel.js';
import { FilterBank, type FrameWindow } from '../../audio/filter-bank.js';
import { Fourier } from '../../audio/fourier.js';
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

/** What makes a kind of features of the samples, by its name in transformers or transformers.js. */
type Kind = (
  extractor: Json,
  given: Given,
) => Pick<SoundFeatures, 'leastSamples'> & {
  /** The sizes of the model's input after that of the batch; what depends on the recording has a name. */
  readonly axes: readonly (number | string)[];
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
/** No class of transformers makes these. */
const THREE_D_SPEAKER = '3D-Speaker';
const MASK = 'attention_mask';

const KINDS: Readonly<Record<string, Kind>> = {
  [SAMPLES]: ({ do_normalize: isNormalized = true }, { config }) => ({
    leastSamples: leastSamplesOf(config),
    axes: ['samples'],
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
      axes: [mels, logMel.frames],
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
      axes: [frames, mels],
      of(samples) {
        const data = new Float32Array(frames * mels);
        data.set(bank.features(samples, frames));
        return { dims: [frames, mels], data: data.map(scaled) };
      },
    };
  },
  /** Of a recording that is longer than the window, the beginning: transformers hears a part at random. */
  ClapFeatureExtractor(extractor, { sampleRate }) {
    const {
      feature_size: mels = 64,
      hop_length: hop = 480,
      fft_window_size: frameLength = 1024,
      max_length_s: seconds = 10,
      frequency_min: lowest = 0,
      frequency_max: highest = 14_000,
      truncation = 'fusion',
      padding = 'repeatpad',
    } = extractor;
    if (truncation !== 'rand_trunc')
      throw wrong('truncation', truncation, 'rand_trunc, as of clap-htsat-unfused: models that fuse four spectrograms');
    if (!isSize(mels) || mels > MAX_MELS) throw wrong('feature_size', mels, `a whole number up to ${MAX_MELS}`);
    if (!isSize(hop)) throw wrong('hop_length', hop, 'a number of samples');
    if (!isSize(seconds) || seconds > MAX_SECONDS)
      throw wrong('max_length_s', seconds, `whole seconds up to ${MAX_SECONDS}`);
    if (!isSize(frameLength) || frameLength > MAX_FRAME || !Fourier.takes(frameLength) || frameLength % 2 > 0)
      throw wrong(
        'fft_window_size',
        frameLength,
        `an even number up to ${MAX_FRAME} whose prime factors are at most 64`,
      );
    if (typeof lowest !== 'number' || typeof highest !== 'number')
      throw wrong('frequency_max', highest, 'numbers in Hz, as frequency_min');
    if (padding !== 'repeatpad' && padding !== 'repeat' && padding !== 'pad')
      throw wrong('padding', padding, 'repeatpad, repeat or pad');
    const windowLength = seconds * sampleRate;
    const bank = new DecibelMel({ sampleRate, mels, frameLength, hop, windowLength, lowest, highest });
    return {
      leastSamples: 1,
      axes: [1, bank.frames, mels],
      of(samples) {
        const window = new Float32Array(windowLength);
        if (padding === 'pad') window.set(samples.subarray(0, windowLength));
        else window.set(repeated(samples, windowLength, padding === 'repeat'));
        return { dims: [1, bank.frames, mels], data: bank.spectrogram(window) };
      },
    };
  },
  WeSpeakerFeatureExtractor: filterBank('hamming', 2 ** 15),
  [THREE_D_SPEAKER]: filterBank('povey', 1),
};

/**
 * Returns the kind of Kaldi's filter banks, less their means.
 * @param scale what a sample of full scale is
 */
function filterBank(window: FrameWindow, scale: number): Kind {
  return (extractor, { sampleRate }) => {
    const { num_mel_bins: mels = 80, fbank_centering_span: span = null, min_num_frames: least = 9 } = extractor;
    if (!isSize(mels) || mels > MAX_MELS) throw wrong('num_mel_bins', mels, `a whole number up to ${MAX_MELS}`);
    if (span !== null) throw wrong('fbank_centering_span', span, 'null: the mean of all frames is subtracted');
    if (!isSize(least) || least > MAX_FRAMES)
      throw wrong('min_num_frames', least, `a whole number up to ${MAX_FRAMES}`);
    const bank = new FilterBank(sampleRate, mels, window);
    return {
      leastSamples: bank.frameLength + (least - 1) * bank.hop,
      axes: ['frames', mels],
      of(samples) {
        const data = bank.features(samples.map((value) => value * scale));
        subtractMeans(data, mels);
        return { dims: [data.length / mels, mels], data };
      },
    };
  };
}

/** The features of models that lie in no repository of transformers, by the toolkit that they were trained with. */
export const SPEAKER_FEATURES = {
  wespeaker: { feature_extractor_type: 'WeSpeakerFeatureExtractor' },
  '3d-speaker': { feature_extractor_type: THREE_D_SPEAKER },
} as const satisfies Readonly<Record<string, Json>>;

/** Returns the fewest samples of a recording: those of one frame, or of as many as an x-vector is made of. */
function leastSamplesOf(config: Json): number {
  const convolutions = readConvolutions(config);
  if (!convolutions) return 1;
  const { tdnn_kernel: kernels, tdnn_dilation: dilations } = config;
  const { leastSamples, ratio } = convolutions;
  const isVector = architectureOf(config)?.endsWith('ForXVector') && Array.isArray(kernels) && Array.isArray(dilations);
  if (!isVector) return leastSamples;
  // Its layers see so many frames together, and a single result would have no deviation.
  const seen = kernels.reduce((sum: number, kernel, at) => sum + (Number(kernel) - 1) * Number(dilations[at]), 1);
  return leastSamples + seen * ratio;
}

/** Subtracts from each mel its mean of all frames. */
function subtractMeans(features: Float32Array, mels: number): void {
  const frames = features.length / mels;
  for (let mel = 0; mel < mels; mel++) {
    let sum = 0;
    for (let at = mel; at < features.length; at += mels) sum += features[at]!;
    for (let at = mel; at < features.length; at += mels) features[at]! -= sum / frames;
  }
}

/** Limits on what a file may ask for. */
const MAX_MELS = 1024;
const MAX_FRAMES = 100_000;
const MAX_FRAME = 65_536;
const MAX_SECONDS = 600;

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
  const { leastSamples, axes, of } = kind(extractor, { sampleRate, config, warn });
  const own = inputs.filter(({ name }) => name !== input.name && !otherInputs.includes(name));
  const mask = own.find(({ name }) => name === MASK);
  const others = own.filter(({ name }) => name !== MASK);
  const areSamples = type === SAMPLES;
  const isOther = (size: number | string, at: number): boolean =>
    typeof size === 'number' && typeof input.dims[at + 1] === 'number' && input.dims[at + 1] !== size;
  if (others.length > 0 || input.dims.length !== axes.length + 1 || axes.some(isOther))
    throw new TabServeError(
      'model-config',
      `${handler} gives the model an input [rows, ${axes.join(', ')}]${hasFile ? `, as ${PREPROCESSOR} says` : ''}; the model has the inputs ${inputs.map((one) => `"${one.name}" [${one.dims.map((size) => size ?? '?').join(', ')}]`).join(', ')}. audio_handler returns the outputs of any model of samples.`,
    );
  return {
    sampleRate: hasFile || givenRate !== undefined ? sampleRate : undefined,
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
