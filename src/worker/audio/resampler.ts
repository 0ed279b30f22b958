import type { OnArrayBuffer } from '../../contract/tensors.js';

/**
 * Zero crossings of the sinc on each side, and the cutoff as a part of the lower rate's Nyquist frequency: the defaults
 * of torchaudio.
 */
const WIDTH = 6;
const ROLLOFF = 0.99;

/** What a resampler needs to go on where it stopped, as plain data. */
export interface ResamplerState {
  /** The last samples, which later results need too. */
  readonly tail: Float32Array;
  /** Number of samples so far: in, and out. */
  readonly received: number;
  readonly made: number;
}

const START: ResamplerState = { tail: new Float32Array(0), received: 0, made: 0 };

/**
 * Changes the sample rate of one channel, all at once or in pieces: the result is the same. It is the filter of
 * `torchaudio.transforms.Resample` with its defaults, a sinc with a Hann window
 * (https://docs.pytorch.org/audio/stable/generated/torchaudio.transforms.Resample.html). With the rates reduced to `a`
 * and `b`, and `c = 0.99 · min(a, b)`:
 *
 * `y[n] = c/a · Σ x[k] · sinc(t) · cos²(πt/12)`, `t = c · (k/a − n/b)`, over all k with |t| < 6; samples before the
 * first and after the last are 0.
 */
export class Resampler {
  readonly #filter: Filter;
  #tail: Float32Array;
  #received: number;
  #made: number;

  /** @param state of another resampler with the same rates, which this one continues */
  constructor(from: number, to: number, { tail, received, made }: ResamplerState = START) {
    this.#filter = filterOf(from, to);
    this.#tail = tail;
    this.#received = received;
    this.#made = made;
  }

  get state(): ResamplerState {
    return { tail: this.#tail, received: this.#received, made: this.#made };
  }

  /**
   * Takes samples. Returns the results for which no later sample is needed: it lags behind by at most six samples of
   * the lower rate.
   */
  push(samples: Float32Array): OnArrayBuffer<Float32Array> {
    const { from, to, reach } = this.#filter;
    const received = this.#received + samples.length;
    const made = Math.max(this.#made, Math.ceil(((received - reach) * to) / from));
    return this.#make(samples, received, made);
  }

  /** Ends the recording. Returns the last results: together they are ⌈samples · to / from⌉. */
  flush(): OnArrayBuffer<Float32Array> {
    const { from, to, reach } = this.#filter;
    return this.#make(new Float32Array(reach), this.#received, Math.ceil((this.#received * to) / from));
  }

  #make(samples: Float32Array, received: number, made: number): OnArrayBuffer<Float32Array> {
    const { from, to, reach } = this.#filter;
    const first = this.#received - this.#tail.length;
    const input = new Float32Array(this.#tail.length + samples.length);
    input.set(this.#tail);
    input.set(samples, this.#tail.length);
    const output = new Float32Array(made - this.#made);
    for (let index = 0; index < output.length; index++) {
      const position = (this.#made + index) * from;
      const taps = this.#filter.taps(position % to);
      const start = Math.floor(position / to) - reach + 1 - first;
      let sum = 0;
      for (let tap = Math.max(0, -start); tap < taps.length; tap++) sum += taps[tap]! * input[start + tap]!;
      output[index] = sum;
    }
    this.#received = received;
    this.#made = made;
    const needed = Math.max(0, Math.floor((made * from) / to) - reach + 1 - first);
    this.#tail = input.slice(needed);
    return output;
  }
}

/** Resamples a whole recording. */
export function resample(samples: Float32Array, from: number, to: number): Float32Array {
  const resampler = new Resampler(from, to);
  const [start, end] = [resampler.push(samples), resampler.flush()];
  const result = new Float32Array(start.length + end.length);
  result.set(start);
  result.set(end, start.length);
  return result;
}

/**
 * The taps of a resampling filter, one list for each position between two samples. They are computed when they are
 * first needed.
 */
class Filter {
  /** The rates, reduced. */
  readonly from: number;
  readonly to: number;
  /** Taps on each side. */
  readonly reach: number;
  readonly #taps: (Float32Array | undefined)[] = [];

  constructor(from: number, to: number) {
    const divisor = commonDivisor(from, to);
    this.from = from / divisor;
    this.to = to / divisor;
    this.reach = from === to ? 1 : Math.ceil((WIDTH * this.from) / this.#cutoff);
  }

  get #cutoff(): number {
    return ROLLOFF * Math.min(this.from, this.to);
  }

  /**
   * Returns the taps for a result that lies `part / to` after a sample. The first is for the sample `reach − 1` before
   * that one.
   */
  taps(part: number): Float32Array {
    return (this.#taps[part] ??= this.#compute(part));
  }

  #compute(part: number): Float32Array {
    const { from, to, reach } = this;
    // Equal rates: every result is a sample.
    if (from === to) return Float32Array.of(1, 0);
    const cutoff = this.#cutoff;
    return Float32Array.from({ length: 2 * reach }, (_, tap) => {
      const t = cutoff * ((tap - reach + 1) / from - part / (from * to));
      if (Math.abs(t) >= WIDTH) return 0;
      const sinc = t === 0 ? 1 : Math.sin(Math.PI * t) / (Math.PI * t);
      return (cutoff / from) * sinc * Math.cos((Math.PI * t) / WIDTH / 2) ** 2;
    });
  }
}

/** The last filters. A worker sees one or two rates. */
const filters = new Map<string, Filter>();
const MAX_FILTERS = 4;

function filterOf(from: number, to: number): Filter {
  const key = `${from} ${to}`;
  const known = filters.get(key) ?? new Filter(from, to);
  filters.delete(key);
  filters.set(key, known);
  if (filters.size > MAX_FILTERS) filters.delete(filters.keys().next().value!);
  return known;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
