/** Prompts of the Prompt API, as messages of `text_generator`. */
import type { ChatMessage } from '../../shared/chat.js';
import type { PromptInput, PromptMessage, PromptPart, PromptTool } from './specification.js';

/**
 * Returns the messages of an input.
 * @param isAnswered whether an answer follows: the last message may not be a whole one of the assistant
 * @throws `NotSupportedError` for sound, `TypeError` for what is no message
 */
export function messagesOf(input: PromptInput, isAnswered = true): readonly ChatMessage[] {
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input) || input.length === 0) throw new TypeError('A prompt is a text, or a list of messages.');
  return (input as readonly PromptMessage[]).map(({ role, content, prefix }, at) => {
    if (!['system', 'user', 'assistant'].includes(role)) throw new TypeError(`"${role}" is no role of a message.`);
    const isLast = at === input.length - 1;
    if (prefix && !(isAnswered && isLast && role === 'assistant'))
      throw new TypeError('Only the last message, of the assistant, is continued.');
    if (isAnswered && role === 'assistant' && isLast && !prefix)
      throw new TypeError('The last message is one of the assistant. Set prefix: true to continue it.');
    return { role, content: typeof content === 'string' ? content : content.map(partOf) };
  });
}

/** Returns the messages of a session's beginning. @throws `TypeError` for a system message after another message */
export function initialMessages(prompts: readonly PromptMessage[]): readonly ChatMessage[] {
  if (prompts.slice(1).some(({ role }) => role === 'system'))
    throw new TypeError('Only the first message may be a system message.');
  return prompts.length === 0 ? [] : messagesOf(prompts, false);
}

function partOf({ type, value }: PromptPart): object {
  if (type === 'text') return { type, text: value };
  if (type === 'image') return { type, image: value };
  throw new DOMException(`Parts of type "${type}" are not supported.`, 'NotSupportedError');
}

/** Returns a tool as chat templates read it. */
export function toolOf({ name, description, inputSchema }: PromptTool): object {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}
