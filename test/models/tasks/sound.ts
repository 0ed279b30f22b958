/** Returns the sound that `make/basics.py` makes: so many samples, at 16,000 a second. */
export function soundOf(length: number): Float32Array {
  return Float32Array.from({ length }, (_, at) => {
    const phase = (at * (Math.floor(at / 64) + 40)) % 2000;
    const loudness = 1 + (Math.floor(at / 1600) % 5);
    return ((Math.abs(phase - 1000) - 500) * loudness) / 2500;
  });
}
