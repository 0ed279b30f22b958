/** What has more objects is large: sending it costs more than its message. */
const MOST_OBJECTS = 200;

/**
 * Returns every object in plain data: its arrays, plain objects, typed arrays and buffers. Returns undefined if it has others, whose contents cannot be seen, or
 * very many.
 */
export function ownObjects(value: unknown): readonly object[] | undefined {
  const objects: object[] = [];
  try {
    return collect(value, objects) ? objects : undefined;
  } catch {
    // A getter of the handler's has thrown.
    return undefined;
  }
}

function collect(value: unknown, objects: object[]): boolean {
  if (typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null) return true;
  if (objects.push(value) > MOST_OBJECTS) return false;
  if (Array.isArray(value)) {
    // A long list of numbers is not worth the look.
    if (value.length > MOST_OBJECTS) return false;
    for (const item of value) if (!collect(item, objects)) return false;
    return true;
  }
  if (ArrayBuffer.isView(value)) return objects.push(value.buffer) <= MOST_OBJECTS;
  if (value instanceof ArrayBuffer) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const key in value) if (!collect((value as Record<string, unknown>)[key], objects)) return false;
  return true;
}
