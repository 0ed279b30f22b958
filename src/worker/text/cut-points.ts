import { isRecord } from '../../shared/schema.js';

/**
 * Where a long text can be cut into pieces whose tokens, one after the other, are the tokens of the whole text: between
 * a letter or digit and a space that another one follows; with tokenizers that separate punctuation and Chinese
 * characters, before those too. At such a point no step of the tokenizer looks at both sides. A step that is not in the
 * lists here may look anywhere, so with such a tokenizer texts are not cut.
 */

/** What a `tokenizer.json` says about one step. Any option may be missing, or have the wrong type. */
type Step = Readonly<Record<string, unknown>>;

/**
 * A letter or digit, but for Arabic presentation forms and three more, some of which become a space with a combining
 * mark.
 */
const WORD = '(?![\\u037a\\ufb50-\\ufeff\\uff9e\\uff9f])[\\p{L}\\p{N}]';
const SPACE = `(?<=${WORD})(?= ${WORD})`;
/** Letters that Unicode normalization leaves as they are. */
const STABLE = 'A-Za-z0-9\\u3041-\\u3096\\u30a1-\\u30fa\\u4e00-\\u9fff';
const CHINESE = '(?<=[\\u4e00-\\u9fff])(?=[\\u4e00-\\u9fff])';
const PUNCTUATION = [...'!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~、。，！？；：'];

/** Normalizers that change each character by itself, or together with the combining marks after it. */
const LOCAL = new Set([
  'BertNormalizer',
  'Precompiled',
  'Nmt',
  'NFC',
  'NFD',
  'NFKC',
  'NFKD',
  'StripAccents',
  'Lowercase',
]);

const CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
const UPPER = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const LOWER = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const BEFORE_WORD = String.raw`[^\r\n\p{L}\p{N}]?`;
/** What matches words in the patterns of published tokenizers (GPT-2, GPT-4, GPT-4o, Llama 3, Qwen, Mistral). */
const WORDS = new Set([
  String.raw` ?\p{L}+`,
  `${BEFORE_WORD}${String.raw`\p{L}+`}`,
  ...['', `${CONTRACTIONS}?`].flatMap((ending) => [
    `${BEFORE_WORD}${UPPER}*${LOWER}+${ending}`,
    `${BEFORE_WORD}${UPPER}+${LOWER}*${ending}`,
  ]),
]);
/** What else is in those patterns. No match of these, or of words, has a space behind a letter or digit. */
const OTHERS = new Set([
  CONTRACTIONS,
  ..."'s|'t|'re|'ve|'m|'ll|'d".split('|'),
  String.raw`\p{N}`,
  String.raw`\p{N}+`,
  String.raw`\p{N}{1,3}`,
  String.raw` ?\p{N}+`,
  String.raw` ?[^\s\p{L}\p{N}]+`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n]*`,
  String.raw` ?[^\s\p{L}\p{N}]+[\r\n/]*`,
  String.raw`\s*[\r\n]`,
  String.raw`\s*[\r\n]+`,
  String.raw`\s+(?!\S)`,
  String.raw`\s+`,
]);

/**
 * Returns an expression that matches the empty string at each point where texts can be cut, or undefined if this
 * tokenizer's texts cannot be cut.
 */
export function findCutPoints(tokenizer: Step, config: Step): RegExp | undefined {
  const added = addedTokens(tokenizer['added_tokens']);
  const normalizers = flatten(tokenizer['normalizer'], 'normalizers');
  const [first, ...rest] = flatten(tokenizer['pre_tokenizer'], 'pretokenizers');
  const model = isRecord(tokenizer['model']) ? tokenizer['model'] : {};
  const metaspace = [first, ...rest].find((step) => step?.['type'] === 'Metaspace');
  const marker = typeof metaspace?.['replacement'] === 'string' ? metaspace['replacement'] : '▁';
  if (!first || !added || config['remove_space']) return undefined;
  if (!['WordPiece', 'BPE', 'Unigram'].includes(model['type'] as string)) return undefined;
  if (!normalizers.every((step) => isLocal(step, marker))) return undefined;
  // A model that fuses unknown tokens fuses them across words, unless each word begins with a known one.
  const fuses = model['type'] === 'Unigram' || model['fuse_unk'];
  const vocabulary = tokensOf(model['vocab']);
  if (fuses && !(metaspace && vocabulary.includes(marker))) return undefined;
  if (metaspace && (metaspace['str_rep'] ?? marker) !== marker) return undefined;
  if (rest.some((step) => step['type'] === 'Metaspace' && step['prepend_scheme'] === 'first')) return undefined;

  const names = normalizers.map(({ type }) => type);
  const punctuation = PUNCTUATION.filter((mark) => !added.some((content) => content.includes(mark)));
  const before = `(?=[${punctuation.map((mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}])`;
  const anyOf = (...points: string[]): RegExp => new RegExp(points.join('|'), 'gu');
  switch (first['type']) {
    case 'BertPreTokenizer': {
      if (names.some((name) => name !== 'BertNormalizer' && name !== 'NFC')) return anyOf(SPACE);
      const chinese = normalizers.some(({ handle_chinese_chars: separated }) => separated);
      return anyOf(SPACE, `(?<=[${STABLE}])${before}`, ...(chinese ? [CHINESE] : []));
    }
    case 'ByteLevel':
      if (first['use_regex'] === false) return undefined;
      if (first['add_prefix_space'] || names.some((name) => name !== 'NFC')) return anyOf(SPACE);
      return anyOf(SPACE, `(?<=[${STABLE}])${before}`);
    case 'Whitespace':
    case 'WhitespaceSplit':
      return anyOf(SPACE);
    case 'Metaspace':
      return rest.length === 0 && joinsNoWords(model, vocabulary, marker) ? anyOf(SPACE) : undefined;
    default:
      return splitsBytes([first, ...rest]) ? anyOf(SPACE) : undefined;
  }
}

/** Returns whether the steps, of which the last makes bytes, divide words before their spaces, and nothing else of them. */
function splitsBytes(steps: readonly Step[]): boolean {
  let dividesWords = false;
  for (const { type, pattern, behavior, invert, use_regex: byWords } of steps) {
    if (type === 'ByteLevel') dividesWords ||= byWords !== false;
    else if (type === 'Split') {
      const parts = isRecord(pattern) && typeof pattern['Regex'] === 'string' ? alternatives(pattern['Regex']) : [];
      if (behavior !== 'Isolated' || invert || parts.length === 0) return false;
      if (!parts.every((part) => WORDS.has(part) || OTHERS.has(part))) return false;
      dividesWords ||= parts.some((part) => WORDS.has(part));
    } else if (type !== 'Digits') return false;
  }
  return dividesWords && steps.at(-1)!['type'] === 'ByteLevel';
}

/** Returns the alternatives of an expression: what `|` divides outside of groups. */
function alternatives(expression: string): readonly string[] {
  const found = [''];
  let depth = 0;
  for (const character of expression) {
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (character === '|' && depth === 0) found.push('');
    else found.push(found.pop()! + character);
  }
  return found;
}

/**
 * Returns the contents of the added tokens; undefined if one of them may contain a point to cut at, or removes spaces
 * beside it.
 */
function addedTokens(value: unknown): readonly string[] | undefined {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) return undefined;
  const fits = value.every(
    (token: unknown) =>
      isRecord(token) &&
      typeof token['content'] === 'string' &&
      /^[!-~]+$/.test(token['content']) &&
      ((!token['lstrip'] && !token['rstrip']) || /^[^A-Za-z0-9](.*[^A-Za-z0-9])?$/.test(token['content'])),
  );
  return fits ? value.map(({ content }: { content: string }) => content) : undefined;
}

function isLocal(step: Step, marker: string): boolean {
  const { type, pattern, content } = step;
  if (type === 'Strip') return !step['strip_left'];
  if (type !== 'Replace') return LOCAL.has(type as string);
  if (!isRecord(pattern) || typeof content !== 'string') return false;
  if (pattern['Regex'] === ' {2,}') return content === ' ' || content === marker;
  if (pattern['String'] === ' ') return content === marker;
  return typeof pattern['String'] === 'string' && /^[^\s\p{L}\p{N}]+$/u.test(pattern['String']) && !/\s/.test(content);
}

/**
 * Returns whether no token has the end of one word and the beginning of the next, so that a model which sees all words
 * at once tokenizes each by itself.
 */
function joinsNoWords(model: Step, vocabulary: readonly string[], marker: string): boolean {
  if (model['ignore_merges'] || model['end_of_word_suffix']) return false;
  if (model['type'] === 'WordPiece' || marker === '' || !vocabulary.includes(marker)) return false;
  return vocabulary.every((token) => {
    let start = 0;
    while (token.startsWith(marker, start)) start += marker.length;
    return !token.includes(marker, start);
  });
}

function tokensOf(vocabulary: unknown): readonly string[] {
  if (!Array.isArray(vocabulary)) return isRecord(vocabulary) ? Object.keys(vocabulary) : [];
  return vocabulary.map((entry: unknown) => String((entry as readonly unknown[] | null)?.[0]));
}

/** Returns a step, or the steps of a `Sequence` instead of it, to any depth. */
function flatten(step: unknown, key: string): readonly Step[] {
  if (!isRecord(step)) return [];
  if (step['type'] !== 'Sequence') return [step];
  const steps = step[key];
  return Array.isArray(steps) ? steps.flatMap((one) => flatten(one, key)) : [];
}
