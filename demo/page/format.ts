/** Numbers for people. */

const percentage = new Intl.NumberFormat('en', {
  style: 'percent',
  minimumFractionDigits: 1,
  maximumFractionDigits: 1,
});

export function percent(share: number): string {
  return percentage.format(share);
}

/** Returns a duration as `0.42 ms`, `13 ms`, `1,204 ms` */
export function milliseconds(value: number): string {
  const digits = value < 10 ? 2 : 0;
  return `${value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })} ms`;
}

/** Returns a size as `106 kB`, `1.4 MB`. */
export function bytes(value: number): string {
  if (value < 1e3) return `${value} B`;
  if (value < 1e6) return `${Math.round(value / 1e3)} kB`;
  return `${(value / 1e6).toFixed(1)} MB`;
}
