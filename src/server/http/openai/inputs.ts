/** The conversations and texts of a request, as handlers of texts take them. */
import { isPlainObject } from '../../../shared/is-plain-object.js';
import { wrongField, wrongValue, type Body } from './request.js';

/** A conversation as `text_generator` takes it. */
export interface Conversation {
  readonly messages: readonly Body[];
  readonly tools?: readonly unknown[];
}

/**
 * Returns the conversation of a request. The texts of a message's parts are joined; a message of the developer is one of
 * the system.
 * @throws `invalid-input` for a message that is no object with a role, or has no text, or a part that is none
 */
export function conversationOf({ messages, tools, tool_choice: choice }: Body): Conversation {
  if (!Array.isArray(messages) || messages.length === 0)
    throw wrongValue('messages', 'a list with at least one', messages);
  if (tools !== undefined && !Array.isArray(tools)) throw wrongValue('tools', 'a list', tools);
  return {
    messages: messages.map((message: unknown, index) => messageOf(message, `messages[${index}]`)),
    ...(tools && tools.length > 0 && choice !== 'none' && { tools }),
  };
}

function messageOf(message: unknown, path: string): Body {
  if (!isPlainObject(message) || typeof message['role'] !== 'string')
    throw wrongValue(path, '{ role, content }', message);
  const { role, tool_calls: calls } = message;
  // Only a message that calls tools may have no text.
  const content = role === 'assistant' && calls ? (message['content'] ?? '') : message['content'];
  return { ...message, role: role === 'developer' ? 'system' : role, content: textOf(content, `${path}.content`) };
}

function textOf(content: unknown, path: string): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content) || content.length === 0)
    throw wrongValue(path, 'a text or a list of at least one part', content);
  return content
    .map((part: unknown, index) => {
      if (isPlainObject(part) && part['type'] === 'text' && typeof part['text'] === 'string') return part['text'];
      throw wrongValue(`${path}[${index}]`, 'a part of type "text"', isPlainObject(part) ? part['type'] : part);
    })
    .join('');
}

/** The most texts of one request: they run as one batch. OpenAI's limit. */
const MAX_TEXTS = 2048;

/** Returns a field that is one text or several. @throws `invalid-input` for tokens, and for none or too many */
export function textsOf(value: unknown, name: string): readonly string[] {
  const texts: readonly unknown[] = typeof value === 'string' ? [value] : Array.isArray(value) ? value : [];
  if (texts.length > MAX_TEXTS) throw wrongField(name, `expected at most ${MAX_TEXTS}, got ${texts.length}.`);
  if (texts.length > 0 && texts.every((text) => typeof text === 'string')) return texts;
  throw wrongValue(name, 'a text or a list of texts', value);
}
