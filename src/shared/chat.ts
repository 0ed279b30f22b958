/** Conversations, as `text_generator` takes them. */
import { isPlainObject } from './is-plain-object.js';
import { wrongValue } from './read-options.js';

/** One message of a conversation. Templates may read other keys, such as `tool_calls`. */
export interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
  readonly [key: string]: unknown;
}

/** A conversation. */
export interface Chat {
  readonly messages: readonly ChatMessage[];
  /**
   * The tools that the model may call, in the template's form: mostly OpenAI's `{ type: 'function', function: { … } }`.
   */
  readonly tools?: readonly unknown[] | undefined;
}

/** A conversation before it was checked. */
interface Asked {
  readonly messages?: unknown;
  readonly tools?: unknown;
}

/**
 * Returns a conversation whose contents are texts, because not every template takes lists of parts: the parts of a
 * content are joined.
 * @throws `invalid-input` naming what a conversation must be, and what was given
 */
export function readChat({ messages, tools }: Asked): Chat {
  if (!Array.isArray(messages) || messages.length === 0)
    throw wrongValue('messages', 'a list of { role, content } with at least one', messages);
  if (tools !== undefined && !Array.isArray(tools)) throw wrongValue('tools', 'a list', tools);
  return { tools, messages: messages.map((message: unknown, at) => readMessage(message, `messages[${at}]`)) };
}

/** Reads a message. Only a message that calls tools may have no content. */
function readMessage(message: unknown, where: string): ChatMessage {
  if (!isPlainObject(message) || typeof message['role'] !== 'string')
    throw wrongValue(where, '{ role, content }', message);
  const { role, content } = message;
  const isEmpty = (content === undefined || content === null) && 'tool_calls' in message;
  return { ...message, role, content: isEmpty ? content : readContent(content, `${where}.content`) };
}

function readContent(content: unknown, where: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0)
    throw wrongValue(where, "a text, or a list of { type: 'text', text } with at least one", content);
  return content
    .map((part: unknown, at) => {
      if (isPlainObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      throw wrongValue(`${where}[${at}]`, 'a part of type "text"', isPlainObject(part) ? part['type'] : part);
    })
    .join('');
}
