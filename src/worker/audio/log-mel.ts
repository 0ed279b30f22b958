/** The log-mel spectrogram that Whisper hears, as transformers' `WhisperFeatureExtractor` computes it. */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers, mirrorEdges } from './mel-powers.js';

export interface LogMelOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  /** How many mels: 80, or 128. */
  readonly mels: number;
  /** Samples of a frame: the size of its Fourier transform. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  /** Samples of a window: shorter sound is padded to it. A multiple of `hop`. */
  readonly windowLength: number;
  /** The sample that pads. */
  readonly padding: number;
}

/** Power that counts as none. */
const FLOOR = 1e-10;
/** Whisper's filters end here, whatever the sample rate is. In Hz. */
const MAX_HZ = 8000;
/** What is quieter than the loudest by this many powers of ten is raised to it. */
const RANGE = 8;

/** Computes spectrograms of windows of sound. */
export class LogMel {
  readonly options: LogMelOptions;
  readonly #powers: MelPowers;
  readonly #taper: Float64Array;

  constructor(options: LogMelOptions) {
    const { sampleRate, mels, frameLength } = options;
    this.options = options;
    this.#taper = hann(frameLength, true);
    const filters = melFilters({
      sampleRate,
      fftLength: frameLength,
      mels,
      lowest: 0,
      highest: MAX_HZ,
      scale: 'slaney',
      equal: 'area',
    });
    this.#powers = new MelPowers(frameLength, filters);
  }

  /** Frames of a window. */
  get frames(): number {
    return this.options.windowLength / this.options.hop;
  }

  /**
   * Returns the spectrogram of a window, `[mels, frames]`: (log₁₀(power) + 4) / 4, where what is more than eight powers
   * of ten below the loudest is raised to that.
   * @param samples at most a window's
   */
  spectrogram(samples: Float32Array, windowLength = this.options.windowLength): Float32Array {
    const { hop, mels } = this.options;
    const frames = Math.floor(windowLength / hop);
    const sound = this.#padded(samples, windowLength);
    const values = new Float64Array(mels * frames).fill(Math.log10(FLOOR));
    this.#powers.run(
      Math.min(frames, this.#soundingFrames(samples.length, windowLength)),
      (frame, into) => this.#read(sound, frame * hop, into),
      (frame, powers) => {
        for (let mel = 0; mel < mels; mel++) values[mel * frames + frame] = Math.log10(Math.max(FLOOR, powers[mel]!));
      },
    );
    const least = values.reduce((most, value) => Math.max(most, value), -Infinity) - RANGE;
    return Float32Array.from(values, (value) => (Math.max(value, least) + 4) / 4);
  }

  /** Returns how many frames are computed; all later ones contain only zeros. */
  #soundingFrames(length: number, windowLength: number): number {
    const { frameLength, hop, padding } = this.options;
    const edge = frameLength / 2;
    return padding === 0 && length < windowLength - edge ? Math.ceil((edge + length) / hop) : Infinity;
  }

  /** Returns the samples of a window, with half a frame more on both sides, in which its edges are mirrored. */
  #padded(samples: Float32Array, windowLength: number): Float64Array {
    const { frameLength, padding } = this.options;
    const edge = frameLength / 2;
    const sound = new Float64Array(windowLength + frameLength).fill(padding);
    sound.set(samples, edge);
    mirrorEdges(sound, edge);
    return sound;
  }

  #read(sound: Float64Array, start: number, frame: Float64Array): void {
    for (let at = 0; at < frame.length; at++) frame[at] = (sound[start + at] ?? 0) * this.#taper[at]!;
  }
}
