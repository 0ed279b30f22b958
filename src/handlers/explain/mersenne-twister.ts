const SIZE = 624;

/**
 * Returns a generator of uniform numbers in [0, 1) with 53 bits: MT19937 (Matsumoto and Nishimura, 1998, `init_genrand`
 * and `genrand_res53`). It draws the same numbers as `numpy.random.RandomState(seed).random_sample()`.
 * @param seed an integer in 0..2³² − 1
 */
export function mersenneTwister(seed: number): () => number {
  const state = new Uint32Array(SIZE);
  state[0] = seed;
  for (let i = 1; i < SIZE; i++) state[i] = Math.imul(1812433253, state[i - 1]! ^ (state[i - 1]! >>> 30)) + i;
  let at = SIZE;

  const bits = (): number => {
    if (at === SIZE) {
      for (let i = 0; i < SIZE; i++) {
        const y = (state[i]! & 0x80000000) | (state[(i + 1) % SIZE]! & 0x7fffffff);
        state[i] = state[(i + 397) % SIZE]! ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0);
      }
      at = 0;
    }
    let y = state[at++]!;
    y ^= y >>> 11;
    y ^= (y << 7) & 0x9d2c5680;
    y ^= (y << 15) & 0xefc60000;
    return (y ^ (y >>> 18)) >>> 0;
  };
  return () => {
    const high = bits() >>> 5;
    return (high * 2 ** 26 + (bits() >>> 6)) / 2 ** 53;
  };
}
