/** The log-mel spectrogram that Granite Speech hears, as transformers' `GraniteSpeechFeatureExtractor` computes it. */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers, mirrorEdges } from './mel-powers.js';

export interface GraniteMelOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly mels: number;
  /** The size of the Fourier transform, in whose middle a frame is. */
  readonly fftLength: number;
  /** Samples of a frame. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
}

/** Power that counts as none. */
const FLOOR = 1e-10;
/** What is quieter than the loudest by this many powers of ten is raised to it. */
const RANGE = 8;

/** Computes spectrograms of recordings. */
export class GraniteMel {
  readonly options: GraniteMelOptions;
  readonly #powers: MelPowers;
  readonly #taper: Float64Array;

  constructor(options: GraniteMelOptions) {
    const { sampleRate, mels, fftLength, frameLength } = options;
    this.options = options;
    this.#taper = hann(frameLength, true);
    const filters = melFilters({
      sampleRate,
      fftLength,
      mels,
      lowest: 0,
      highest: Math.floor(sampleRate / 2),
      scale: 'htk',
      equal: 'height',
    });
    this.#powers = new MelPowers(fftLength, filters);
  }

  /** Samples of the shortest recording: its edges are mirrored. */
  get leastSamples(): number {
    return this.options.fftLength / 2 + 1;
  }

  /** Returns the spectrogram of a recording, `[frames, mels]`: log₁₀(power) / 4 + 1. */
  spectrogram(samples: Float32Array): Float32Array {
    const { mels, hop, fftLength, frameLength } = this.options;
    const frames = Math.floor(samples.length / hop) + 1;
    const edge = fftLength / 2;
    const sound = new Float64Array(samples.length + fftLength);
    sound.set(samples, edge);
    mirrorEdges(sound, edge);
    const offset = (fftLength - frameLength) / 2;
    const values = new Float64Array(frames * mels);
    let most = -Infinity;
    this.#powers.run(
      frames,
      (frame, into) => {
        for (let at = 0; at < frameLength; at++)
          into[offset + at] = sound[frame * hop + offset + at]! * this.#taper[at]!;
      },
      (frame, powers) => {
        for (let mel = 0; mel < mels; mel++) {
          const value = Math.log10(Math.max(FLOOR, powers[mel]!));
          values[frame * mels + mel] = value;
          if (value > most) most = value;
        }
      },
    );
    return Float32Array.from(values, (value) => Math.max(value, most - RANGE) / 4 + 1);
  }
}
