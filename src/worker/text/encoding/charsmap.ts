import { TabServeError } from '../../../contract/errors.js';

const utf8 = new TextEncoder();

/**
 * Returns the replacements of SentencePiece's `precompiled_charsmap`: a trie of the texts that are replaced, as the
 * double array of Darts, and the texts that replace them. As in Hugging Face's tokenizers, the shortest beginning of a
 * text that is in the trie decides, for all of the text.
 * @throws `model-format` if it is not one
 */
export function readCharsmap(base64: unknown): (text: string) => string | undefined {
  const bytes = typeof base64 === 'string' ? bytesOf(base64) : undefined;
  const view = bytes && new DataView(bytes.buffer);
  const size = view && view.byteLength >= 4 ? view.getUint32(0, true) : 0;
  if (!bytes || !view || size === 0 || size % 4 > 0 || 4 + size > bytes.length)
    throw new TabServeError(
      'model-format',
      'tokenizer.json: precompiled_charsmap of the normalizer is not a character map of SentencePiece. Save the tokenizer again.',
    );
  const trie = Uint32Array.from({ length: size / 4 }, (_, unit) => view.getUint32(4 + 4 * unit, true));
  const texts = bytes.subarray(4 + size);
  const decoder = new TextDecoder();
  return (text) => {
    const start = valueOf(trie, utf8.encode(text));
    if (start === undefined) return undefined;
    const end = texts.indexOf(0, start);
    return decoder.decode(texts.subarray(start, end < 0 ? undefined : end));
  };
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}

/** Returns the value of the shortest beginning of a key that is in a double array. */
function valueOf(trie: Uint32Array, key: Uint8Array): number | undefined {
  const offsetOf = (unit: number): number => (unit >>> 10) << ((unit & 0x200) >>> 6);
  let at = offsetOf(trie[0]!);
  for (const byte of key) {
    if (byte === 0) return undefined;
    at ^= byte;
    const unit = trie[at] ?? 0;
    if ((unit & 0x800000ff) >>> 0 !== byte) return undefined;
    at ^= offsetOf(unit);
    if ((unit >>> 8) & 1) return (trie[at] ?? 0) & 0x7fffffff;
  }
  return undefined;
}
