import { isPlainObject } from './is-plain-object.js';

/** The limit for nesting: an app would not send deeper values. */
const MAX_DEPTH = 4;

/**
 * Returns about how many bytes a clone of plain data takes: the bytes of its texts and of the buffers that its arrays
 * lie in, which are cloned as a whole and once, and 8 for each entry; infinity for more than `most`, and for anything
 * else, such as a function, an element or a Map.
 */
export function bytesOf(value: unknown, most = Infinity): number {
  return countBytes(value, most, 0, new Set());
}

/** @param counted the buffers that are counted already */
function countBytes(value: unknown, most: number, depth: number, counted: Set<ArrayBufferLike>): number {
  if (typeof value === 'string') return 2 * value.length;
  if (typeof value === 'function' || typeof value === 'symbol') return Infinity;
  if (typeof value !== 'object' || value === null || value instanceof Blob) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    const buffer = value instanceof ArrayBuffer ? value : value.buffer;
    if (counted.has(buffer)) return 0;
    counted.add(buffer);
    return buffer.byteLength;
  }
  if (depth > MAX_DEPTH || !(Array.isArray(value) || isPlainObject(value))) return Infinity;
  let size = 0;
  for (const item of Object.values(value)) {
    size += 8 + countBytes(item, most, depth + 1, counted);
    if (size > most) return Infinity;
  }
  return size;
}
