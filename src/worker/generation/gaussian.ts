import { randomAt } from './sample.js';

/** Returns normally distributed numbers by a seed: Box and Muller's transform of two uniform numbers makes two. */
export function gaussian(seed: number, count: number): Float32Array {
  const numbers = new Float32Array(count);
  for (let at = 0; at < count; at += 2) {
    const radius = Math.sqrt(-2 * Math.log(1 - randomAt(seed, at)));
    const angle = 2 * Math.PI * randomAt(seed, at + 1);
    numbers[at] = radius * Math.cos(angle);
    if (at + 1 < count) numbers[at + 1] = radius * Math.sin(angle);
  }
  return numbers;
}
