/** Filters that sum the power of frequencies by mel, as `mel_filter_bank` of transformers makes them. */

/** A filter: how much of each frequency belongs to a mel, from the first one that does. */
export interface MelFilter {
  readonly first: number;
  readonly weights: Float64Array;
}

/** How hertz become mels: Slaney's scale is a straight line up to 1000 Hz, the others are logarithmic. */
export type MelScale = 'slaney' | 'htk' | 'kaldi';

export interface MelFilterOptions {
  /** Samples per second. */
  readonly sampleRate: number;
  /** The size of the Fourier transform. */
  readonly fftLength: number;
  /** How many filters. */
  readonly mels: number;
  /** Where the first filter begins and the last one ends, in Hz. */
  readonly lowest: number;
  readonly highest: number;
  readonly scale: MelScale;
  /** `area`: every triangle has the same area; `height`: the same height. */
  readonly equal: 'area' | 'height';
  /** Whether the triangles' sides are straight over mels, and not over hertz. */
  readonly isStraightInMels?: boolean;
}

/** Returns a triangle for each mel. */
export function melFilters(options: MelFilterOptions): readonly MelFilter[] {
  const { sampleRate, fftLength, mels, scale, isStraightInMels = false } = options;
  const [lowest, highest] = [toMel(options.lowest, scale), toMel(options.highest, scale)];
  const corners = Array.from({ length: mels + 2 }, (_, at) => {
    const mel = lowest + ((highest - lowest) * at) / (mels + 1);
    return isStraightInMels ? mel : toHertz(mel, scale);
  });
  const frequencies = Array.from({ length: fftLength / 2 + 1 }, (_, at) => {
    const hertz = (Math.floor(sampleRate / 2) * at) / (fftLength / 2);
    return isStraightInMels ? toMel(hertz, scale) : hertz;
  });
  return Array.from({ length: mels }, (_, mel) => {
    const [low, middle, high] = corners.slice(mel, mel + 3) as [number, number, number];
    const factor = options.equal === 'area' ? 2 / (high - low) : 1;
    const weights = frequencies.map((frequency) => {
      const [up, down] = [(frequency - low) / (middle - low), (high - frequency) / (high - middle)];
      return Math.max(0, Math.min(up, down)) * factor;
    });
    const first = weights.findIndex((weight) => weight > 0);
    const end = weights.findLastIndex((weight) => weight > 0) + 1;
    return { first: Math.max(0, first), weights: Float64Array.from(weights.slice(Math.max(0, first), end)) };
  });
}

/** Slaney's: above 1000 Hz, it is logarithmic. */
const STEP = Math.log(6.4) / 27;
/** Mels for each factor of e, above 700 Hz. */
const FACTORS = { htk: 2595 / Math.LN10, kaldi: 1127 } as const;

function toMel(hertz: number, scale: MelScale): number {
  if (scale !== 'slaney') return FACTORS[scale] * Math.log(1 + hertz / 700);
  return hertz < 1000 ? (3 * hertz) / 200 : 15 + Math.log(hertz / 1000) / STEP;
}

function toHertz(mel: number, scale: MelScale): number {
  if (scale !== 'slaney') return 700 * (Math.exp(mel / FACTORS[scale]) - 1);
  return mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp((mel - 15) * STEP);
}
