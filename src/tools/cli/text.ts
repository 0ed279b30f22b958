import type { OutputInfo } from '../../contract/tensors.js';

/** Formats a size: `980 bytes`, `1.2 kB`, `14.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const [unit, name] = bytes < 1e6 ? [1e3, 'kB'] : bytes < 1e9 ? [1e6, 'MB'] : [1e9, 'GB'];
  return `${(bytes / unit).toPrecision(3).replace(/\.0+$/, '')} ${name}`;
}

/** Formats a tensor's declaration: `image: float32 [batch, 3, 224, 224]`. A dimension without a name or size is `?`. */
export function formatTensor({ name, dtype, dims }: OutputInfo): string {
  return `${name}: ${dtype ?? 'unknown dtype'} [${dims.map((size) => size ?? '?').join(', ')}]`;
}

/** Formats a table of two columns; a row's further values stand below its first. */
export function formatRows(rows: readonly (readonly [label: string, values: readonly string[]])[]): string {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows
    .flatMap(([label, values]) =>
      values.map((value, index) => `  ${(index ? '' : label).padEnd(width)}  ${value.replaceAll('\n', ' ')}`),
    )
    .join('\n');
}

/** Formats a count: `1 tensor`, `8 tensors`. */
export function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * Makes the names in a stranger's file visible: control characters and those that reverse the text are printed as
 * `\\u{1b}`, line breaks stay.
 */
export function printable(text: string): string {
  return text.replace(
    /[^\P{Cc}\n]|[\u202a-\u202e\u2066-\u2069]/gu,
    (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`,
  );
}
