/**
 * Kaldi's filter bank features, as `torchaudio.compliance.kaldi` computes them without dither: the logarithms of mels'
 * powers.
 */
import { melFilters } from './mel-filters.js';
import { hann, MelPowers } from './mel-powers.js';

/** What fades a frame's edges out: Povey's window is Kaldi's own. */
export type FrameWindow = 'hann' | 'hamming' | 'povey';

const POVEY_POWER = 0.85;
const HAMMING = { middle: 0.54, edge: 0.46 };

/** Milliseconds of a frame, and from one frame to the next. */
const FRAME_MS = 25;
const HOP_MS = 10;
/** The first filter begins here, in Hz; the last one ends at half of the sample rate. */
const LOWEST = 20;
const PREEMPHASIS = 0.97;
/** float32's epsilon: power that counts as none. */
const FLOOR = 2 ** -23;

/** Computes features of recordings. */
export class FilterBank {
  readonly mels: number;
  /** Samples of a frame: a shorter recording has none. */
  readonly frameLength: number;
  /** Samples from one frame to the next. */
  readonly hop: number;
  readonly #taper: Float64Array;
  readonly #powers: MelPowers;

  /** @param sampleRate samples per second */
  constructor(sampleRate: number, mels: number, window: FrameWindow = 'hann') {
    this.mels = mels;
    this.frameLength = Math.floor((sampleRate * FRAME_MS) / 1000);
    this.hop = Math.floor((sampleRate * HOP_MS) / 1000);
    const fftLength = 2 ** Math.ceil(Math.log2(this.frameLength));
    this.#taper = taperOf(window, this.frameLength);
    const filters = melFilters({
      sampleRate,
      fftLength,
      mels,
      lowest: LOWEST,
      highest: Math.floor(sampleRate / 2),
      scale: 'kaldi',
      equal: 'height',
      isStraightInMels: true,
    });
    this.#powers = new MelPowers(fftLength, filters);
  }

  /** Returns the features, `[frames, mels]`. @param most frames: later ones are not computed */
  features(samples: Float32Array, most = Infinity): Float32Array {
    const { mels, frameLength } = this;
    const frames = Math.min(most, Math.max(0, 1 + Math.floor((samples.length - frameLength) / this.hop)));
    const features = new Float32Array(frames * mels);
    this.#powers.run(
      frames,
      (frame, into) => this.#read(samples, frame * this.hop, into),
      (frame, powers) => {
        for (let mel = 0; mel < mels; mel++) features[frame * mels + mel] = Math.log(Math.max(FLOOR, powers[mel]!));
      },
    );
    return features;
  }

  /** Reads a frame: its mean is subtracted, and its high frequencies are raised. */
  #read(samples: Float32Array, start: number, into: Float64Array): void {
    const { frameLength } = this;
    let sum = 0;
    for (let at = 0; at < frameLength; at++) sum += samples[start + at]!;
    const mean = sum / frameLength;
    let before = samples[start]! - mean;
    for (let at = 0; at < frameLength; at++) {
      const own = samples[start + at]! - mean;
      into[at] = (own - PREEMPHASIS * before) * this.#taper[at]!;
      before = own;
    }
  }
}

function taperOf(window: FrameWindow, length: number): Float64Array {
  const taper = hann(length, false);
  if (window === 'povey') return taper.map((value) => value ** POVEY_POWER);
  // Hann's is 0.5 − 0.5 · cos.
  return window === 'hamming' ? taper.map((value) => HAMMING.middle + HAMMING.edge * (2 * value - 1)) : taper;
}
