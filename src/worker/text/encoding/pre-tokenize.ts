import { wrongValue } from '../../../shared/read-options.js';
import { byteLevelAlphabet } from '../token-bytes.js';
import { BEHAVIORS, findMatches, type AlignedText, type Change, type SplitBehavior } from './aligned-text.js';
import { unknownStep } from './normalize.js';
import { toRegExp, type PatternJson } from './patterns.js';

/** Splits a text into words, which a model tokenizes one by one. */
export type PreTokenize = (text: AlignedText) => readonly AlignedText[];

/** A pre-tokenizer of a `tokenizer.json`. */
export interface PreTokenizerJson {
  readonly type: string;
  readonly pretokenizers?: readonly PreTokenizerJson[];
  readonly pattern?: PatternJson;
  readonly behavior?: SplitBehavior;
  readonly invert?: boolean;
  readonly individual_digits?: boolean;
  readonly add_prefix_space?: boolean;
  readonly use_regex?: boolean;
  readonly replacement?: string;
  readonly prepend_scheme?: 'always' | 'first' | 'never';
  readonly split?: boolean;
  readonly length?: number;
}

const SPACE = /\p{White_Space}/gu;
const PUNCTUATION = /[\p{P}!-/:-@[-`{-~]/gu;
const WORD = '[\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}]';
const WORDS = new RegExp(`${WORD}+|(?:(?!${WORD})\\P{White_Space})+`, 'gu');
const BYTE_LEVEL =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?(?:(?![\p{L}\p{N}])\P{White_Space})+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/**
 * Returns the function of a pre-tokenizer, which splits and aligns texts as Hugging Face's own does.
 * @throws `unsupported` for a type that is not known here; `model-format` if one of its values is wrong
 */
export function createPreTokenizer(json: PreTokenizerJson | null | undefined): PreTokenize {
  if (!json) return (text) => [text];
  switch (json.type) {
    case 'Sequence': {
      const steps = (json.pretokenizers ?? []).map(createPreTokenizer);
      return (text) => steps.reduce<readonly AlignedText[]>((parts, step) => parts.flatMap(step), [text]);
    }
    case 'BertPreTokenizer':
      return (text) => splitAt(text, SPACE, 'Removed').flatMap((word) => splitAt(word, PUNCTUATION, 'Isolated'));
    case 'Whitespace':
      return (text) => splitAt(text, WORDS, 'Removed', true);
    case 'WhitespaceSplit':
      return (text) => splitAt(text, SPACE, 'Removed');
    case 'Punctuation': {
      const behavior = behaviorOf(json);
      return (text) => splitAt(text, PUNCTUATION, behavior);
    }
    case 'Digits':
      return (text) => splitAt(text, /\p{N}/gu, json.individual_digits ? 'Isolated' : 'Contiguous');
    case 'Split': {
      const { invert = false } = json;
      const behavior = behaviorOf(json);
      const pattern = toRegExp(json.pattern);
      return (text) => splitAt(text, pattern, behavior, invert);
    }
    case 'FixedLength':
      return (text) => splitAt(text, new RegExp(`[^]{1,${json.length ?? 5}}`, 'gu'), 'Isolated');
    case 'Metaspace':
      return (text) => metaspace(text, json);
    case 'ByteLevel':
      return (text) => byteLevel(text, json);
    default:
      throw unknownStep('pre_tokenizer', json.type);
  }
}

function behaviorOf({ type, behavior = 'Isolated' }: PreTokenizerJson): SplitBehavior {
  if (BEHAVIORS.includes(behavior)) return behavior;
  throw wrongValue(
    `tokenizer.json: behavior of the pre_tokenizer ${type}`,
    BEHAVIORS.join(', '),
    behavior,
    'model-format',
  );
}

/** @param inverts whether what the pattern does not match is what separates */
function splitAt(text: AlignedText, pattern: RegExp, behavior: SplitBehavior, inverts = false): readonly AlignedText[] {
  const matches = findMatches(text.text, pattern);
  return text.split(
    inverts ? matches.map(([start, end, isMatch]) => [start, end, !isMatch] as const) : matches,
    behavior,
  );
}

/** Splits a text at SentencePiece's marks of spaces. */
function metaspace(text: AlignedText, json: PreTokenizerJson): readonly AlignedText[] {
  const { replacement = '▁', add_prefix_space, split = true } = json;
  const scheme = add_prefix_space === false ? 'never' : (json.prepend_scheme ?? 'always');
  const marked = text.replace(/ /g, replacement);
  const isPrepended =
    !marked.text.startsWith(replacement) && (scheme === 'always' || (scheme === 'first' && marked.origin === 0));
  const whole = isPrepended ? marked.prepend(replacement) : marked;
  if (!split) return [whole];
  const literal = new RegExp(replacement.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`), 'gu');
  return splitAt(whole, literal, 'MergedWithNext');
}

/** Splits a text into GPT-2's words, each byte of UTF-8 as a character of its alphabet. */
function byteLevel(
  text: AlignedText,
  { add_prefix_space, use_regex = true }: PreTokenizerJson,
): readonly AlignedText[] {
  const whole = add_prefix_space && !text.text.startsWith(' ') ? text.prepend(' ') : text;
  const words = use_regex ? splitAt(whole, BYTE_LEVEL, 'Isolated') : [whole];
  return words.map((word) =>
    word.transform(
      [...word.text].flatMap((character) =>
        Array.from(utf8.encode(character), (byte, at): Change => [ALPHABET[byte]!, at > 0 ? 1 : 0]),
      ),
    ),
  );
}

const utf8 = new TextEncoder();

const ALPHABET = [...byteLevelAlphabet().keys()];
