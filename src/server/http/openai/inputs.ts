/** The conversation or the texts of a request, as handlers of texts take them. */
import { asTabServeError } from '../../../contract/errors.js';
import type { Medium } from '../../../contract/handler.js';
import { readChat, type Chat } from '../../../shared/chat.js';
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { withImages, withSounds } from './pictures.js';
import { FieldError, wrongField, wrongValue, type Body } from './request.js';

/**
 * Returns the conversation of a request. A developer message counts as a system message, and one that calls tools may
 * have null as its content.
 * @param media what its contents may have besides texts
 * @throws `invalid-input` naming the part that is wrong, such as `messages[0].content`
 */
export function conversationOf({ messages, tools, tool_choice: choice }: Body, media: readonly Medium[]): Chat {
  try {
    const read = (message: unknown, at: number): unknown => messageOf(message, `messages[${at}]`, media);
    if (Array.isArray(tools)) tools.forEach(checkTool);
    const chat = readChat({ messages: Array.isArray(messages) ? messages.map(read) : messages, tools }, media);
    return { messages: chat.messages, ...(chat.tools?.length && choice !== 'none' && { tools: chat.tools }) };
  } catch (cause) {
    if (cause instanceof FieldError) throw cause;
    const message = media.reduce(
      (own, medium) => own.replace(`{ type: '${medium}', ${medium} }`, OWN_PARTS[medium]),
      asTabServeError(cause).message,
    );
    const [field = ''] = /^[^:]+/.exec(message) ?? [];
    throw new FieldError(field, message, cause, 'invalid_value');
  }
}

/** How the parts of a content are written here that are no texts. */
const OWN_PARTS: Readonly<Record<Medium, string>> = {
  image: "{ type: 'image_url', image_url: { url } }",
  audio: "{ type: 'input_audio', input_audio: { data, format } }",
};

function checkTool(tool: unknown, at: number): void {
  const { type, function: called } = isPlainObject(tool) ? tool : {};
  if (type !== 'function')
    throw wrongField(`tools[${at}].type`, 'only the type "function" is supported here.', 'unsupported_value');
  if (!isPlainObject(called) || typeof called['name'] !== 'string' || called['name'] === '')
    throw wrongValue(`tools[${at}].function`, '{ name, description, parameters }', called);
}

function messageOf(message: unknown, where: string, media: readonly Medium[]): unknown {
  if (!isPlainObject(message)) return message;
  const { role, content, tool_calls: calls } = message;
  return {
    ...message,
    role: role === 'developer' ? 'system' : role,
    content: role === 'assistant' && calls ? (content ?? '') : withMedia(content, where, media),
  };
}

function withMedia(content: unknown, where: string, media: readonly Medium[]): unknown {
  if (!Array.isArray(content)) return content;
  const withPictures = media.includes('image') ? withImages(content, where) : content;
  return media.includes('audio') ? withSounds(withPictures, where) : withPictures;
}

/** The maximum number of texts of one request: they run as one batch. OpenAI's limit. */
const MAX_TEXTS = 2048;

/** A text, or the ids of its tokens, as handlers take them. */
type TextOrTokens = string | { readonly tokens: readonly number[] };

/**
 * Returns a field that is one text or several, each as it is or by the ids of its tokens, which are those of the
 * model's own tokenizer.
 * @throws `invalid-input` for anything else, and for none or too many
 */
export function textsOf(value: unknown, name: string): readonly TextOrTokens[] {
  const isOne = typeof value === 'string' || isIds(value);
  const texts: readonly unknown[] = isOne ? [value] : Array.isArray(value) ? value : [];
  if (texts.length > MAX_TEXTS)
    throw wrongField(name, `expected at most ${MAX_TEXTS}, got ${texts.length}.`, 'array_above_max_length');
  if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return texts;
  if (texts.length > 0 && texts.every(isIds)) return texts.map((tokens) => ({ tokens }));
  throw wrongValue(name, 'a text, the ids of its tokens, or a list of either', value);
}

function isIds(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((id) => typeof id === 'number');
}
