import { TabServeError } from '../../contract/errors.js';
import type { DecoderJson } from './decoders.js';
import type { Vocabulary } from './vocabulary.js';

/**
 * Returns the bytes of UTF-8 that each token stands for, by its id, as characters from 0 to 255; undefined for a
 * special token, and for none. Those of tokens in a row are the text, but for a space that a decoder removes at the
 * beginning.
 * @param shown special tokens that have bytes nevertheless, by their ids
 * @throws `invalid-input` for a decoder with which a token's text depends on the tokens beside it
 */
export function tokenBytes(
  vocabulary: Vocabulary,
  decoder: DecoderJson | null | undefined,
  shown: ReadonlyMap<number, string> = new Map(),
): readonly (string | undefined)[] {
  const bytesOf = pieceBytes(decoder);
  const found: (string | undefined)[] = [];
  for (const [piece, id] of vocabulary.ids) found[id] = bytesOf(piece);
  for (const { id, special, content } of vocabulary.added)
    found[id] = special && !shown.has(id) ? undefined : utf8Of(content);
  return found;
}

function pieceBytes(decoder: DecoderJson | null | undefined): (piece: string) => string {
  const steps = decoder?.type === 'Sequence' ? (decoder.decoders ?? []) : [decoder ?? {}];
  if (steps.some(({ type }) => type === 'ByteLevel')) {
    const byteOf = byteLevelAlphabet();
    return (piece) => {
      const bytes = Array.from(piece, (character) => byteOf.get(character));
      // A piece that is not written in this alphabet stands for itself, as in Hugging Face's decoder.
      return bytes.every((byte) => byte !== undefined) ? String.fromCharCode(...bytes) : utf8Of(piece);
    };
  }
  const foreign = steps.find(
    ({ type, pattern, content }) =>
      !['ByteFallback', 'Fuse', 'Strip', 'Metaspace'].includes(type ?? '') &&
      !(type === 'Replace' && pattern?.String !== undefined && content === ' '),
  );
  if (foreign)
    throw new TabServeError(
      'invalid-input',
      `params.responseFormat and topLogprobs: they are not supported with the decoder ${foreign.type ?? 'none'} of this tokenizer.json. They need ByteLevel, or SentencePiece's Replace, ByteFallback, Fuse, Strip and Metaspace.`,
    );
  const spaces = steps.flatMap(({ type, pattern, replacement = '▁' }) =>
    type === 'Replace' ? [pattern!.String!] : type === 'Metaspace' ? [replacement] : [],
  );
  const hasBytes = steps.some(({ type }) => type === 'ByteFallback');
  return (piece) => {
    const [, byte] = (hasBytes && /^<0x([\dA-Fa-f]{2})>$/.exec(piece)) || [];
    if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
    return utf8Of(spaces.reduce((text, space) => text.replaceAll(space, ' '), piece));
  };
}

const utf8 = new TextEncoder();

function utf8Of(text: string): string {
  return String.fromCharCode(...utf8.encode(text));
}

/** Returns GPT-2's alphabet, in the order of the bytes: a character for each. Those that print stand for themselves. */
export function byteLevelAlphabet(): ReadonlyMap<string, number> {
  const prints = (byte: number): boolean =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const others = bytes.filter((byte) => !prints(byte));
  return new Map(
    bytes.map((byte) => [String.fromCodePoint(prints(byte) ? byte : 256 + others.indexOf(byte)), byte] as const),
  );
}
