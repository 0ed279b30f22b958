/** The SDK's messages, as chat templates expect them: as OpenAI has them. */
import { TabServeError } from '../../contract/errors.js';
import type { Message } from './specification.js';

/** A part of a message, with the keys of all its types. */
interface Part {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly output?: Output;
}

/** What a tool has returned. */
interface Output {
  readonly type: string;
  readonly value?: unknown;
  readonly reason?: string;
}

/** Returns the messages of a prompt; a message of several results is one for each. @throws `invalid-input` for a part that is not supported */
export function messagesOf(prompt: readonly Message[]): readonly object[] {
  return prompt.flatMap(({ role, content }, index) => {
    if (typeof content === 'string') return [{ role, content }];
    const where = `prompt[${index}].content`;
    if (role === 'tool') return content.map((part, at) => resultOf(part, `${where}[${at}]`));
    return [role === 'assistant' ? answerOf(content, where) : { role, content: textOf(content, where) }];
  });
}

/** Returns a message of the assistant: its text, its reasoning and its calls of tools. */
function answerOf(content: readonly Part[], where: string): object {
  const isCall = ({ type }: Part): boolean => type === 'tool-call';
  const reasoning = content.map(({ type, text = '' }) => (type === 'reasoning' ? text : '')).join('');
  const calls = content.filter(isCall).map(({ toolCallId, toolName, input }) => ({
    id: toolCallId,
    type: 'function',
    function: { name: toolName, arguments: input },
  }));
  const isText = (part: Part): boolean => !isCall(part) && part.type !== 'reasoning';
  return {
    role: 'assistant',
    content: textOf(content, where, isText),
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}

/** Returns the message of what a tool has returned. */
function resultOf({ type, toolCallId, toolName, output }: Part, where: string): object {
  if (type !== 'tool-result' || !output) throw notSupported(where, 'tool-result', type);
  return { role: 'tool', tool_call_id: toolCallId, name: toolName, content: outputOf(output, `${where}.output.value`) };
}

function outputOf({ type, value, reason }: Output, where: string): string {
  switch (type) {
    case 'text':
    case 'error-text':
      return value as string;
    case 'json':
    case 'error-json':
      return JSON.stringify(value);
    case 'execution-denied':
      return reason ?? 'The user has denied this call.';
    case 'content':
      return textOf(value as readonly Part[], where);
    default:
      throw notSupported(where, 'text', type);
  }
}

/** Returns the texts of some parts. @param where the place of their list */
function textOf(parts: readonly Part[], where: string, isWanted: (part: Part) => boolean = () => true): string {
  const texts = parts.map((part, at) => {
    if (!isWanted(part)) return '';
    if (part.type === 'text' && part.text !== undefined) return part.text;
    throw notSupported(`${where}[${at}]`, 'text', part.type);
  });
  return texts.join('');
}

function notSupported(where: string, expected: string, type: string): TabServeError {
  return new TabServeError(
    'invalid-input',
    `${where}: expected a part of type "${expected}", got one of type "${type}".`,
  );
}
