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
      return undefined;
  }
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
