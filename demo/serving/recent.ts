/** The window of the percentiles, in seconds. */
export const SECONDS = 5;

/** p50, p95 and p99 of the last seconds; NaN while there is nothing. */
export type Quantiles = readonly [p50: number, p95: number, p99: number];

/** Holds one slice for each of the last seconds. */
class Recent<Slice> {
  readonly #make: () => Slice;
  #slices: { readonly second: number; readonly slice: Slice }[] = [];

  constructor(make: () => Slice) {
    this.#make = make;
  }

  /** The slice of the current second. */
  get slice(): Slice {
    const second = Math.floor(performance.now() / 1000);
    if (this.#slices.at(-1)?.second !== second) this.#slices.push({ second, slice: this.#make() });
    return this.#slices.at(-1)!.slice;
  }

  get slices(): readonly Slice[] {
    const oldest = Math.floor(performance.now() / 1000) - SECONDS;
    this.#slices = this.#slices.filter(({ second }) => second > oldest);
    return this.#slices.map(({ slice }) => slice);
  }
}

/** Quantiles of the last seconds. */
export class RecentTimes {
  readonly #recent = new Recent<number[]>(() => []);

  add(value: number): void {
    this.#recent.slice.push(value);
  }

  get quantiles(): Quantiles {
    const sorted = Float64Array.from(this.#recent.slices.flat()).sort();
    const at = (quantile: number): number => sorted[Math.floor(quantile * (sorted.length - 1))] ?? NaN;
    return [at(0.5), at(0.95), at(0.99)];
  }
}

/** Number of batches of each size in the last seconds. */
export class RecentBatches {
  readonly #recent = new Recent(() => new Map<number, number>());

  /** Counts an answer from a batch of this size: all answers of a batch together count as one. */
  add(size: number): void {
    const { slice } = this.#recent;
    slice.set(size, (slice.get(size) ?? 0) + 1 / size);
  }

  /** Size → batches. */
  get counts(): ReadonlyMap<number, number> {
    const all = new Map<number, number>();
    for (const slice of this.#recent.slices)
      for (const [size, count] of slice) all.set(size, (all.get(size) ?? 0) + count);
    return all;
  }
}
