/**
 * The features of NeMo's speech recognizers, as its `AudioToMelSpectrogramPreprocessor` and transformers'
 * `ParakeetFeatureExtractor` compute them: the logarithms of mels' powers, each mel with mean 0 and variance 1.
 */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers } from './mel-powers.js';

export interface NemoMelOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly mels: number;
  /** The size of the Fourier transform, in whose middle a frame is. */
  readonly fftLength: number;
  /** Samples of a frame. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** How much of the sample before is subtracted from each. */
  readonly preemphasis: number;
}

/** What NeMo's published models have. */
export const NEMO_MEL = { fftLength: 512, frameLength: 400, hop: 160, preemphasis: 0.97 } as const;

/** It is added to each power. */
const FLOOR = 2 ** -24;
/** Is added to each deviation, so that silence is not divided by zero. */
const DEVIATION_OFFSET = 1e-5;

/** Computes features of recordings. */
export class NemoMel {
  readonly #options: NemoMelOptions;
  readonly #taper: Float64Array;
  readonly #powers: MelPowers;

  constructor(options: NemoMelOptions) {
    const { sampleRate, mels, fftLength, frameLength } = options;
    this.#options = options;
    this.#taper = hann(frameLength, false);
    const filters = melFilters({
      sampleRate,
      fftLength,
      mels,
      lowest: 0,
      highest: sampleRate / 2,
      scale: 'slaney',
      equal: 'area',
    });
    this.#powers = new MelPowers(fftLength, filters);
  }

  /** Samples of the shortest recording: two frames, because one has no deviation. */
  get leastSamples(): number {
    return 2 * this.#options.hop;
  }

  /** Returns how many frames a recording has. */
  framesOf(samples: Float32Array): number {
    return Math.floor(samples.length / this.#options.hop);
  }

  /** Returns the features, `[frames + 1, mels]`: the last frame is padding. */
  features(samples: Float32Array): Float32Array {
    const { mels, hop, fftLength, frameLength } = this.#options;
    const frames = this.framesOf(samples);
    const features = new Float64Array(frames * mels);
    this.#powers.run(
      frames,
      (frame, into) => this.#read(samples, frame * hop - frameLength / 2, into, (fftLength - frameLength) / 2),
      (frame, powers) => {
        for (let mel = 0; mel < mels; mel++) features[frame * mels + mel] = Math.log(powers[mel]! + FLOOR);
      },
    );
    const normalized = new Float32Array((frames + 1) * mels);
    for (let mel = 0; mel < mels; mel++) {
      let sum = 0;
      for (let at = mel; at < features.length; at += mels) sum += features[at]!;
      const mean = sum / frames;
      let squares = 0;
      for (let at = mel; at < features.length; at += mels) squares += (features[at]! - mean) ** 2;
      const deviation = Math.sqrt(squares / (frames - 1)) + DEVIATION_OFFSET;
      for (let at = mel; at < features.length; at += mels) normalized[at] = (features[at]! - mean) / deviation;
    }
    return normalized;
  }

  /** Reads a frame: there is silence before the recording and after it. */
  #read(samples: Float32Array, start: number, into: Float64Array, offset: number): void {
    const { frameLength, preemphasis } = this.#options;
    for (let at = 0; at < frameLength; at++) {
      const index = start + at;
      const isInside = index >= 0 && index < samples.length;
      const own = isInside ? samples[index]! - preemphasis * (samples[index - 1] ?? 0) : 0;
      into[offset + at] = own * this.#taper[at]!;
    }
  }
}
