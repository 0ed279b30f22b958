/** The kinds of features that encoders of sound hear, by the names of their classes in transformers. */
import { architectureOf, type Json } from '../../shared/hugging-face.js';
import { DecibelMel, repeated } from '../audio/decibel-mel.js';
import { FilterBank, type FrameWindow } from '../audio/filter-bank.js';
import { Fourier } from '../audio/fourier.js';
import { NEMO_MEL, NemoMel } from '../audio/nemo-mel.js';
import { zeroMeanUnitVariance } from '../audio/samples.js';
import { isSize, readLogMel, wrong } from './log-mel-config.js';
import { readConvolutions } from './speech-files.js';
import type { SoundFeatures } from './sound-features.js';

/** What makes a kind of features of the samples, by its name in transformers or transformers.js. */
export type Kind = (
  extractor: Json,
  given: Given,
) => Pick<SoundFeatures, 'leastSamples'> & {
  /** The sizes of the model's input after that of the batch; what depends on the recording has a name. */
  readonly axes: readonly (number | string)[];
  /** Samples for each frame, if there are frames of the whole recording. */
  readonly hop?: number;
  readonly of: (samples: Float32Array) => {
    readonly dims: readonly number[];
    readonly data: Float32Array;
    /** How many frames are not padding. Default: all. */
    readonly count?: number;
  };
};

export interface Given {
  readonly sampleRate: number;
  /** The parsed `config.json`. */
  readonly config: Json;
  readonly warn: (message: string) => void;
}

/** The samples themselves. */
export const SAMPLES = 'Wav2Vec2FeatureExtractor';
/** No class of transformers makes these. */
export const THREE_D_SPEAKER = '3D-Speaker';

/** What a sample of full scale is in 16 bits. */
const FULL_SCALE = 2 ** 15;

export const KINDS: Readonly<Record<string, Kind>> = {
  [SAMPLES]: ({ do_normalize: isNormalized = true }, { config }) => ({
    leastSamples: leastSamplesOf(config),
    axes: ['samples'],
    of: (samples) => ({
      dims: [samples.length],
      data: isNormalized === false ? samples : zeroMeanUnitVariance(samples),
    }),
  }),
  /** Hears the beginning of a recording that is longer than the window. */
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
  /** Hears the beginning of a recording that is longer than the window; transformers takes a part at random. */
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
  /** Joins every two frames of Kaldi's filter bank to one, as Wav2Vec2-BERT hears them. */
  SeamlessM4TFeatureExtractor(extractor, { sampleRate, config }) {
    const { num_mel_bins: mels = 80, stride = 2, padding_value: padding = 0 } = extractor;
    if (!isSize(mels) || mels > MAX_MELS) throw wrong('num_mel_bins', mels, `a whole number up to ${MAX_MELS}`);
    if (stride !== 2) throw wrong('stride', stride, '2');
    if (typeof padding !== 'number') throw wrong('padding_value', padding, 'a number');
    const bank = new FilterBank(sampleRate, mels, 'povey');
    return {
      leastSamples: bank.frameLength + bank.hop * (1 + 2 * vectorFrames(config)),
      hop: 2 * bank.hop,
      axes: ['frames', 2 * mels],
      of(samples) {
        const features = bank.features(samples.map((value) => value * FULL_SCALE));
        const frames = features.length / mels;
        const data = new Float32Array(Math.ceil(frames / 2) * 2 * mels).fill(padding);
        data.set(normalized(features, mels));
        return { dims: [data.length / (2 * mels), 2 * mels], data, count: Math.floor(frames / 2) };
      },
    };
  },
  ParakeetFeatureExtractor(extractor, { sampleRate }) {
    const {
      feature_size: mels = 80,
      hop_length: hop = NEMO_MEL.hop,
      n_fft: fftLength = NEMO_MEL.fftLength,
      win_length: frameLength = NEMO_MEL.frameLength,
      preemphasis = NEMO_MEL.preemphasis,
    } = extractor;
    if (!isSize(mels) || mels > MAX_MELS) throw wrong('feature_size', mels, `a whole number up to ${MAX_MELS}`);
    if (!isSize(hop)) throw wrong('hop_length', hop, 'a number of samples');
    if (!isSize(fftLength) || fftLength > MAX_FRAME || !Fourier.takes(fftLength) || fftLength % 2 > 0)
      throw wrong('n_fft', fftLength, `an even number up to ${MAX_FRAME} whose prime factors are at most 64`);
    if (!isSize(frameLength) || frameLength > fftLength || frameLength % 2 > 0)
      throw wrong('win_length', frameLength, 'an even number up to n_fft');
    if (typeof preemphasis !== 'number') throw wrong('preemphasis', preemphasis, 'a number');
    const bank = new NemoMel({ sampleRate, mels, fftLength, frameLength, hop, preemphasis });
    return {
      leastSamples: bank.leastSamples,
      hop,
      axes: ['frames', mels],
      of(samples) {
        const data = bank.features(samples);
        return { dims: [data.length / mels, mels], data, count: bank.framesOf(samples) };
      },
    };
  },
  WeSpeakerFeatureExtractor: filterBank('hamming', FULL_SCALE),
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

/** Returns the fewest samples of a recording: those of one frame, or of as many as an x-vector is made of. */
function leastSamplesOf(config: Json): number {
  const convolutions = readConvolutions(config);
  return convolutions ? convolutions.leastSamples + vectorFrames(config) * convolutions.ratio : 1;
}

/** Returns how many frames more than one an x-vector needs; 0 for another model. */
function vectorFrames(config: Json): number {
  const { tdnn_kernel: kernels, tdnn_dilation: dilations } = config;
  const isVector = architectureOf(config)?.endsWith('ForXVector') && Array.isArray(kernels) && Array.isArray(dilations);
  if (!isVector) return 0;
  // Its layers see this many frames together, and a single result would have no deviation.
  return kernels.reduce((sum: number, kernel, at) => sum + (Number(kernel) - 1) * Number(dilations[at]), 1);
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

/** Returns features of which each mel has mean 0 and variance 1. */
function normalized(features: Float32Array, mels: number): Float32Array {
  const frames = features.length / mels;
  const result = features.slice();
  subtractMeans(result, mels);
  for (let mel = 0; mel < mels; mel++) {
    let squares = 0;
    for (let at = mel; at < result.length; at += mels) squares += result[at]! ** 2;
    const deviation = Math.sqrt(squares / (frames - 1) + 1e-7);
    for (let at = mel; at < result.length; at += mels) result[at]! /= deviation;
  }
  return result;
}

/** Limits on what a file may ask for. */
const MAX_MELS = 1024;
const MAX_FRAMES = 100_000;
const MAX_FRAME = 65_536;
const MAX_SECONDS = 600;
