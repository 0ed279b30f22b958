/** A last message of the assistant, which the model continues, as transformers' pipelines do. */
import type { Chat, ChatMessage, TextPart } from '../../shared/chat.js';

/**
 * What marks the end of the message: the text is cut there. The space tells whether the template strips its messages.
 * transformers writes the same mark.
 */
export const CUT = 'CONTINUE_FINAL_MESSAGE_TAG ';

/** Returns whether a conversation ends with a text of the assistant. One that only calls tools has none. */
export function isContinued(chat: Chat): boolean {
  const last = chat.messages.at(-1)!;
  return last.role === 'assistant' && lastText(chat) !== '' && !('tool_calls' in last);
}

/** Returns the text at the end of the last message. */
export function lastText({ messages }: Chat): string {
  const { content } = messages.at(-1)!;
  // A picture may be the last part.
  if (Array.isArray(content)) return (content as readonly Partial<TextPart>[]).at(-1)!.text ?? '';
  return typeof content === 'string' ? content : '';
}

/** Returns a conversation whose last message is marked at its end. */
export function continueLast(chat: Chat): Chat {
  const last = chat.messages.at(-1)!;
  return { ...chat, messages: [...chat.messages.slice(0, -1), { ...last, content: marked(last) }] };
}

function marked({ content }: ChatMessage): unknown {
  if (!Array.isArray(content)) return `${content as string}${CUT}`;
  const parts = content as readonly TextPart[];
  const last = parts.at(-1)!;
  return [...parts.slice(0, -1), { ...last, text: last.text + CUT }];
}
