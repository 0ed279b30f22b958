import type { Tokenizer } from '@huggingface/tokenizers';
import { byteLevelAlphabet } from './token-bytes.js';
import type { Detokenizer } from './tokenizer.js';
import { cleanUp } from './clean-up.js';

interface DecoderJson {
  readonly type?: string;
  readonly decoders?: readonly DecoderJson[];
}

/**
 * Makes what converts the tokens of a `tokenizer.json` to text: as `decode` of Hugging Face's tokenizers does with
 * `skip_special_tokens`.
 * @param cleansUp `clean_up_tokenization_spaces` of the tokenizer's config
 */
export function createDetokenizer(
  tokenizer: Tokenizer,
  decoder: DecoderJson | null | undefined,
  cleansUp: boolean,
): Detokenizer {
  const special = new Set(
    [...tokenizer.get_added_tokens_decoder()].flatMap(([id, { special: isSpecial }]) => (isSpecial ? [id] : [])),
  );
  const suffix = tokenizer.decoder?.end_of_word_suffix;
  const has = (type: string): boolean => [decoder, ...(decoder?.decoders ?? [])].some((one) => one?.type === type);
  const hasBytes = has('ByteFallback');
  const isByteLevel = has('ByteLevel');
  const isByte = (piece: string): boolean => hasBytes && /^<0x[\dA-Fa-f]{2}>$/.test(piece);
  return {
    pieceOf: (id) => (special.has(id) ? undefined : tokenizer.id_to_token(id)),
    isByte,
    // A space before a sign or a shortened word goes: the longest are " n't" and " 've".
    unsettled: cleansUp ? 4 : 0,
    join(pieces, cleans = cleansUp) {
      const readable = hasBytes ? readBytes(pieces, isByte) : isByteLevel ? pieces.map(inAlphabet) : [...pieces];
      const text = tokenizer.decoder ? tokenizer.decoder.decode(readable) : readable.join(' ');
      const spaced = suffix ? text.replaceAll(suffix, ' ').trim() : text;
      return cleans ? cleanUp(spaced) : spaced;
    },
  };
}

const utf8 = new TextEncoder();
const alphabet = [...byteLevelAlphabet().keys()];

/** Returns a piece in GPT-2's alphabet. One that is not written in it stands for itself, as Hugging Face has it. */
function inAlphabet(piece: string): string {
  const isWritten = /^[!-~¡-¬®-\u0143]*$/.test(piece);
  return isWritten ? piece : Array.from(utf8.encode(piece), (byte) => alphabet[byte]!).join('');
}

/**
 * Replaces each run of bytes by its characters. If a run is not UTF-8, each of its bytes becomes U+FFFD, as Hugging Face
 * has it; the library decides it byte by byte.
 */
function readBytes(pieces: readonly string[], isByte: (piece: string) => boolean): string[] {
  const read: string[] = [];
  for (let at = 0; at < pieces.length;) {
    let end = at;
    while (end < pieces.length && isByte(pieces[end]!)) end += 1;
    if (end === at) {
      read.push(pieces[at]!);
      at += 1;
      continue;
    }
    const bytes = Uint8Array.from(pieces.slice(at, end), (piece) => Number.parseInt(piece.slice(3, 5), 16));
    read.push(charactersOf(bytes) ?? '\u{FFFD}'.repeat(bytes.length));
    at = end;
  }
  return read;
}

function charactersOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
