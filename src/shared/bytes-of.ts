import { isPlainObject } from './is-plain-object.js';

/** Deeper values are no data that an app would send. */
const MAX_DEPTH = 4;

/**
 * Returns about how many bytes plain data takes: the bytes of its arrays and texts, and 8 for each entry; infinity for
 * more than `most`, and for anything else, such as a function, an element or a Map.
 */
export function bytesOf(value: unknown, most = Infinity, depth = 0): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value === 'function' || typeof value === 'symbol') return Infinity;
  if (typeof value !== 'object' || value === null || value instanceof Blob) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  if (depth > MAX_DEPTH || !(Array.isArray(value) || isPlainObject(value))) return Infinity;
  let size = 0;
  for (const item of Object.values(value)) {
    size += 8 + bytesOf(item, most, depth + 1);
    if (size > most) return Infinity;
  }
  return size;
}
