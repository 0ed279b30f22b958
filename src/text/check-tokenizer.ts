import { describeValue } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { isRecord } from '../shared/schema.js';
import { LONGEST_INSERT, LONGEST_ROW, LONGEST_WORD } from './limits.js';
import type { Template } from './post-processor.js';

/**
 * Checks the values of a `tokenizer.json` that decide how long tokenizing takes and how much memory it needs, and those that become token ids. The library that
 * reads the rest checks only whether the main keys are there.
 * @throws `model-format` naming the key, what it must be, and its value
 */
export function checkTokenizer(json: unknown): void {
  const root = record('the file', json);
  const model = record('model', root['model']);
  const { vocab } = model;
  if (model['type'] === 'Unigram' || Array.isArray(vocab)) {
    const pairs = list('model.vocab', vocab);
    pairs.forEach((pair, id) => {
      const fits = Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'number';
      if (!fits) throw wrong(`model.vocab[${id}]`, 'a token and its score', pair);
    });
  } else {
    for (const [token, id] of Object.entries(record('model.vocab', vocab))) count(`model.vocab["${token}"]`, id);
  }
  if (model['merges'] !== undefined) list('model.merges', model['merges']);
  optional(model['max_input_chars_per_word'], (value) => count('model.max_input_chars_per_word', value, LONGEST_WORD));
  optional(root['added_tokens'], (value) =>
    list('added_tokens', value).forEach((token, at) => {
      const { id, content } = record(`added_tokens[${at}]`, token);
      count(`added_tokens[${at}].id`, id);
      if (typeof content !== 'string') throw wrong(`added_tokens[${at}].content`, 'a string', content);
    }),
  );
  optional(root['normalizer'], (value) => checkSteps('normalizer', record('normalizer', value)));
  optional(root['pre_tokenizer'], (value) => checkSteps('pre_tokenizer', record('pre_tokenizer', value)));
  optional(root['truncation'], (value) => count('truncation.max_length', record('truncation', value)['max_length']));
  optional(root['padding'], (value) => checkPadding(record('padding', value)));
}

/** Checks the ids that a `post_processor` adds to each row. @throws `model-format` */
export function checkTemplate({ single, pair }: Template): void {
  const key = 'every id of post_processor';
  for (const part of [...single, ...pair]) {
    count(key, part.typeId);
    if ('ids' in part) list(key, part.ids).forEach((id) => count(key, id));
  }
}

/** Checks a normalizer or a pre-tokenizer and, if it is a sequence, its parts. */
function checkSteps(key: string, step: Readonly<Record<string, unknown>>): void {
  if (step['type'] === 'FixedLength') count(`${key}.length`, step['length'], LONGEST_ROW, 1);
  for (const name of ['content', 'prepend', 'replacement', 'str_rep']) {
    const text = step[name];
    if (typeof text === 'string' && text.length > LONGEST_INSERT)
      throw wrong(`${key}.${name}`, `a string of at most ${LONGEST_INSERT} characters`, text);
  }
  if (step['type'] !== 'Sequence') return;
  const parts = key === 'normalizer' ? 'normalizers' : 'pretokenizers';
  optional(step[parts], (value) =>
    list(`${key}.${parts}`, value).forEach((part) => checkSteps(key, record(`${key}.${parts}`, part))),
  );
}

function checkPadding(padding: Readonly<Record<string, unknown>>): void {
  const { strategy } = padding;
  if (isRecord(strategy)) count('padding.strategy.Fixed', strategy['Fixed'], LONGEST_ROW);
  optional(padding['pad_to_multiple_of'], (value) => count('padding.pad_to_multiple_of', value, LONGEST_ROW));
  for (const key of ['pad_id', 'pad_type_id']) optional(padding[key], (value) => count(`padding.${key}`, value));
}

function optional(value: unknown, check: (value: unknown) => void): void {
  if (value !== undefined && value !== null) check(value);
}

function record(key: string, value: unknown): Readonly<Record<string, unknown>> {
  if (!isRecord(value)) throw wrong(key, 'a mapping', value);
  return value;
}

function list(key: string, value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw wrong(key, 'a list', value);
  return value;
}

/** Checks a count or a token id. */
function count(key: string, value: unknown, most = Number.MAX_SAFE_INTEGER, least = 0): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return;
  throw wrong(key, most < Number.MAX_SAFE_INTEGER ? `an integer in ${least}..${most}` : 'an integer from 0 on', value);
}

function wrong(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-format', `tokenizer.json: ${key} must be ${expected}, got ${describeValue(value)}.`);
}
