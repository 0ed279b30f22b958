/** Converts the fields of OpenAI's API to params of a handler that generates text. */
import { describeValue } from '../../../contract/describe-value.js';
import type { Params } from '../../../contract/handler.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import type { FieldNames } from './field-names.js';
import { unknownField, wrongField, type Body } from './request.js';
import { responseFormatOf } from './response-format.js';

/** Fields that are accepted and ignored. */
const WITHOUT_EFFECT = new Set([
  'metadata',
  'parallel_tool_calls',
  'prompt_cache_key',
  'prompt_cache_retention',
  'safety_identifier',
  'service_tier',
  'store',
  'user',
]);

/** Fields of which only the values without an effect are accepted. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  best_of: (value) => value === 1,
  echo: (value) => value === false,
  frequency_penalty: (value) => value === 0,
  logit_bias: (value) => isPlainObject(value) && Object.keys(value).length === 0,
  modalities: (value) => Array.isArray(value) && value.join() === 'text',
  presence_penalty: (value) => value === 0,
  suffix: (value) => value === '',
};

/** OpenAI's names of params, and the handler's. */
const PARAMS: Readonly<Record<string, string>> = {
  max_completion_tokens: 'maxNewTokens',
  max_tokens: 'maxNewTokens',
  seed: 'seed',
  stop: 'stop',
  temperature: 'temperature',
  top_p: 'topP',
};

/** Params of the handler that OpenAI's API does not have, as clients send them in `extra_body`. */
const MORE_PARAMS = new Set([
  'bad_words_ids',
  'do_sample',
  'eos_token_id',
  'max_new_tokens',
  'min_new_tokens',
  'min_p',
  'no_repeat_ngram_size',
  'repetition_penalty',
  'top_k',
]);

/** Params without which the most probable token is taken, unless the request or the repository says otherwise. */
const SAMPLING = ['temperature', 'topP', 'topK', 'minP'];

/** The handler's params of a request, and the fields that they come from. */
export interface ReadParams {
  readonly params: Params;
  readonly fields: FieldNames;
}

/** The maximum lengths of lists: OpenAI's of `stop`; those of the params, of which each token of an answer costs time. */
const MAX_LENGTHS: Readonly<Record<string, number>> = { stop: 4, eos_token_id: 100, bad_words_ids: 10_000 };

/**
 * Returns the handler's params of a request. A temperature above 0, `top_p`, `top_k` and `min_p` sample tokens by their
 * probability; a temperature of 0 takes the most probable ones.
 * @param others the fields that the caller has read
 * @throws `invalid-input` for a field that is not known, or whose value would change the answer and is not supported
 */
export function paramsOf(body: Body, others: readonly string[]): ReadParams {
  const params: Record<string, unknown> = {};
  const fields = new Map<string, string>();
  for (const [name, value] of Object.entries(body)) {
    if (others.includes(name) || WITHOUT_EFFECT.has(name)) continue;
    checkLength(name, value);
    const own = paramOf(name);
    if (own !== undefined) {
      const first = fields.get(own);
      if (first !== undefined && params[own] !== value)
        throw wrongField(name, `${describeValue(value)} contradicts ${first}, which is ${describeValue(params[own])}.`);
      if (first === undefined) fields.set(own, name);
      params[own] = value;
    } else if (name === 'response_format') {
      fields.set('responseFormat', name);
      Object.assign(params, responseFormatOf(value));
    } else checkNeutral(name, value);
  }
  const { temperature, ...rest } = params;
  if (temperature === 0 && rest['doSample'] === true)
    throw wrongField('temperature', '0 contradicts do_sample, which is true.');
  if (temperature === 0) return { params: { ...rest, doSample: false }, fields };
  const sampled = SAMPLING.find((name) => fields.has(name));
  if (sampled === undefined) return { params, fields };
  return { params: { doSample: true, ...params }, fields: new Map([['doSample', fields.get(sampled)!], ...fields]) };
}

function checkLength(name: string, value: unknown): void {
  const most = Object.hasOwn(MAX_LENGTHS, name) ? MAX_LENGTHS[name]! : Infinity;
  if (Array.isArray(value) && value.length > most)
    throw wrongField(name, `expected at most ${most}, got ${value.length}.`, 'array_above_max_length');
}

/** Returns the name of the param that a field sets. */
function paramOf(field: string): string | undefined {
  if (Object.hasOwn(PARAMS, field)) return PARAMS[field];
  return MORE_PARAMS.has(field) ? field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : undefined;
}

function checkNeutral(name: string, value: unknown): void {
  const isNeutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
  if (!isNeutral) throw unknownField(name);
  if (!isNeutral(value)) throw wrongField(name, `${describeValue(value)} is not supported here.`, 'unsupported_value');
}
