import { describeValue, shorten } from '../contract/describe-value.js';
import { TabServeError } from '../contract/errors.js';
import { isRecord } from '../shared/schema.js';
import { checkPattern } from './check-pattern.js';
import {
  LONGEST_ADDED,
  LONGEST_INSERT,
  LONGEST_ROW,
  LONGEST_TOKEN,
  LONGEST_UNIGRAM_TOKEN,
  LONGEST_WORD,
  MOST_GROWTH,
  MOST_LONG_TOKENS,
  MOST_STEPS,
} from './limits.js';
import type { Template } from './post-processor.js';

/** What a `tokenizer.json` says about one step. Any option may be missing, or have the wrong type. */
type Step = Readonly<Record<string, unknown>>;

/**
 * Checks the values of a `tokenizer.json` that decide how long tokenizing takes and how much memory it needs, and those that become token ids. The library that
 * reads the rest checks only whether the main keys are there.
 * @throws `model-format` naming the key, what it must be, and its value; `unsupported` for a pattern that may take endless time
 */
export function checkTokenizer(json: unknown): void {
  const root = record('the file', json);
  const model = record('model', root['model']);
  checkVocabulary(model);
  if (model['merges'] !== undefined) list('model.merges', model['merges']);
  optional(model['max_input_chars_per_word'], (value) => count('model.max_input_chars_per_word', value, LONGEST_WORD));
  optional(root['added_tokens'], (value) => {
    let length = 0;
    list('added_tokens', value).forEach((token, at) => {
      const { id, content } = record(`added_tokens[${at}]`, token);
      count(`added_tokens[${at}].id`, id);
      if (typeof content !== 'string') throw wrong(`added_tokens[${at}].content`, 'a string', content);
      length += content.length + 1;
    });
    if (length > LONGEST_ADDED)
      throw tooMuch(`added_tokens have ${length} characters together; there may be ${LONGEST_ADDED}`);
  });
  let growth = 1;
  for (const key of ['normalizer', 'pre_tokenizer'])
    optional(root[key], (value) => {
      const steps = listSteps(key, record(key, value));
      if (steps.length > MOST_STEPS) throw tooMuch(`${key} has ${steps.length} steps; there may be ${MOST_STEPS}`);
      for (const step of steps) growth *= checkStep(key, step);
    });
  if (growth > MOST_GROWTH)
    throw tooMuch(`normalizer and pre_tokenizer make a text up to ${growth} times longer; the limit is ${MOST_GROWTH}`);
  optional(root['truncation'], (value) => count('truncation.max_length', record('truncation', value)['max_length']));
  optional(root['padding'], (value) => checkPadding(record('padding', value)));
}

/** Checks the types of a vocabulary, and how many of its tokens are long. */
function checkVocabulary(model: Readonly<Record<string, unknown>>): void {
  const { vocab } = model;
  const isUnigram = model['type'] === 'Unigram' || Array.isArray(vocab);
  const longest = isUnigram ? LONGEST_UNIGRAM_TOKEN : LONGEST_TOKEN;
  let long = 0;
  if (isUnigram) {
    list('model.vocab', vocab).forEach((pair, id) => {
      const fits = Array.isArray(pair) && typeof pair[0] === 'string' && typeof pair[1] === 'number';
      if (!fits) throw wrong(`model.vocab[${id}]`, 'a token and its score', pair);
      if ((pair[0] as string).length > longest) long += 1;
    });
  } else {
    const ids = record('model.vocab', vocab);
    for (const token of Object.keys(ids)) {
      if (!isCount(ids[token])) throw wrong(`model.vocab["${shorten(token)}"]`, 'an integer from 0 on', ids[token]);
      if (token.length > longest) long += 1;
    }
  }
  if (long > MOST_LONG_TOKENS)
    throw tooMuch(
      `model.vocab has ${long} tokens of more than ${longest} characters; there may be ${MOST_LONG_TOKENS}`,
    );
}

/** Checks the ids that a `post_processor` adds to each row. @throws `model-format` */
export function checkTemplate({ single, pair }: Template): void {
  const key = 'every id of post_processor';
  for (const part of [...single, ...pair]) {
    count(key, part.typeId);
    if ('ids' in part) list(key, part.ids).forEach((id) => count(key, id));
  }
}

/** Returns a normalizer or a pre-tokenizer, or its parts in the place of a sequence, to any depth. */
function listSteps(key: string, step: Step): readonly Step[] {
  if (step['type'] !== 'Sequence') return [step];
  const parts = key === 'normalizer' ? 'normalizers' : 'pretokenizers';
  return list(`${key}.${parts}`, step[parts] ?? []).flatMap((part) => listSteps(key, record(`${key}.${parts}`, part)));
}

/** Matches what JavaScript puts other text in the place of, when it inserts a text. */
const REFERENCE = /\$[$&`'<\d]/;

/** Checks one step. Returns how many times longer it may make a text, at most. */
function checkStep(key: string, step: Step): number {
  if (step['type'] === 'FixedLength') count(`${key}.length`, step['length'], LONGEST_ROW, 1);
  const { Regex: regex, String: string } = isRecord(step['pattern']) ? step['pattern'] : {};
  const shortest = typeof regex === 'string' ? checkPattern(`${key}.pattern`, regex) : typeof string === 'string' ? string.length : 1; // prettier-ignore
  let growth = 1;
  for (const name of ['content', 'prepend', 'replacement', 'str_rep']) {
    const text = step[name];
    if (typeof text !== 'string') continue;
    if (text.length > LONGEST_INSERT)
      throw wrong(`${key}.${name}`, `a string of at most ${LONGEST_INSERT} characters`, text);
    if (REFERENCE.test(text)) throw wrong(`${key}.${name}`, 'a string without $ before a sign or a digit', text);
    // What matches nothing inserts a text at each character.
    if (name !== 'prepend') growth = Math.max(growth, shortest > 0 ? text.length / shortest : 1 + text.length);
  }
  return growth;
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
  if (isCount(value, most, least)) return;
  throw wrong(key, most < Number.MAX_SAFE_INTEGER ? `an integer in ${least}..${most}` : 'an integer from 0 on', value);
}

function isCount(value: unknown, most = Number.MAX_SAFE_INTEGER, least = 0): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most;
}

function tooMuch(what: string): TabServeError {
  return new TabServeError('model-format', `tokenizer.json: ${what}.`);
}

function wrong(key: string, expected: string, value: unknown): TabServeError {
  return new TabServeError('model-format', `tokenizer.json: ${key} must be ${expected}, got ${describeValue(value)}.`);
}
