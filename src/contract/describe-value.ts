/** The most characters of a value that a message shows. */
const LONGEST = 80;

/** The most levels of nesting. A value that is nested deeper, or that contains itself, is not shown in full. */
const DEEPEST = 256;

/** Returns a value of any type as short text for a message; it never throws. */
export function describeValue(value: unknown): string {
  const name = classOf(value);
  if (name !== undefined) return shorten(`${/^([AEIOU]|HTML)/.test(name) ? 'an' : 'a'} ${name}`);
  if (isJson(value)) return shorten(JSON.stringify(value));
  if (typeof value === 'bigint') return shorten(`${value}n`);
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object') return isList(value) ? 'a list' : 'an object';
  return shorten(String(value));
}

/** Returns the name of an object's class; undefined for plain objects, lists, and what has no class that can be read. */
function classOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  try {
    const name: unknown = (Object.getPrototypeOf(value) as { constructor?: { name?: unknown } } | null)?.constructor
      ?.name;
    return typeof name === 'string' && !['', 'Object', 'Array'].includes(name) ? name : undefined;
  } catch {
    return undefined;
  }
}

/** Returns text of at most 80 characters. */
export function shorten(text: string): string {
  return text.length > LONGEST ? `${text.slice(0, LONGEST - 3)}…` : text;
}

/**
 * Returns whether a value can be written as JSON. NaN and infinity cannot, although YAML has them, nor can a value that contains itself.
 * Never throws: a value with a getter or a proxy that throws cannot be written either.
 */
export function isJson(value: unknown): boolean {
  try {
    return fits(value, DEEPEST);
  } catch {
    return false;
  }
}

function fits(value: unknown, levels: number): boolean {
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value === 'object' && value !== null)
    return levels > 0 && Object.values(value).every((inner) => fits(inner, levels - 1));
  return value === null || typeof value === 'string' || typeof value === 'boolean';
}

/** Returns whether a value is a list. Never throws: `Array.isArray` does, for a revoked proxy. */
export function isList(value: unknown): value is readonly unknown[] {
  try {
    return Array.isArray(value);
  } catch {
    return false;
  }
}
