import type { ModelJson } from './model.js';

/**
 * Returns a function that writes a text in tokens for bytes of UTF-8, such as `<0xE2>`. It returns undefined if the
 * model has no `byte_fallback`, or the vocabulary lacks one of the tokens.
 */
export function createByteFallback(
  { byte_fallback }: ModelJson,
  ids: ReadonlyMap<string, number>,
): (text: string) => readonly number[] | undefined {
  if (!byte_fallback) return () => undefined;
  const tokens = Array.from({ length: 256 }, (_, byte) =>
    ids.get(`<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
  );
  return (text) => {
    const found = Array.from(utf8.encode(text), (byte) => tokens[byte]);
    return found.every((id) => id !== undefined) ? found : undefined;
  };
}

const utf8 = new TextEncoder();
