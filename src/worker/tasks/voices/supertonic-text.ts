/** How Supertonic's texts are prepared: what its own Python code does before it looks characters up. */

/** Characters that are read as others. */
const SAME: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from('–‑—', (dash) => [dash, '-'])),
  ...Object.fromEntries(Array.from('“”', (quote) => [quote, '"'])),
  ...Object.fromEntries(Array.from('‘’´`', (quote) => [quote, "'"])),
  ...Object.fromEntries(Array.from('_[]|/#→←', (mark) => [mark, ' '])),
  ...Object.fromEntries(Array.from('♡©\\', (mark) => [mark, ''])),
  '@': ' at ',
};

/** Pictures, flags and symbols, which are not spoken. */
const PICTURES = /[\u{1F1E6}-\u{1F1FF}\u{1F300}-\u{1F64F}\u{1F680}-\u{1FAFF}\u2600-\u27BF]/gu;

/** Marks after which a text ends; otherwise it gets a full stop. */
const ENDS = /[.!?;:,'")\]}…。」』】〉》›»]$/u;

/** Returns a part of a text as the model reads it. */
export function prepareText(part: string): string {
  const text = Array.from(part.normalize('NFKD').replace(PICTURES, ''), (one) => SAME[one] ?? one)
    .join('')
    .replaceAll('e.g.,', 'for example, ')
    .replaceAll('i.e.,', 'that is, ')
    .replace(/ ([,.!?;:'])/g, '$1')
    .replace(/(["'])\1+/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  return ENDS.test(text) ? text : `${text}.`;
}
