/** The largest relative error of a quantile. */
export const RELATIVE_ERROR = 0.01;
const GAMMA = (1 + RELATIVE_ERROR) / (1 - RELATIVE_ERROR);
const LOG_GAMMA = Math.log(GAMMA);
/**
 * Smaller values count as zero, and greater ones as `MAX_VALUE`. So there are at most 2,764 buckets; only those in use
 * are stored.
 */
const MIN_VALUE = 1e-9;
const MAX_VALUE = 1e15;

/**
 * Computes quantiles of a stream in constant memory: DDSketch with logarithmic buckets (Masson, Rim and Lee, "DDSketch:
 * a fast and fully-mergeable quantile sketch with relative-error guarantees", PVLDB 12, 2019). Bucket i holds the
 * values in (γ^(i−1), γ^i], and stands for 2γ^i / (γ + 1), which is within 1 % of each of them.
 */
export class Sketch {
  readonly #buckets = new Map<number, number>();
  #count = 0;
  #sum = 0;
  #least = Infinity;
  #most = 0;

  get count(): number {
    return this.#count;
  }

  get sum(): number {
    return this.#sum;
  }

  /** @param value finite, at least 0 */
  add(value: number): void {
    const bucket = value < MIN_VALUE ? -Infinity : Math.ceil(Math.log(Math.min(value, MAX_VALUE)) / LOG_GAMMA);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.#count += 1;
    this.#sum += value;
    this.#least = Math.min(this.#least, value);
    this.#most = Math.max(this.#most, value);
  }

  /**
   * Returns the values at ranks ⌊q (n − 1)⌋ of the n sorted values, within `RELATIVE_ERROR`; NaN if there are no
   * values.
   * @param qs ascending, each in 0..1
   */
  quantiles(...qs: readonly number[]): number[] {
    const buckets = [...this.#buckets].sort(([a], [b]) => a - b);
    let at = 0;
    let seen = buckets[0]?.[1] ?? 0;
    return qs.map((q) => {
      if (this.#count === 0) return NaN;
      while (seen <= Math.floor(q * (this.#count - 1))) seen += buckets[++at]![1];
      // A bucket may stand for more than the greatest value, or for less than the least: of batches of one row, for
      // 0.99.
      return Math.min(this.#most, Math.max(this.#least, (2 * GAMMA ** buckets[at]![0]) / (GAMMA + 1)));
    });
  }
}
