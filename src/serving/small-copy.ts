/** The most bytes of arrays that are copied for a comparison: a millisecond's work. */
const MOST_BYTES = 4_000_000;
const DEPTH = 4;

/** Returns a copy that later changes of the value do not reach; undefined for what is large, or is no plain data: an element, a frame. A Blob never changes. */
export function smallCopy(value: unknown): { readonly value: unknown } | undefined {
  const size = bytesOf(value, 0);
  if (size > MOST_BYTES) return undefined;
  try {
    return { value: structuredClone(value) };
  } catch {
    return undefined;
  }
}

/** Returns the bytes of a value's arrays; infinity for what is no plain data. */
function bytesOf(value: unknown, depth: number): number {
  if (typeof value === 'function' || typeof value === 'symbol') return Infinity;
  if (typeof value !== 'object' || value === null || value instanceof Blob) return 0;
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return value.byteLength;
  const prototype: unknown = Object.getPrototypeOf(value);
  const isPlain = prototype === Object.prototype || prototype === null || Array.isArray(value);
  if (!isPlain || depth > DEPTH) return Infinity;
  let size = 0;
  for (const item of Object.values(value)) {
    size += 8 + bytesOf(item, depth + 1);
    if (size > MOST_BYTES) return Infinity;
  }
  return size;
}
