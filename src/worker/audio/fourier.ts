/** The largest prime factor of a transform's size: each factor is computed as it is defined. */
const MAX_FACTOR = 64;

/** The discrete Fourier transform of a fixed size, by Stockham's algorithm with a step for each prime factor, or 4. */
export class Fourier {
  readonly size: number;
  readonly #factors: readonly number[];
  /** cos and sin of −2πk / size. */
  readonly #cos: Float64Array;
  readonly #sin: Float64Array;
  readonly #others: readonly [Float64Array, Float64Array];

  /** @param size of the transform: a whole number with factors up to 64 */
  constructor(size: number) {
    this.size = size;
    this.#factors = factorsOf(size);
    const angles = Float64Array.from({ length: size }, (_, at) => (-2 * Math.PI * at) / size);
    this.#cos = angles.map(Math.cos);
    this.#sin = angles.map(Math.sin);
    this.#others = [new Float64Array(size), new Float64Array(size)];
  }

  /** Returns whether a transform of this size can be made. */
  static takes(size: number): boolean {
    return Number.isInteger(size) && size > 1 && factorsOf(size).every((factor) => factor <= MAX_FACTOR);
  }

  /** Transforms complex numbers in place. */
  transform(real: Float64Array, imaginary: Float64Array): void {
    let [from, to]: (readonly [Float64Array, Float64Array])[] = [[real, imaginary], this.#others];
    let length = this.size;
    let stride = 1;
    for (const factor of this.#factors) {
      this.#step(from!, to!, factor, length, stride);
      length /= factor;
      stride *= factor;
      [from, to] = [to, from];
    }
    if (from![0] === real) return;
    real.set(from![0]);
    imaginary.set(from![1]);
  }

  #step(
    [fromReal, fromImaginary]: readonly [Float64Array, Float64Array],
    [toReal, toImaginary]: readonly [Float64Array, Float64Array],
    factor: number,
    length: number,
    stride: number,
  ): void {
    const { size } = this;
    const [cos, sin] = [this.#cos, this.#sin];
    const count = length / factor;
    for (let part = 0; part < count; part++)
      for (let row = 0; row < factor; row++) {
        const twiddle = part * row * stride;
        const turn = (row * size) / factor;
        const target = stride * (factor * part + row);
        for (let at = 0; at < stride; at++) {
          let [sumReal, sumImaginary] = [0, 0];
          let angle = twiddle;
          for (let term = 0; term < factor; term++) {
            const source = at + stride * (part + count * term);
            sumReal += fromReal[source]! * cos[angle]! - fromImaginary[source]! * sin[angle]!;
            sumImaginary += fromReal[source]! * sin[angle]! + fromImaginary[source]! * cos[angle]!;
            angle += turn;
            if (angle >= size) angle -= size;
          }
          toReal[target + at] = sumReal;
          toImaginary[target + at] = sumImaginary;
        }
      }
  }
}

/** Returns factors whose product is the size: fours, and primes. */
function factorsOf(size: number): readonly number[] {
  const factors: number[] = [];
  let rest = size;
  for (let factor = 4; rest > 1; factor = factor === 4 ? 2 : factor === 2 ? 3 : factor + 2) {
    // No factor is left below the root: the rest is a prime.
    if (factor > 4 && factor * factor > rest) factor = rest;
    for (; rest % factor === 0; rest /= factor) factors.push(factor);
  }
  return factors;
}
