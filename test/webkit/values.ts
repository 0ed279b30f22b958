/**
 * Values as JSON and back: WebDriver sends nothing else. These functions also run in the page, as text: they use only
 * what is inside of them.
 */

/** Returns a value as JSON's values. */
export function pack(value: unknown): unknown {
  if (value === undefined) return { $: 'undefined' };
  if (typeof value === 'bigint') return { $: 'bigint', value: String(value) };
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return { $: 'number', value: Object.is(value, -0) ? '-0' : String(value) };
  if (value === null || typeof value !== 'object') return value;
  if (ArrayBuffer.isView(value) && !(value instanceof DataView))
    return { $: value.constructor.name, value: Array.from(value as unknown as ArrayLike<unknown>, (one) => pack(one)) };
  if (Array.isArray(value)) return value.map((one) => pack(one));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, pack(one)]));
}

/** Returns what `pack` was given. */
export function unpack(value: unknown): unknown {
  if (value === null || typeof value !== 'object') return value;
  if (Array.isArray(value)) return value.map((one) => unpack(one));
  const { $: type, value: packed } = value as { readonly $?: string; readonly value?: unknown };
  if (type === undefined) return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, unpack(one)]));
  if (type === 'undefined') return undefined;
  if (type === 'bigint') return BigInt(packed as string);
  if (type === 'number') return Number(packed);
  const Type = (globalThis as unknown as Record<string, { from(values: unknown): unknown }>)[type]!;
  return Type.from((packed as unknown[]).map((one) => unpack(one)));
}
