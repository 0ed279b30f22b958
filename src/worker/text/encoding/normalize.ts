import { TabServeError } from '../../../contract/errors.js';
import type { AlignedText, Change } from './aligned-text.js';
import { readCharsmap } from './charsmap.js';
import { toRegExp, type PatternJson } from './patterns.js';
import { isWhiteSpace, spacesAfter, spacesBefore } from './spaces.js';
import { toUnicodeForm } from './unicode-forms.js';

export type Normalize = (text: AlignedText) => AlignedText;

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
  readonly pattern?: PatternJson;
  readonly content?: string;
  readonly precompiled_charsmap?: unknown;
}

/** The characters that `Nmt` removes, and those that it makes spaces. */
// oxlint-disable-next-line no-control-regex
const NMT_REMOVED = /[\u0001-\u0008\u000b\u000e-\u001f\u007f\u008f\u009f]/gu;
const NMT_SPACES = /[\t\n\f\r\u1680\u200b-\u200f\u2028\u2029\u2581\ufeff\ufffd]/gu;

/**
 * Returns the function of a normalizer, which aligns texts as Hugging Face's own does.
 * @throws `unsupported` for a type that is not known here; `model-format` if one of its values is wrong
 */
export function createNormalizer(json: Normalizer | null | undefined): Normalize {
  if (!json) return (text) => text;
  switch (json.type) {
    case 'Sequence': {
      const steps = (json.normalizers ?? []).map(createNormalizer);
      return (text) => steps.reduce((changed, step) => step(changed), text);
    }
    case 'BertNormalizer':
      return (text) => bert(text, json);
    case 'NFC':
    case 'NFD':
    case 'NFKC':
    case 'NFKD': {
      const { type } = json;
      return (text) => toUnicodeForm(text, type);
    }
    case 'Lowercase':
      return lowercase;
    case 'StripAccents':
      return (text) => text.filter((character) => !/^\p{M}$/u.test(character));
    case 'Strip':
      return (text) => strip(text, json);
    case 'Prepend':
      return (text) => text.prepend(json.prepend ?? '');
    case 'Replace': {
      const { content = '' } = json;
      const pattern = toRegExp(json.pattern);
      return (text) => text.replace(pattern, content);
    }
    case 'Nmt':
      return (text) => text.replace(NMT_REMOVED, '').replace(NMT_SPACES, ' ');
    case 'Precompiled': {
      const replacement = readCharsmap(json.precompiled_charsmap);
      return (text) => precompiled(text, replacement);
    }
    default:
      throw unknownStep('normalizer', json.type);
  }
}

export function unknownStep(kind: string, type: string): TabServeError {
  return new TabServeError(
    'unsupported',
    `tokenizer.json has the ${kind} "${type}", which TabServe does not support. Save the tokenizer without it, or tokenize in a handler of your own: base_handler takes the tokens' ids.`,
  );
}

/** Steps whose order matters: accents are removed before letters are lowered. */
function bert(text: AlignedText, options: Normalizer): AlignedText {
  const { clean_text, handle_chinese_chars, lowercase: lowers = false, strip_accents } = options;
  let changed = text;
  if (clean_text) changed = cleaned(changed);
  if (handle_chinese_chars && CHINESE.test(changed.text))
    changed = changed.transform(
      [...changed.text].flatMap((character): readonly Change[] =>
        CHINESE.test(character)
          ? [
              [' ', 0],
              [character, 1],
              [' ', 1],
            ]
          : [[character, 0]],
      ),
    );
  if (strip_accents ?? lowers) {
    changed = toUnicodeForm(changed, 'NFD').filter((character) => !/^\p{Mn}$/u.test(character));
  }
  return lowers ? lowercase(changed) : changed;
}

const CHINESE =
  /[\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\u{20000}-\u{2A6DF}\u{2A700}-\u{2B81F}\u{2B920}-\u{2CEAF}\u{2F800}-\u{2FA1F}]/u;

function cleaned(text: AlignedText): AlignedText {
  // oxlint-disable-next-line no-control-regex
  const visible = text.filter((character) => /^[\t\n\r]$|^[^\0\uFFFD\p{Cc}\p{Cf}\p{Co}]$/u.test(character));
  return visible.transform(Array.from(visible.text, (character) => [isWhiteSpace(character) ? ' ' : character, 0]));
}

function lowercase(text: AlignedText): AlignedText {
  if (text.text.toLowerCase() === text.text) return text;
  return text.transform(
    [...text.text].flatMap((character) =>
      Array.from(character.toLowerCase(), (lower, at): Change => [lower, at > 0 ? 1 : 0]),
    ),
  );
}

function strip(aligned: AlignedText, { strip_left, strip_right }: Normalizer): AlignedText {
  const { text } = aligned;
  const start = strip_left ? spacesAfter(text, 0) : 0;
  const end = strip_right ? text.length - spacesBefore(text, text.length) : text.length;
  return aligned.slice(Math.min(start, end), end);
}

/**
 * Applies SentencePiece's rules as Hugging Face does: to a short cluster of characters as a whole, otherwise to each.
 */
function precompiled(text: AlignedText, replacement: (text: string) => string | undefined): AlignedText {
  const changes: Change[] = [];
  const replace = (old: string, content: string): void => {
    const characters = [...content];
    const more = characters.length - [...old].length;
    const inserted = characters.length - Math.max(0, more);
    changes.push(...characters.map((character, at): Change => [character, at >= inserted ? 1 : 0]));
    const last = changes.at(-1);
    if (more < 0 && last) changes[changes.length - 1] = [last[0], last[1] + more];
  };
  for (const segment of clustersOf(text.text)) {
    const whole = segment.length < 6 && utf8Length(segment) < 6 ? replacement(segment) : undefined;
    if (whole !== undefined) replace(segment, whole);
    else
      for (const character of segment) {
        const other = replacement(character);
        if (other === undefined) changes.push([character, 0]);
        else replace(character, other);
      }
  }
  return text.transform(changes);
}

/** Yields the grapheme clusters of a text. A segmenter takes a time that grows with the square of a text's length. */
function* clustersOf(text: string): Generator<string> {
  const segmenter = new Intl.Segmenter('und', { granularity: 'grapheme' });
  let size = SEGMENTED;
  for (let from = 0; from < text.length;) {
    const clusters = [...segmenter.segment(text.slice(from, from + size))];
    // The last one may continue after this part.
    if (from + size < text.length) clusters.pop();
    size = clusters.length === 0 ? size * 2 : SEGMENTED;
    for (const { segment } of clusters) {
      yield segment;
      from += segment.length;
    }
  }
}

/** The number of UTF-16 units that are segmented at once. */
const SEGMENTED = 256;

function utf8Length(text: string): number {
  return new TextEncoder().encode(text).length;
}
