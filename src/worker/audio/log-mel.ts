/** The log-mel spectrogram that Whisper hears, as transformers' `WhisperFeatureExtractor` computes it. */
import { Fourier } from './fourier.js';

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

/** A filter: how much of each frequency belongs to a mel, from the first one that does. */
interface MelFilter {
  readonly first: number;
  readonly weights: Float64Array;
}

/** Power that counts as none. */
const FLOOR = 1e-10;
/** Whisper's filters end here, whatever the sample rate is. In Hz. */
const MAX_HZ = 8000;
/** What is quieter than the loudest by so many powers of ten is raised to it. */
const RANGE = 8;

/** Computes spectrograms of windows of sound. */
export class LogMel {
  readonly options: LogMelOptions;
  readonly #fourier: Fourier;
  readonly #taper: Float64Array;
  readonly #filters: readonly MelFilter[];

  constructor(options: LogMelOptions) {
    const { frameLength } = options;
    this.options = options;
    this.#fourier = new Fourier(frameLength);
    // Hann's window, periodic.
    this.#taper = Float64Array.from(
      { length: frameLength },
      (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / frameLength),
    );
    this.#filters = melFilters(options);
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
  spectrogram(samples: Float32Array): Float32Array {
    const { frameLength, hop, mels } = this.options;
    const { frames } = this;
    const sound = this.#padded(samples);
    const values = new Float64Array(mels * frames).fill(Math.log10(FLOOR));
    const [real, imaginary] = [new Float64Array(frameLength), new Float64Array(frameLength)];
    const power = new Float64Array(frameLength / 2 + 1);
    // Two frames at once: one as real numbers, the other as imaginary ones.
    for (let frame = 0; frame < this.#soundingFrames(samples.length); frame += 2) {
      this.#read(sound, frame * hop, real);
      this.#read(sound, (frame + 1) * hop, imaginary);
      this.#fourier.transform(real, imaginary);
      for (const sign of frame + 1 < frames ? [1, -1] : [1]) {
        for (let bin = 0; bin < power.length; bin++) {
          const mirror = (frameLength - bin) % frameLength;
          const a = real[bin]! + sign * real[mirror]!;
          const b = imaginary[bin]! - sign * imaginary[mirror]!;
          power[bin] = (a * a + b * b) / 4;
        }
        const column = sign === 1 ? frame : frame + 1;
        for (const [mel, { first, weights }] of this.#filters.entries()) {
          let sum = 0;
          for (let at = 0; at < weights.length; at++) sum += weights[at]! * power[first + at]!;
          values[mel * frames + column] = Math.log10(Math.max(FLOOR, sum));
        }
      }
    }
    const least = values.reduce((most, value) => Math.max(most, value), -Infinity) - RANGE;
    return Float32Array.from(values, (value) => (Math.max(value, least) + 4) / 4);
  }

  /** Returns how many frames are computed; all later ones contain only zeros. */
  #soundingFrames(length: number): number {
    const { frameLength, hop, windowLength, padding } = this.options;
    const edge = frameLength / 2;
    return padding === 0 && length < windowLength - edge ? Math.ceil((edge + length) / hop) : this.frames;
  }

  /** Returns the samples of a window, with half a frame more on both sides, in which its edges are mirrored. */
  #padded(samples: Float32Array): Float64Array {
    const { frameLength, windowLength, padding } = this.options;
    const edge = frameLength / 2;
    const sound = new Float64Array(windowLength + frameLength).fill(padding);
    sound.set(samples, edge);
    const last = edge + windowLength - 1;
    for (let at = 1; at <= edge; at++) {
      sound[edge - at] = sound[edge + at]!;
      sound[last + at] = sound[last - at]!;
    }
    return sound;
  }

  #read(sound: Float64Array, start: number, frame: Float64Array): void {
    for (let at = 0; at < frame.length; at++) frame[at] = (sound[start + at] ?? 0) * this.#taper[at]!;
  }
}

/** Returns triangles of equal area on Slaney's mel scale, as `mel_filter_bank` of transformers with `norm="slaney"`. */
function melFilters({ sampleRate, mels, frameLength }: LogMelOptions): readonly MelFilter[] {
  const bins = frameLength / 2 + 1;
  const highest = toMel(MAX_HZ);
  const corners = Array.from({ length: mels + 2 }, (_, at) => toHertz((highest * at) / (mels + 1)));
  const frequencies = Array.from({ length: bins }, (_, at) => (Math.floor(sampleRate / 2) * at) / (bins - 1));
  return Array.from({ length: mels }, (_, mel) => {
    const [low, middle, high] = corners.slice(mel, mel + 3) as [number, number, number];
    const weights = frequencies.map((frequency) => {
      const [up, down] = [(frequency - low) / (middle - low), (high - frequency) / (high - middle)];
      return (Math.max(0, Math.min(up, down)) * 2) / (high - low);
    });
    const first = weights.findIndex((weight) => weight > 0);
    const end = weights.findLastIndex((weight) => weight > 0) + 1;
    return { first: Math.max(0, first), weights: Float64Array.from(weights.slice(Math.max(0, first), end)) };
  });
}

/** Above 1000 Hz, the scale is logarithmic. */
const STEP = Math.log(6.4) / 27;

function toMel(hertz: number): number {
  return hertz < 1000 ? (3 * hertz) / 200 : 15 + Math.log(hertz / 1000) / STEP;
}

function toHertz(mel: number): number {
  return mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((mel - 15) * STEP);
}
