import { Fourier } from './fourier.js';
import type { MelFilter } from './mel-filters.js';

/** Computes the power of each mel in frames of sound. */
export class MelPowers {
  readonly #fourier: Fourier;
  readonly #filters: readonly MelFilter[];
  readonly #exponent: 1 | 2;

  /**
   * @param size of a frame's Fourier transform, an even number that `Fourier` takes
   * @param exponent 1 if magnitudes count in place of powers, their squares
   */
  constructor(size: number, filters: readonly MelFilter[], exponent: 1 | 2 = 2) {
    this.#fourier = new Fourier(size);
    this.#filters = filters;
    this.#exponent = exponent;
  }

  /**
   * @param frames how many
   * @param read writes the samples of a frame, with its taper, into an array of the transform's size
   * @param write gets the powers of a frame, which it must not store
   */
  run(
    frames: number,
    read: (frame: number, into: Float64Array) => void,
    write: (frame: number, powers: Float64Array) => void,
  ): void {
    const { size } = this.#fourier;
    const [real, imaginary] = [new Float64Array(size), new Float64Array(size)];
    const power = new Float64Array(size / 2 + 1);
    const powers = new Float64Array(this.#filters.length);
    // Two frames at once: one as real numbers, the other as imaginary ones.
    for (let frame = 0; frame < frames; frame += 2) {
      const hasNext = frame + 1 < frames;
      read(frame, real.fill(0));
      imaginary.fill(0);
      if (hasNext) read(frame + 1, imaginary);
      this.#fourier.transform(real, imaginary);
      for (const sign of hasNext ? [1, -1] : [1]) {
        for (let bin = 0; bin < power.length; bin++) {
          const mirror = (size - bin) % size;
          const a = real[bin]! + sign * real[mirror]!;
          const b = imaginary[bin]! - sign * imaginary[mirror]!;
          const square = (a * a + b * b) / 4;
          power[bin] = this.#exponent === 2 ? square : Math.sqrt(square);
        }
        for (const [mel, { first, weights }] of this.#filters.entries()) {
          let sum = 0;
          for (let at = 0; at < weights.length; at++) sum += weights[at]! * power[first + at]!;
          powers[mel] = sum;
        }
        write(sign === 1 ? frame : frame + 1, powers);
      }
    }
  }
}

/** Returns Hann's window. @param isPeriodic whether its end continues at its beginning */
export function hann(length: number, isPeriodic: boolean): Float64Array {
  const period = isPeriodic ? length : length - 1;
  return Float64Array.from({ length }, (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / period));
}

/** Mirrors a window's edges into what lies before and after it, `edge` samples on both sides. */
export function mirrorEdges(sound: Float64Array, edge: number): void {
  const last = sound.length - edge - 1;
  for (let at = 1; at <= edge; at++) {
    sound[edge - at] = sound[edge + at]!;
    sound[last + at] = sound[last - at]!;
  }
}
