/**
 * Returns a copy of `value` in which arrays and plain objects are copied, and each other object is what `replace` returns for it. An object that
 * occurs twice, or contains itself, does so in the copy too.
 */
export function mapLeaves(value: unknown, replace: (leaf: object) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  return isContainer(value) ? mapContainer(value, replace, new Map()) : replace(value);
}

function mapContainer(value: unknown, replace: (leaf: object) => unknown, done: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (done.has(value)) return done.get(value);
  if (!isContainer(value)) {
    const replaced = replace(value);
    done.set(value, replaced);
    return replaced;
  }
  const copy: object = Array.isArray(value) ? [] : {};
  done.set(value, copy);
  // Defined, not assigned: a key `__proto__` is a key like any other.
  for (const [key, item] of Object.entries(value))
    Object.defineProperty(copy, key, {
      value: mapContainer(item, replace, done),
      configurable: true,
      enumerable: true,
      writable: true,
    });
  return copy;
}

/** Whether an object may contain inputs: an array, or an object without a class. */
function isContainer(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}
