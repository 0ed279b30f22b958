/** Numbers in decimals, rounded half to even by the exact value, as in Python. JavaScript's methods round ties up. */

/** Returns a finite number with this many decimals, 0–100. */
export function toFixed(value: number, digits: number): string {
  return halfEven(digits, (count) => value.toFixed(count));
}

/** Returns a finite number with this many decimals, 0–100, and an exponent as JavaScript writes it. */
export function toExponential(value: number, digits: number): string {
  return halfEven(digits, (count) => value.toExponential(count));
}

function halfEven(digits: number, print: (digits: number) => string): string {
  const up = print(digits);
  const exact = print(Math.min(100, digits + 30));
  const [, mantissa, exponent] = /^([^e]*)(.*)$/.exec(exact)!;
  if (!new RegExp(`\\.\\d{${digits}}50*$`).test(mantissa!)) return up;
  const down = mantissa!.slice(0, mantissa!.indexOf('.') + (digits === 0 ? 0 : digits + 1));
  return Number(down.at(-1)) % 2 === 0 ? down + exponent! : up;
}
