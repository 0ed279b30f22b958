import { shorten } from '../../contract/describe-value.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { wrongValue } from '../../shared/read-options.js';
import { isRecord } from '../../shared/schema.js';
import { MAX_PARTS, MAX_ROW_TOKENS, MAX_STEPS, MAX_TOKEN_ID, MAX_TOKEN_LENGTH } from './limits.js';
import type { Template } from './post-processor.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Checks the values of a `tokenizer.json` that become token ids, or decide how long a row is, and those of its model.
 * @throws `model-format` naming the key, what it must be, and its value
 */
export function checkTokenizer(json: unknown): void {
  const root = record('the file', json);
  const model = record('model', root['model']);
  checkVocabulary(model);
  for (const [key, steps] of Object.entries(STEPS)) {
    const found = countSteps(root[key], steps);
    if (found > MAX_STEPS) throw wrong(key, `at most ${MAX_STEPS} steps`, found);
  }
  for (const key of ['unk_token', 'continuing_subword_prefix', 'end_of_word_suffix'])
    optional(model[key], (value) => string(`model.${key}`, value));
  optional(model['max_input_chars_per_word'], (value) => count('model.max_input_chars_per_word', value));
  optional(root['added_tokens'], (value) =>
    list('added_tokens', value).forEach((token, at) => {
      const { id, content } = record(`added_tokens[${at}]`, token);
      count(`added_tokens[${at}].id`, id, MAX_TOKEN_ID);
      checkLength(string(`added_tokens[${at}].content`, content), 'added_tokens');
    }),
  );
  optional(root['truncation'], (value) => count('truncation.max_length', record('truncation', value)['max_length']));
  optional(root['padding'], (value) => checkPadding(record('padding', value)));
}

/** The key of the steps within a step, for each kind of step. */
const STEPS = {
  normalizer: 'normalizers',
  pre_tokenizer: 'pretokenizers',
  decoder: 'decoders',
  post_processor: 'processors',
} as const;

/** Returns the number of steps, with those within steps. @param key of the steps within one */
function countSteps(step: unknown, key: string): number {
  const within = isRecord(step) ? step[key] : undefined;
  return Array.isArray(within) ? within.reduce<number>((sum, one) => sum + countSteps(one, key), 1) : 1;
}

function checkVocabulary({ type, vocab, unk_id }: Json): void {
  if (type === 'Unigram' || Array.isArray(vocab)) {
    const tokens = list('model.vocab', vocab);
    tokens.forEach((pair, id) => {
      const fits = Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'number';
      if (!fits) throw wrong(`model.vocab[${id}]`, 'a token and its score', pair);
      checkLength(pair[0]);
    });
    optional(unk_id, (value) => count('model.unk_id', value, tokens.length - 1));
    return;
  }
  const ids = record('model.vocab', vocab);
  for (const token in ids) {
    checkLength(token);
    if (!isCount(ids[token], MAX_TOKEN_ID)) count(`model.vocab["${shorten(token)}"]`, ids[token], MAX_TOKEN_ID);
  }
}

function checkLength(token: string, key = 'model.vocab'): void {
  if (token.length > MAX_TOKEN_LENGTH)
    throw wrong(`a token of ${key}`, `at most ${MAX_TOKEN_LENGTH} characters`, token);
}

/** Checks the ids that a `post_processor` adds to each row. @throws `model-format` */
export function checkTemplate({ single, pair }: Template): void {
  const key = 'every id of post_processor';
  for (const parts of [single, pair]) {
    const added = parts.reduce(
      (sum, part) => sum + ('ids' in part && Array.isArray(part.ids) ? part.ids.length : 1),
      0,
    );
    if (added > MAX_PARTS) throw wrong('post_processor', `at most ${MAX_PARTS} special tokens and parts`, added);
    for (const text of [0, 1])
      if (parts.filter((part) => 'text' in part && part.text === text).length > 1)
        throw wrong('post_processor', 'each text once', 'text ' + 'AB'[text]);
  }
  for (const part of [...single, ...pair]) {
    count(key, part.typeId);
    if ('ids' in part) list(key, part.ids).forEach((id) => count(key, id));
  }
}

function checkPadding(padding: Json): void {
  const { strategy } = padding;
  if (isRecord(strategy)) count('padding.strategy.Fixed', strategy['Fixed'], MAX_ROW_TOKENS);
  optional(padding['pad_to_multiple_of'], (value) => count('padding.pad_to_multiple_of', value, MAX_ROW_TOKENS));
  for (const key of ['pad_id', 'pad_type_id']) optional(padding[key], (value) => count(`padding.${key}`, value));
}

/** Returns the error for a text with which a tokenizer's steps fail. */
export function notApplicable(cause: unknown): TabServeError {
  return new TabServeError('invalid-input', `tokenizer.json cannot be applied to this text: ${messageOf(cause)}`, {
    cause,
  });
}

function optional(value: unknown, check: (value: unknown) => void): void {
  if (value !== undefined && value !== null) check(value);
}

function record(key: string, value: unknown): Json {
  if (!isRecord(value)) throw wrong(key, 'a mapping', value);
  return value;
}

function list(key: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(key, 'a list', value);
  return value;
}

function string(key: string, value: unknown): string {
  if (typeof value !== 'string') throw wrong(key, 'a string', value);
  return value;
}

/** Checks a count or a token id. */
function count(key: string, value: unknown, most = Number.MAX_SAFE_INTEGER): void {
  if (isCount(value, most)) return;
  throw wrong(key, most < Number.MAX_SAFE_INTEGER ? `an integer in 0..${most}` : 'an integer from 0 on', value);
}

/** Returns whether a value is a count or a token id. */
export function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;
}

function wrong(key: string, expected: string, value: unknown): TabServeError {
  return wrongValue(`tokenizer.json: ${key}`, expected, value, 'model-format');
}
