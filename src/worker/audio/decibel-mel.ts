/** The spectrogram that CLAP hears, as transformers' `ClapFeatureExtractor` computes it: the decibels of mels' powers. */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers, mirrorEdges } from './mel-powers.js';

export interface DecibelMelOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  readonly mels: number;
  /** Samples of a frame: the size of its Fourier transform. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** Samples of a window. */
  readonly windowLength: number;
  /** Where the first filter begins and the last one ends, in Hz. */
  readonly lowest: number;
  readonly highest: number;
}

/** Power that counts as none. */
const FLOOR = 1e-10;

/** Computes spectrograms of windows of sound. */
export class DecibelMel {
  readonly options: DecibelMelOptions;
  readonly #powers: MelPowers;
  readonly #taper: Float64Array;

  constructor(options: DecibelMelOptions) {
    this.options = options;
    const { frameLength: fftLength, ...filters } = options;
    this.#taper = hann(fftLength, true);
    this.#powers = new MelPowers(fftLength, melFilters({ ...filters, fftLength, scale: 'slaney', equal: 'area' }));
  }

  /** Frames of a window. */
  get frames(): number {
    return 1 + Math.floor(this.options.windowLength / this.options.hop);
  }

  /** Returns the spectrogram, `[frames, mels]`. @param samples a window's */
  spectrogram(samples: Float32Array): Float32Array {
    const { frameLength, hop, mels } = this.options;
    const edge = frameLength / 2;
    const sound = new Float64Array(samples.length + frameLength);
    sound.set(samples, edge);
    mirrorEdges(sound, edge);
    const values = new Float32Array(this.frames * mels);
    this.#powers.run(
      this.frames,
      (frame, into) => {
        for (let at = 0; at < frameLength; at++) into[at] = sound[frame * hop + at]! * this.#taper[at]!;
      },
      (frame, powers) => {
        for (let mel = 0; mel < mels; mel++)
          values[frame * mels + mel] = 10 * Math.log10(Math.max(FLOOR, powers[mel]!));
      },
    );
    return values;
  }
}

/**
 * Returns a window of a recording: of a longer one its beginning, a shorter one again and again, with silence after the
 * last whole time.
 * @param isWhole whether the last time is cut off at the window's end instead
 */
export function repeated(samples: Float32Array, length: number, isWhole: boolean): Float32Array {
  const window = new Float32Array(length);
  for (let at = 0; at < length; at += samples.length) {
    if (at > 0 && at + samples.length > length && !isWhole) break;
    window.set(samples.subarray(0, length - at), at);
  }
  return window;
}
