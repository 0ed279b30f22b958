/** The normalizers of a `tokenizer.json`, and those that the library lacks. */

/** A normalizer of a `tokenizer.json`. */
export interface Normalizer {
  readonly type: string;
  readonly normalizers?: readonly Normalizer[];
  readonly clean_text?: boolean;
  readonly handle_chinese_chars?: boolean;
  readonly strip_accents?: boolean | null;
  readonly lowercase?: boolean;
  readonly strip_left?: boolean;
  readonly strip_right?: boolean;
  readonly prepend?: string;
  readonly pattern?: { readonly String?: string; readonly Regex?: string };
  readonly content?: string;
  readonly precompiled_charsmap?: unknown;
}

/** The characters that `Nmt` of Hugging Face's tokenizers removes, and those that it makes spaces. */
const NMT_REMOVED = '[\\u0001-\\u0008\\u000b\\u000e-\\u001f\\u007f\\u008f\\u009f]';
const NMT_SPACES = '[\\t\\n\\f\\r\\u1680\\u200b-\\u200f\\u2028\\u2029\\u2581\\ufeff\\ufffd]';

/** Returns a normalizer in which the library knows every step: those that it lacks are written in others. */
export function inKnownSteps(normalizer: Normalizer | null | undefined): Normalizer | null {
  if (!normalizer) return null;
  if (normalizer.normalizers)
    return { ...normalizer, normalizers: normalizer.normalizers.map((one) => inKnownSteps(one)!) };
  if (normalizer.type !== 'Nmt') return normalizer;
  const replace = (Regex: string, content: string): Normalizer => ({ type: 'Replace', pattern: { Regex }, content });
  return { type: 'Sequence', normalizers: [replace(NMT_REMOVED, ''), replace(NMT_SPACES, ' ')] };
}
