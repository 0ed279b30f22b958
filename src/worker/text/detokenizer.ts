import { cleanUp } from './clean-up.js';
import { createDecoder, isByteToken, type DecoderJson } from './decoders.js';
import type { Detokenizer } from './tokenizer.js';
import type { Vocabulary } from './vocabulary.js';

/**
 * Makes what converts the tokens of a `tokenizer.json` to text: as `decode` of Hugging Face's tokenizers does with
 * `skip_special_tokens`.
 * @param suffix `end_of_word_suffix` of the model
 * @param cleansUp `clean_up_tokenization_spaces` of the tokenizer's config
 * @throws `unsupported` or `model-format`, as `createDecoder`
 */
export function createDetokenizer(
  vocabulary: Vocabulary,
  decoder: DecoderJson | null | undefined,
  suffix: string | null | undefined,
  cleansUp: boolean,
): Detokenizer {
  const decode = decoder ? createDecoder(decoder) : undefined;
  const hasBytes = [decoder, ...(decoder?.decoders ?? [])].some((one) => one?.type === 'ByteFallback');
  return {
    pieceOf: (id) => (vocabulary.isSpecial(id) ? undefined : vocabulary.tokenOf(id)),
    isByte: (piece) => hasBytes && isByteToken(piece),
    // A space before a sign or a shortened word goes: the longest are " n't" and " 've".
    unsettled: cleansUp ? 4 : 0,
    join(pieces, cleans = cleansUp) {
      const text = decode ? decode(pieces).join('') : pieces.join(' ');
      const spaced = decode && suffix ? text.replaceAll(suffix, ' ').trim() : text;
      return cleans ? cleanUp(spaced) : spaced;
    },
  };
}
