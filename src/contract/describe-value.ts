/** The maximum number of characters of a value that a message shows. */
const MAX_LENGTH = 80;

/** The maximum number of levels of nesting. A value that is nested deeper, or that contains itself, is not shown in full. */
const MAX_LEVELS = 256;

/** Returns a value of any type as short text for a message. */
export function describeValue(value: unknown): string {
  const name = classOf(value);
  if (name !== undefined) return shorten(`${/^([AEIOU]|HTML)/.test(name) ? 'an' : 'a'} ${name}`);
  if (isJson(value)) return shorten(JSON.stringify(value));
  if (typeof value === 'bigint') return shorten(`${value}n`);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return Array.isArray(value) ? 'a list' : 'an object';
  return shorten(String(value));
}

/** Returns the name of an object's class; undefined for plain objects, lists, and what has no class. */
function classOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { constructor } = (Object.getPrototypeOf(value) ?? {}) as { constructor?: { name?: unknown } };
  const name = constructor?.name;
  return typeof name === 'string' && !['', 'Object', 'Array'].includes(name) ? name : undefined;
}

/** Returns text of at most 80 characters. */
export function shorten(text: string): string {
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH - 3)}…` : text;
}

/**
 * Returns whether a value can be written as JSON. NaN and infinity cannot, although YAML has them, nor can a value that
 * contains itself.
 */
export function isJson(value: unknown, levels = MAX_LEVELS): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'object' && value !== null)
    return levels > 0 && Object.values(value).every((inner) => isJson(inner, levels - 1));
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

/** Returns a time as text: whole milliseconds, or two digits if it is shorter than ten. */
export function describeTime(milliseconds: number): string {
  return `${milliseconds < 9.5 ? Number(milliseconds.toPrecision(2)) : Math.round(milliseconds)} ms`;
}
