/** What a repository's files say of how Whisper hears: `preprocessor_config.json`, and the sizes of the encoder. */
import type { Files } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import type { Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import { underivable } from '../../shared/hugging-face.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { Fourier } from '../audio/fourier.js';
import { LogMel } from '../audio/log-mel.js';
import { toFloat16 } from '../tensors/float16.js';
import { isSampleRate, PREPROCESSOR, readJson } from './speech-model.js';

const EXTRACTOR = 'WhisperFeatureExtractor';
/** Frames of the spectrogram for each place of the encoder: its second convolution takes every other one. */
const FRAMES_PER_PLACE = 2;

/** Makes the encoder's inputs. */
export class SpeechInput {
  readonly #logMel: LogMel;
  readonly #info: TensorInfo;
  readonly sampleRate: number;
  /** Frames of a window. */
  readonly frames: number;
  /** Seconds of a window. */
  readonly window: number;
  /** Seconds between two times that the model can write. */
  readonly step: number;

  /** @param info of the encoder's input */
  constructor(logMel: LogMel, info: TensorInfo) {
    const { frames, options } = logMel;
    this.#logMel = logMel;
    this.#info = info;
    this.sampleRate = options.sampleRate;
    this.frames = frames;
    this.window = options.windowLength / options.sampleRate;
    this.step = (this.window / frames) * FRAMES_PER_PLACE;
  }

  /** Returns the inputs for at most a window of samples, `[1, mels, frames]`. */
  feeds(samples: Float32Array): Tensors {
    const { name, dtype } = this.#info;
    const data = this.#logMel.spectrogram(samples);
    const dims = [1, this.#logMel.options.mels, this.frames];
    return { [name]: dtype === 'float16' ? { dtype, dims, data: toFloat16(data) } : { dtype: 'float32', dims, data } };
  }

  /** Returns inputs from one of their frames on, with zeros behind them. */
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

/**
 * Reads how sound becomes the encoder's input.
 * @param input of the encoder, `[rows, mels, frames]`
 * @param handler its name, for messages
 * @param warn called with what the file says and what has no effect here
 * @throws `model-config` if the files say what cannot be done here, or what the encoder does not take; `model-format`
 */
export async function readSpeechInput(
  files: Files,
  input: TensorInfo,
  handler: string,
  warn: (message: string) => void,
): Promise<SpeechInput> {
  const [extractor, config] = await Promise.all([
    readJson(files, PREPROCESSOR, handler),
    readJson(files, HF_CONFIG, handler),
  ]);
  const {
    feature_extractor_type: type,
    feature_size: mels = 80,
    sampling_rate: sampleRate = 16_000,
    hop_length: hop = 160,
    chunk_length: window = 30,
    n_fft: frameLength = 400,
    padding_value: padding = 0,
    dither = 0,
  } = extractor;
  const wrong = (key: string, value: unknown, expected: string): TabServeError =>
    underivable(PREPROCESSOR, key, value, expected, 'Take the file of the model that was exported.');
  if (type !== undefined && type !== EXTRACTOR)
    throw wrong('feature_extractor_type', type, `${EXTRACTOR}: ${handler} makes no other features`);
  if (!isSize(mels)) throw wrong('feature_size', mels, 'how many mels the encoder takes');
  if (!isSampleRate(sampleRate)) throw wrong('sampling_rate', sampleRate, 'a whole number of samples per second');
  if (!Fourier.takes(frameLength as number) || (frameLength as number) % 2 > 0)
    throw wrong('n_fft', frameLength, 'an even number of samples whose prime factors are at most 64');
  if (!isSize(window)) throw wrong('chunk_length', window, 'whole seconds');
  if (!isSize(hop) || (window * sampleRate) % hop > 0)
    throw wrong('hop_length', hop, 'a number of samples that divides those of chunk_length');
  if (typeof padding !== 'number') throw wrong('padding_value', padding, 'a sample');
  const places = config['max_source_positions'] ?? 1500;
  const frames = (window * sampleRate) / hop;
  if (places !== frames / FRAMES_PER_PLACE)
    throw underivable(
      HF_CONFIG,
      'max_source_positions',
      places,
      `${frames / FRAMES_PER_PLACE}, one for each two frames of ${PREPROCESSOR}`,
      'The files are of two models.',
    );
  const wanted = [mels, frames];
  const { name, dims } = input;
  if (wanted.some((size, at) => typeof dims[at + 1] === 'number' && dims[at + 1] !== size))
    throw new TabServeError(
      'model-config',
      `The encoder's input "${name}" has the dims [${dims.map((size) => size ?? '?').join(', ')}], and ${PREPROCESSOR} makes ${mels} mels and ${frames} frames: they are of two models.`,
    );
  if (dither !== 0) warn(`${PREPROCESSOR}: dither adds noise to the sound in transformers, and has no effect here.`);
  const logMel = new LogMel({
    sampleRate,
    mels,
    frameLength: frameLength as number,
    hop,
    windowLength: window * sampleRate,
    padding,
  });
  return new SpeechInput(logMel, input);
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}
