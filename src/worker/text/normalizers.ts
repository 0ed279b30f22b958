/** What must be done for a tokenizer's normalizers where the library lacks one, or differs from Hugging Face's own. */

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

/**
 * Returns a function that changes a text before the library's normalizers see it, where they differ from those that
 * models are trained with.
 */
export function correction(normalizer: Normalizer | null | undefined): (text: string) => string {
  const all = listNormalizers(normalizer);
  const lowers = all.some(({ type, lowercase }) => type === 'Lowercase' || (type === 'BertNormalizer' && lowercase));
  const spaced = all.some(({ type, handle_chinese_chars }) => type === 'BertNormalizer' && handle_chinese_chars);
  return (text) => {
    // Hugging Face converts each character by itself; JavaScript has a special sigma at the end of a word.
    const lowered = lowers ? text.replaceAll('Σ', 'σ') : text;
    return spaced
      ? lowered.replace(/[\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/gu, ' $& ')
      : lowered;
  };
}

function listNormalizers(normalizer: Normalizer | null | undefined): readonly Normalizer[] {
  if (!normalizer) return [];
  return [normalizer, ...(normalizer.normalizers ?? []).flatMap(listNormalizers)];
}
