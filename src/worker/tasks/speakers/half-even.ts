/** Rounds to the nearest whole number, and halves to the even one, as Python and NumPy do. */
export function halfEven(value: number): number {
  const low = Math.floor(value);
  const rest = value - low;
  return rest < 0.5 || (rest === 0.5 && low % 2 === 0) ? low : low + 1;
}
