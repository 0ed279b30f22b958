/** Python's classes of characters, which are not quite those of JavaScript. */

/** What `str.isspace` is true of, for a regular expression's class. */
export const SPACE = '\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';

const spaces = new RegExp(`^[${SPACE}]$`);

export function isSpace(character: string): boolean {
  return character !== '' && spaces.test(character);
}

/**
 * Returns a text, or a list of characters, without what a test is true of at its ends. Loops, because a regular
 * expression takes quadratic time on long runs.
 */
export function stripEnds<Text extends string | string[]>(
  text: Text,
  isLeftOut: (character: string) => boolean,
  sides: 'both' | 'left' | 'right',
): Text {
  let [start, end] = [0, text.length];
  if (sides !== 'right') while (start < end && isLeftOut(text[start]!)) start += 1;
  if (sides !== 'left') while (end > start && isLeftOut(text[end - 1]!)) end -= 1;
  return text.slice(start, end) as Text;
}

/** What ends a line, for a regular expression's class. */
const BREAKS = '\\n\\v\\f\\r\\x1c-\\x1e\\x85\\u2028\\u2029';
const LINE_BREAK = new RegExp(`(\\r\\n|[${BREAKS}])`);

/** Returns the lines of a text, as `str.splitlines` does. */
export function splitLines(text: string, keepsEnds = false): string[] {
  const lines = text.split(LINE_BREAK);
  const found: string[] = [];
  for (let at = 0; at < lines.length; at += 2) {
    const [line, end] = [lines[at]!, lines[at + 1] ?? ''];
    if (line !== '' || end !== '') found.push(keepsEnds ? line + end : line);
  }
  return found;
}

/** Escapes a text for HTML, as MarkupSafe does. */
export function escapeHtml(text: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    "'": '&#39;',
    '"': '&#34;',
  };
  return text.replace(/[&<>'"]/g, (character) => escapes[character]!);
}

/** Reverses `escapeHtml`. */
export function unescapeHtml(text: string): string {
  return text.replace(
    /&(lt|gt|amp|quot|#39|#34);/g,
    (_, name: string) => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", '#34': '"' })[name]!,
  );
}
