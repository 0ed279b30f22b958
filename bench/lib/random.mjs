/** Returns numbers in 0..1: x ← (1664525 x + 1013904223) mod 2³² (Numerical Recipes). */
export function randomNumbers() {
  let state = 1;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
