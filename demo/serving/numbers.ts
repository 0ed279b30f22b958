/** `3.4`, `34`, `1,240`: a number of requests. */
export function inShort(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: value < 9.95 ? 1 : 0 });
}

/** `0.04 ms`, `3.4 ms`, `34 ms`: nobody reads more digits while they change. */
export function roughly(value: number): string {
  if (Number.isNaN(value)) return '–';
  return `${value.toLocaleString('en', value < 10 ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 })} ms`;
}
