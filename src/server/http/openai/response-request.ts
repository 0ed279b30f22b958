/** A request to `/v1/responses`, as one of `/v1/chat/completions`. */
import { describeValue } from '../../../contract/describe-value.js';
import type { ServedVersion } from '../../served-version.js';
import type { Params } from '../../../contract/handler.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { chatParamsOf } from './chat-params.js';
import { inFieldNames } from './field-names.js';
import { topOfResponse } from './logprobs.js';
import { conversationOf } from './inputs.js';
import { mediaOf } from './models.js';
import { paramsOf } from './params.js';
import { checkKnown, FieldError, unknownField, withoutNull, wrongField, wrongValue, type Body } from './request.js';
import {
  chatToolChoiceOf,
  chatToolsOf,
  itemsOf,
  messagesOf,
  responseFormatOfText,
  type Item,
} from './response-input.js';
import { streamOptionsOf } from './stream-options.js';
import type { ResponseStore } from './response-store.js';

/** Fields that are read here. The others are those of chats. */
const FIELDS = new Set([
  'include',
  'input',
  'instructions',
  'max_output_tokens',
  'previous_response_id',
  'reasoning',
  'store',
  'stream',
  'stream_options',
  'text',
  'tool_choice',
  'tools',
  'top_logprobs',
]);
/** Fields of chats that this API has by another name, or not. */
const FIELDS_OF_CHATS = ['messages', 'max_completion_tokens', 'max_tokens', 'response_format', 'reasoning_effort', 'n'];
/** Fields of which only the values without an effect are accepted. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  background: [false],
  truncation: ['disabled'],
};
/** What `include` may name: the probabilities of tokens; without an effect reasoning, which is never encrypted here. */
const LOGPROBS = 'message.output_text.logprobs';
const INCLUDABLE = new Set<unknown>([LOGPROBS, 'reasoning.encrypted_content']);

/** Names of fields of chats, and of this API. */
const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_output_tokens',
  reasoning_effort: 'reasoning.effort',
  'response_format.json_schema': 'text.format',
  response_format: 'text.format',
};

/** What a request asks for. */
export interface ResponseRequest {
  readonly input: { readonly messages: readonly unknown[] };
  readonly params: Params;
  /** The items before the output. */
  readonly items: readonly Item[];
  /** The fields that the response repeats. */
  readonly echo: object;
  readonly isStored: boolean;
  /** Returns an error in the names of this API. */
  readonly named: (error: unknown) => unknown;
}

/**
 * Reads a request.
 * @throws `invalid-input` naming the field that is wrong
 */
export function readRequest(body: Body, served: ServedVersion): ResponseRequest {
  const { instructions, previous_response_id: previousId, store = true } = body;
  if (typeof store !== 'boolean') throw wrongValue('store', 'true or false', store);
  for (const [name, values] of Object.entries(NEUTRAL))
    if (name in body && !values.includes(body[name]))
      throw wrongField(name, `${describeValue(body[name])} is not supported here.`, 'unsupported_value');
  const topLogprobs = topOfResponse(body, readInclude(body['include']).includes(LOGPROBS));
  streamOptionsOf(body);
  const { responses: stored } = served;
  const before = previousId === undefined ? [] : itemsBefore(previousId, stored);
  const own = itemsOf(body['input'], (id) => stored?.item(id));
  const items = [...before, ...own];
  const nameOf = (at: number): string =>
    at < before.length ? `previous_response_id: item ${at}` : `input[${at - before.length}]`;
  const { messages, names } = messagesOf(items, instructions, nameOf);
  const chat = chatBodyOf(body, messages);
  try {
    const shared = paramsOf(chat, ['model', 'messages', 'tools', 'tool_choice', 'reasoning_effort']);
    const { params, fields } = chatParamsOf(chat);
    const all = new Map([...shared.fields, ...fields, ['topLogprobs', 'include'] as const]);
    return {
      input: conversationOf(chat, mediaOf(served)),
      params: { ...shared.params, ...params, ...(topLogprobs !== undefined && { topLogprobs }) },
      items,
      echo: echoOf(body),
      isStored: store,
      named: (error) => renamed(inFieldNames(error, all), names),
    };
  } catch (error) {
    throw renamed(error, names);
  }
}

function itemsBefore(id: unknown, store: ResponseStore | undefined): readonly Item[] {
  const previous = typeof id === 'string' ? store?.get(id) : undefined;
  if (previous) return [...previous.input, ...previous.body.output];
  throw wrongField('previous_response_id', `no response with the id ${describeValue(id)} is stored here.`);
}

function readInclude(include: unknown = []): readonly unknown[] {
  if (!Array.isArray(include)) throw wrongValue('include', 'a list', include);
  const other: unknown = include.find((one) => !INCLUDABLE.has(one));
  if (other === undefined) return include;
  throw wrongField('include', `${describeValue(other)} is not supported here.`, 'unsupported_value');
}

/** Returns the request as one of chats. */
function chatBodyOf(body: Body, messages: readonly unknown[]): Body {
  const others = Object.fromEntries(
    Object.entries(body).filter(([name]) => !FIELDS.has(name) && !Object.hasOwn(NEUTRAL, name)),
  );
  for (const name of FIELDS_OF_CHATS) if (name in others) throw unknownField(name);
  const { reasoning = {}, text, tools, tool_choice: choice, max_output_tokens: most } = body;
  if (!isPlainObject(reasoning)) throw wrongValue('reasoning', 'an object', reasoning);
  // There are no summaries: the reasoning itself is sent.
  checkKnown(reasoning, ['effort', 'summary', 'generate_summary'], 'reasoning.');
  return withoutNull({
    ...others,
    messages,
    tools: chatToolsOf(tools),
    tool_choice: chatToolChoiceOf(choice),
    reasoning_effort: reasoning['effort'],
    response_format: responseFormatOfText(text),
    max_completion_tokens: most,
  });
}

/**
 * Returns an error about a field of a chat as one about the field of this API.
 * @param names those of its messages
 */
function renamed(error: unknown, names: readonly string[]): unknown {
  if (!(error instanceof FieldError)) return error;
  const rename = (text: string): string => {
    const inMessages = text.replace(/^messages\[(\d+)\]/, (whole, at: string) => names[Number(at)] ?? whole);
    return Object.entries(NAMES).reduce((all, [old, name]) => all.replaceAll(old, name), inMessages);
  };
  return new FieldError(rename(error.param), rename(error.message), error.cause, error.fieldCode);
}

function echoOf(body: Body): object {
  const { instructions, max_output_tokens, metadata, previous_response_id, reasoning, temperature, top_p } = body;
  const { parallel_tool_calls, text, tool_choice, tools, user } = body;
  return {
    background: false,
    error: null,
    instructions: instructions ?? null,
    max_output_tokens: max_output_tokens ?? null,
    metadata: metadata ?? {},
    parallel_tool_calls: parallel_tool_calls ?? true,
    previous_response_id: previous_response_id ?? null,
    reasoning: reasoning ?? { effort: null, summary: null },
    temperature: temperature ?? null,
    text: text ?? { format: { type: 'text' } },
    tool_choice: tool_choice ?? 'auto',
    tools: tools ?? [],
    top_logprobs: body['top_logprobs'] ?? 0,
    top_p: top_p ?? null,
    truncation: 'disabled',
    ...(user !== undefined && { user }),
  };
}
