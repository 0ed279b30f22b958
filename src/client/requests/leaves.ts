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
  if (Array.isArray(value)) return mapArray(value, replace, done);
  const copy = {};
  done.set(value, copy);
  for (const key of Object.keys(value)) {
    const mapped = mapContainer((value as Readonly<Record<string, unknown>>)[key], replace, done);
    // Assigned, it would be the copy's prototype; and what is defined takes ten times as long.
    if (key === '__proto__')
      Object.defineProperty(copy, key, { value: mapped, configurable: true, enumerable: true, writable: true });
    else (copy as Record<string, unknown>)[key] = mapped;
  }
  return copy;
}

/** Copies an array. Its entries as a list would take a hundred times as long, which a list of a million numbers shows. */
function mapArray(
  array: readonly unknown[],
  replace: (leaf: object) => unknown,
  done: Map<object, unknown>,
): readonly unknown[] {
  const copy = array.slice();
  done.set(array, copy);
  for (let at = 0; at < copy.length; at++)
    if (typeof copy[at] === 'object') copy[at] = mapContainer(copy[at], replace, done);
  return copy;
}

/** Whether an object may contain inputs: an array, or an object without a class. */
function isContainer(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === null || prototype === Object.prototype;
}
