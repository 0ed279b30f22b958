/** The maximum number of numbers of a list that are shown. */
const MAX_SHOWN = 12;

/** Returns an answer as JSON, of whose long lists of numbers only the beginning is shown. */
export function inJson(answer: unknown): string {
  const shorten = (value: unknown): unknown => {
    if (typeof value === 'bigint') return Number(value);
    if (ArrayBuffer.isView(value) && 'length' in value) {
      const numbers = Array.from(value as unknown as ArrayLike<number | bigint>, Number);
      const more = numbers.length - MAX_SHOWN;
      return `[${numbers.slice(0, MAX_SHOWN).join(', ')}${more > 0 ? `, … ${more} more` : ''}]`;
    }
    if (Array.isArray(value)) return value.map(shorten);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shorten(one)]));
  };
  return JSON.stringify(shorten(answer), undefined, 2);
}
