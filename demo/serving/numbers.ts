/** Formats a number of requests: `3.4`, `34`, `1,240`. */
export function inShort(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 9.95 ? 1 : 0 });
}

/** Formats a time with two digits, since it changes all the time: `0.04 ms`, `3.4 ms`, `34 ms`. */
export function roughly(value: number): string {
  if (Number.isNaN(value)) return '–';
  return `${value.toLocaleString('en', value < 10 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 })} ms`;
}
