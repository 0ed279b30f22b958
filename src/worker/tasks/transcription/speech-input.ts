/** How a recording becomes the input of an encoder: `preprocessor_config.json`, and the sizes of the encoder. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensor, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import type { LogMel } from '../../audio/log-mel.js';
import { zeroMeanUnitVariance } from '../../audio/samples.js';
import type { Encoder } from '../../generation/encoder.js';
import { toFloat16 } from '../../tensors/float16.js';
import { readLogMel, wrong } from '../../handlers/log-mel-config.js';
import { isSampleRate, PREPROCESSOR, readJson } from '../../handlers/speech-files.js';

const SPECTROGRAM = 'WhisperFeatureExtractor';
const SAMPLES = 'Wav2Vec2FeatureExtractor';
/** Moonshine's convolutions have kernels of 127, 7 and 3, and strides of 64, 3 and 2. */
const MOONSHINE_LEAST = ((3 - 1) * 3 + 7 - 1) * 64 + 127;
/** Frames of the spectrogram for each position of the encoder: its second convolution takes every other one. */
export const FRAMES_PER_POSITION = 2;

/** Makes an encoder's inputs. */
export interface SpeechInput {
  readonly sampleRate: number;
  /** The fewest samples of a recording. */
  readonly leastSamples: number;
  /** Seconds that the encoder hears at once. Infinity for a recording of any length. */
  readonly window: number;
  /** Frames of a window. */
  readonly frames: number;
  /** Seconds between two times that the model can write. */
  readonly step: number;
  /** Samples for each frame. */
  readonly hop: number;
  /** Returns the inputs for at most a window of samples. */
  feeds(samples: Float32Array): Tensors;
  /** Returns inputs from one of their frames on, with zeros after them. */
  later(feeds: Tensors, first: number): Tensors;
}

/** Whisper's: a spectrogram of a fixed length. */
class SpectrogramInput implements SpeechInput {
  readonly #logMel: LogMel;
  readonly #info: TensorInfo;
  readonly sampleRate: number;
  readonly leastSamples = 0;
  readonly window: number;
  readonly frames: number;
  readonly step: number;
  readonly hop: number;

  /** @param info of the encoder's input */
  constructor(logMel: LogMel, info: TensorInfo) {
    const { frames, options } = logMel;
    this.#logMel = logMel;
    this.#info = info;
    this.sampleRate = options.sampleRate;
    this.frames = frames;
    this.hop = options.hop;
    this.window = options.windowLength / options.sampleRate;
    this.step = (this.window / frames) * FRAMES_PER_POSITION;
  }

  feeds(samples: Float32Array): Tensors {
    const { name, dtype } = this.#info;
    const data = this.#logMel.spectrogram(samples);
    const dims = [1, this.#logMel.options.mels, this.frames];
    return { [name]: dtype === 'float16' ? { dtype, dims, data: toFloat16(data) } : { dtype: 'float32', dims, data } };
  }

  later(feeds: Tensors, first: number): Tensors {
    if (first === 0) return feeds;
    const { name } = this.#info;
    const { data, ...info } = feeds[name] as Tensor<'float32' | 'float16'>;
    const later = data.slice().fill(0);
    for (let row = 0; row < data.length; row += this.frames)
      later.set(data.subarray(row + first, row + this.frames), row);
    return { [name]: { ...info, data: later } as Tensor };
  }
}

/** What a reader knows of the model. */
interface Given {
  /** The handler's name, for messages. */
  readonly handler: string;
  readonly encoder: Encoder;
  /** The parsed `config.json`. */
  readonly config: Json;
  /** Called with what the files say and what has no effect here. */
  readonly warn: (message: string) => void;
}

/**
 * Reads how sound becomes the encoder's input.
 * @throws `model-config` if the files say what cannot be done here, or what the encoder does not take; `model-format`
 */
export async function readSpeechInput(files: Files, given: Given): Promise<SpeechInput> {
  const extractor = await readJson(files, PREPROCESSOR, given.handler);
  const { feature_extractor_type: type, sampling_rate: sampleRate = 16_000 } = extractor;
  const wanted = readsSound(given.config) ? SAMPLES : SPECTROGRAM;
  if (type !== undefined && type !== wanted)
    throw wrong('feature_extractor_type', type, `${wanted}: ${given.handler} makes no other input of this model`);
  if (!isSampleRate(sampleRate)) throw wrong('sampling_rate', sampleRate, 'a whole number of samples per second');
  return wanted === SAMPLES
    ? samplesInput(extractor, sampleRate, given)
    : spectrogramInput(extractor, sampleRate, given);
}

/** Returns whether a model reads samples, as Moonshine, and not a spectrogram. @param config the parsed `config.json` */
export function readsSound({ model_type: type }: Json): boolean {
  return type === 'moonshine';
}

/** Makes Moonshine's input: samples of any length, but at least those of the first frame of its convolutions. */
function samplesInput(
  { do_normalize: isNormalized = true }: Json,
  sampleRate: number,
  { encoder }: Given,
): SpeechInput {
  return {
    sampleRate,
    leastSamples: MOONSHINE_LEAST,
    window: Infinity,
    frames: 1,
    step: 1,
    hop: 1,
    feeds: (samples) => encoder.soundFeeds(isNormalized === false ? samples : zeroMeanUnitVariance(samples)),
    later: (feeds) => feeds,
  };
}

function spectrogramInput(extractor: Json, sampleRate: number, { encoder, config, warn }: Given): SpeechInput {
  const logMel = readLogMel(extractor, sampleRate, warn);
  const { frames } = logMel;
  const positions = config['max_source_positions'] ?? 1500;
  if (positions !== frames / FRAMES_PER_POSITION)
    throw underivable(
      HF_CONFIG,
      'max_source_positions',
      positions,
      `${frames / FRAMES_PER_POSITION}, one for each two frames of ${PREPROCESSOR}`,
      'The files are of two models.',
    );
  const { name, dims } = encoder.input;
  const { mels } = logMel.options;
  if ([mels, frames].some((size, at) => typeof dims[at + 1] === 'number' && dims[at + 1] !== size))
    throw new TabServeError(
      'model-config',
      `The encoder's input "${name}" has the dims [${dims.map((size) => size ?? '?').join(', ')}], and ${PREPROCESSOR} makes ${mels} mels and ${frames} frames: they are of two models.`,
    );
  return new SpectrogramInput(logMel, encoder.input);
}
