/**
 * Limits for the keys, for the lists and objects, and for the levels of a JSON text from outside: each costs far more
 * than its bytes.
 */
const MAX_KEYS = 20_000;
const MAX_CONTAINERS = 300_000;
const MAX_LEVELS = 1000;

const [QUOTE, BACKSLASH, COLON] = [...'"\\:'].map((character) => character.charCodeAt(0));
const [LIST, LIST_END, OBJECT, OBJECT_END] = [...'[]{}'].map((character) => character.charCodeAt(0));

/** Returns why a JSON text is too costly to parse, such as `more than 20000 keys`; undefined if it may be parsed. */
export function whyTooCostly(text: string): string | undefined {
  let [keys, containers, level] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at) - 1;
    else if (code === COLON) keys++;
    else if (code === LIST || code === OBJECT) {
      containers++;
      if (++level > MAX_LEVELS) return `more than ${MAX_LEVELS} levels`;
    } else if (code === LIST_END || code === OBJECT_END) level--;
    if (keys > MAX_KEYS) return `more than ${MAX_KEYS} keys`;
    if (containers > MAX_CONTAINERS) return `more than ${MAX_CONTAINERS} lists and objects`;
  }
  return undefined;
}

/** Returns the index after the string that opens at `open`. */
export function endOfString(text: string, open: number): number {
  for (let at = open + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === QUOTE) return at + 1;
  }
  return text.length;
}
