/** What a request of OpenAI's API says, as a generator of text takes it. */
import { describeValue } from '../../../contract/describe-value.js';
import type { Params } from '../../../contract/handler.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { ServingError } from '../../serving-error.js';

/** A body of JSON. A field that is null counts as missing, as in OpenAI's API. */
export type Body = Readonly<Record<string, unknown>>;

/** An error about one field of a request. OpenAI's errors name it as `param`. */
export class FieldError extends ServingError {
  constructor(
    readonly param: string,
    message: string,
  ) {
    super('invalid-input', 400, 'BadRequestException', `${param}: ${message}`);
  }
}

/** Returns the fields of a body that are not null. @throws `invalid-input` if it is no object */
export function fieldsOf(body: unknown): Body {
  if (!isPlainObject(body)) throw new FieldError('body', `expected a JSON object, got ${describeValue(body)}.`);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== undefined));
}

/** Fields that change no answer here. */
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

/** Fields of which only the values that change nothing are taken. */
const NEUTRAL: Readonly<Record<string, (value: unknown) => boolean>> = {
  best_of: (value) => value === 1,
  echo: (value) => value === false,
  frequency_penalty: (value) => value === 0,
  logit_bias: (value) => isPlainObject(value) && Object.keys(value).length === 0,
  logprobs: (value) => value === false,
  modalities: (value) => Array.isArray(value) && value.join() === 'text',
  n: (value) => value === 1,
  presence_penalty: (value) => value === 0,
  suffix: (value) => value === '',
  tool_choice: (value) => value === 'auto' || value === 'none',
  top_logprobs: (value) => value === 0,
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

/**
 * Returns the handler's params of a request. A temperature above 0, `top_p`, `top_k` and `min_p` draw tokens by their
 * probability; a temperature of 0 takes the most probable ones.
 * @param others the fields that the caller has read
 * @throws `invalid-input` for a field that is not known, or whose value would change the answer and is not supported
 */
export function paramsOf(body: Body, others: readonly string[]): Params {
  const params: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(body)) {
    const isNeutral = Object.hasOwn(NEUTRAL, name) ? NEUTRAL[name] : undefined;
    if (others.includes(name) || WITHOUT_EFFECT.has(name)) continue;
    if (Object.hasOwn(PARAMS, name)) params[PARAMS[name]!] ??= value;
    else if (name === 'response_format') Object.assign(params, responseFormatOf(value));
    else if (MORE_PARAMS.has(name)) params[camelCase(name)] = value;
    else if (!isNeutral) throw new FieldError(name, 'this field is not known here.');
    else if (!isNeutral(value)) throw new FieldError(name, `${describeValue(value)} is not supported here.`);
  }
  const { temperature, ...rest } = params;
  if (temperature === 0) return { ...rest, doSample: false };
  const isDrawn = ['topP', 'topK', 'minP'].some((name) => name in params) || temperature !== undefined;
  return { ...(isDrawn && { doSample: true }), ...params };
}

/** Returns the handler's param for a `response_format`. @throws `invalid-input` naming what is not known */
function responseFormatOf(format: unknown): Params {
  const type = isPlainObject(format) ? format['type'] : undefined;
  if (!isPlainObject(format) || (type !== 'text' && type !== 'json_object' && type !== 'json_schema'))
    throw new FieldError(
      'response_format',
      `expected an object with the type text, json_object or json_schema, got ${describeValue(isPlainObject(format) ? type : format)}.`,
    );
  const keys = type === 'json_schema' ? ['type', 'json_schema'] : ['type'];
  checkFields(format, keys, 'response_format');
  if (type === 'text') return {};
  if (type === 'json_object') return { responseFormat: { type } };
  const { json_schema: given } = format;
  if (!isPlainObject(given) || given['schema'] === undefined)
    throw new FieldError('response_format.json_schema', `expected { name, schema }, got ${describeValue(given)}.`);
  // With or without `strict`, the answer fits.
  checkFields(given, ['name', 'description', 'schema', 'strict'], 'response_format.json_schema');
  return { responseFormat: { type, schema: given['schema'] } };
}

function checkFields(value: Body, known: readonly string[], path: string): void {
  const unknown = Object.keys(value).find((key) => !known.includes(key));
  if (unknown !== undefined) throw new FieldError(`${path}.${unknown}`, 'this field is not known here.');
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** A conversation as `text_generator` takes it. */
export interface Conversation {
  readonly messages: readonly Body[];
  readonly tools?: readonly unknown[];
}

/**
 * Returns the conversation of a request. The texts of a message's parts are joined; a message of the developer is one of
 * the system.
 * @throws `invalid-input` for a message that is no object with a role, or has a part that is no text
 */
export function conversationOf({ messages, tools, tool_choice: choice }: Body): Conversation {
  if (!Array.isArray(messages) || messages.length === 0)
    throw new FieldError('messages', `expected a list with at least one, got ${describeValue(messages)}.`);
  if (tools !== undefined && !Array.isArray(tools))
    throw new FieldError('tools', `expected a list, got ${describeValue(tools)}.`);
  return {
    messages: messages.map((message: unknown, index) => messageOf(message, `messages[${index}]`)),
    ...(tools && tools.length > 0 && choice !== 'none' && { tools }),
  };
}

function messageOf(message: unknown, path: string): Body {
  if (!isPlainObject(message) || typeof message['role'] !== 'string')
    throw new FieldError(path, `expected { role, content }, got ${describeValue(message)}.`);
  const { role, content } = message;
  return { ...message, role: role === 'developer' ? 'system' : role, content: textOf(content, `${path}.content`) };
}

function textOf(content: unknown, path: string): string {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content))
    throw new FieldError(path, `expected a text or a list of parts, got ${describeValue(content)}.`);
  return content
    .map((part: unknown, index) => {
      if (isPlainObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      const got = isPlainObject(part) ? describeValue(part['type']) : describeValue(part);
      throw new FieldError(`${path}[${index}]`, `expected a part of type "text", got ${got}.`);
    })
    .join('');
}

/** The most texts of one request: they run as one batch. OpenAI's limit. */
const MAX_TEXTS = 2048;

/** Returns a field that is one text or several. @throws `invalid-input` for tokens, and for none or too many */
export function textsOf(value: unknown, name: string): readonly string[] {
  const texts: readonly unknown[] = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  if (texts.length > MAX_TEXTS) throw new FieldError(name, `expected at most ${MAX_TEXTS}, got ${texts.length}.`);
  if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return texts;
  throw new FieldError(name, `expected a text or a list of texts, got ${describeValue(value)}.`);
}
