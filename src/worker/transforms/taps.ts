/**
 * Computes taps: the input pixels of each output pixel, with their weights. They are one direction of Pillow's
 * antialiased resampling.
 * @see https://github.com/python-pillow/Pillow/blob/main/src/libImaging/Resample.c
 */

/** The filters that need taps; `nearest` does not. */
export type FilterName = 'box' | 'bilinear' | 'hamming' | 'bicubic' | 'lanczos';

/**
 * A filter reaches `support` pixels to each side. When an image shrinks, the filter is stretched by the scale: that is
 * the antialiasing.
 */
interface Filter {
  readonly support: number;
  weight(x: number): number;
}

const FILTERS: Readonly<Record<FilterName, Filter>> = {
  box: { support: 0.5, weight: (x) => (-0.5 < x && x <= 0.5 ? 1 : 0) },
  bilinear: { support: 1, weight: (x) => Math.max(0, 1 - Math.abs(x)) },
  hamming: { support: 1, weight: (x) => hamming(Math.abs(x)) },
  bicubic: { support: 2, weight: (x) => cubic(Math.abs(x)) },
  lanczos: { support: 3, weight: (x) => (-3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0) },
};

/** Computes Keys' cubic with a = -0.5. The order of the operations matters for the last bit. */
function cubic(x: number): number {
  if (x < 1) return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * -0.5 : 0;
}

/** Computes Pillow's Hamming window of a sinc; 0.54 and 0.46 are float32 numbers there. */
function hamming(x: number): number {
  if (x === 0) return 1;
  if (x >= 1) return 0;
  const angle = x * Math.PI;
  return (Math.sin(angle) / angle) * (Math.fround(0.54) + Math.fround(0.46) * Math.cos(angle));
}

function sinc(x: number): number {
  return x === 0 ? 1 : Math.sin(x * Math.PI) / (x * Math.PI);
}

/** Weights are integers in units of 2^-22: 8 bits of pixel, 2 bits of headroom and 22 bits of weight are 32 bits. */
export const PRECISION_BITS = 22;

/**
 * The taps of some of the outputs. Output `first + i` is the sum of inputs `starts[i] … starts[i] + counts[i] - 1`,
 * times the weights from `weights[i * stride]` on, which are padded with zeros.
 */
export interface Taps {
  /** The first output. */
  readonly first: number;
  readonly starts: Int32Array;
  readonly counts: Int32Array;
  readonly weights: Int32Array;
  /** The number of weights stored for each output, a multiple of 4. */
  readonly stride: number;
}

/**
 * Computes the taps for `length` outputs from `first` on, of a resize of `input` pixels to `output` pixels; all but
 * `first` are positive. As in Pillow, the weights are computed in double precision, normalized to a sum of 1, and
 * rounded to 22 bits, a half away from zero.
 */
export function computeTaps(input: number, output: number, name: FilterName, first: number, length: number): Taps {
  const filter = FILTERS[name];
  const scale = input / output;
  const stretch = Math.max(1, scale);
  const support = filter.support * stretch;
  const inverse = 1 / stretch;
  const stride = (Math.min(input, Math.ceil(support) * 2 + 1) + 3) & ~3;
  const starts = new Int32Array(length);
  const counts = new Int32Array(length);
  const weights = new Int32Array(length * stride);
  const exact = new Float64Array(stride);
  for (let i = 0; i < length; i++) {
    const center = (first + i + 0.5) * scale;
    const start = Math.max(0, Math.trunc(center - support + 0.5));
    const count = Math.min(input, Math.trunc(center + support + 0.5)) - start;
    let sum = 0;
    for (let t = 0; t < count; t++) sum += exact[t] = filter.weight((t + start - center + 0.5) * inverse);
    for (let t = 0; t < count; t++) {
      const weight = (sum === 0 ? exact[t]! : exact[t]! / sum) * 2 ** PRECISION_BITS;
      weights[i * stride + t] = Math.trunc(weight < 0 ? weight - 0.5 : weight + 0.5);
    }
    starts[i] = start;
    counts[i] = count;
  }
  return { first, starts, counts, weights, stride };
}

/**
 * Computes the input pixel of each of `length` output pixels from `first` on, of a nearest-neighbor resize: the one
 * under the output's center. Pillow adds the scale once per pixel, with a rounding error each time, so a multiplication
 * would give other results.
 */
export function nearestIndices(input: number, output: number, first: number, length: number): Int32Array {
  const scale = input / output;
  const indices = new Int32Array(length);
  let position = scale * 0.5;
  for (let i = 0; i < first; i++) position += scale;
  for (let i = 0; i < length; i++, position += scale) indices[i] = Math.min(input - 1, Math.trunc(position));
  return indices;
}

/**
 * Returns the inputs that outputs `from … from + length - 1` depend on, as a half-open interval; `length` is positive.
 */
export function tapsSpan(taps: Taps, from: number, length: number): readonly [start: number, end: number] {
  const start = from - taps.first;
  const last = start + length - 1;
  return [taps.starts[start]!, taps.starts[last]! + taps.counts[last]!];
}
