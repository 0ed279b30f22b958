/** The log-mel spectrogram that Gemma 4 hears, as transformers' `Gemma4AudioFeatureExtractor` computes it. */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers } from './mel-powers.js';

export interface Gemma4MelOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly mels: number;
  /** The size of the Fourier transform, at whose beginning a frame is. */
  readonly fftLength: number;
  /** Samples of a frame. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** Where the first filter begins and the last one ends, in Hz. */
  readonly lowest: number;
  readonly highest: number;
  /** What is added to a mel before its logarithm. */
  readonly floor: number;
}

/** Computes spectrograms of recordings. */
export class Gemma4Mel {
  readonly options: Gemma4MelOptions;
  readonly #powers: MelPowers;
  readonly #taper: Float64Array;

  constructor(options: Gemma4MelOptions) {
    this.options = options;
    this.#taper = hann(options.frameLength, true);
    // Magnitudes are summed, and not their squares.
    this.#powers = new MelPowers(options.fftLength, melFilters({ ...options, scale: 'htk', equal: 'height' }), 1);
  }

  /** Samples of the shortest recording, which is one frame. */
  get leastSamples(): number {
    return this.options.frameLength / 2 + 1;
  }

  /**
   * Returns how many frames a recording has. The first one begins half a frame before it, and the last one ends at least a
   * sample before its end.
   */
  framesOf(length: number): number {
    return Math.floor((length - this.leastSamples) / this.options.hop) + 1;
  }

  /** Returns the spectrogram of a recording, `[frames, mels]`: ln(magnitude + floor). */
  spectrogram(samples: Float32Array): Float32Array {
    const { mels, hop, frameLength, floor } = this.options;
    const frames = this.framesOf(samples.length);
    const values = new Float32Array(frames * mels);
    this.#powers.run(
      frames,
      (frame, into) => {
        const start = frame * hop - frameLength / 2;
        for (let at = 0; at < frameLength; at++) into[at] = (samples[start + at] ?? 0) * this.#taper[at]!;
      },
      (frame, magnitudes) => {
        for (let mel = 0; mel < mels; mel++) values[frame * mels + mel] = Math.log(magnitudes[mel]! + floor);
      },
    );
    return values;
  }
}
