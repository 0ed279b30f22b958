/** How OpenAI's APIs of completions write answers. */
import type { Generated, GeneratedPart, RankedText, WrittenCall } from '../../../shared/generated-text.js';
import { chatLogprobs, completionLogprobs, topOfChat, topOfCompletion } from './logprobs.js';
import type { Body } from './request.js';

/** How an API writes an answer. */
export interface Form {
  /** How ids begin. */
  readonly prefix: string;
  readonly object: string;
  readonly choice: (result: Generated) => object;
  readonly chunkObject: string;
  /** The first chunk's choice, before any text; undefined if there is none. */
  readonly begin?: object;
  /** @param calls how many calls of tools came before */
  readonly part: (part: GeneratedPart, calls: number) => object;
  /**
   * Returns how many of the most probable tokens a request asks for in each place; undefined if for none.
   * @throws `invalid-input` naming the field that is wrong
   */
  readonly topOf: (body: Body) => number | undefined;
  /** The probabilities of tokens. @param before those of the answer that are told already */
  readonly logprobs: (tokens: readonly RankedText[], before: readonly RankedText[]) => object;
}

export const CHAT: Form = {
  prefix: 'chatcmpl',
  object: 'chat.completion',
  choice: ({ text, reasoning, toolCalls }) => ({
    message: {
      role: 'assistant',
      content: text === '' && toolCalls ? null : text,
      refusal: null,
      ...(reasoning !== undefined && { reasoning_content: reasoning }),
      ...(toolCalls && { tool_calls: toolCalls.map(callOf) }),
    },
  }),
  chunkObject: 'chat.completion.chunk',
  begin: { delta: { role: 'assistant', content: '', refusal: null } },
  part(part, calls) {
    if (typeof part === 'string') return { delta: part === '' ? {} : { content: part } };
    if ('reasoning' in part) return { delta: { reasoning_content: part.reasoning } };
    return { delta: { tool_calls: [{ index: calls, ...callOf(part.toolCall) }] } };
  },
  topOf: topOfChat,
  logprobs: chatLogprobs,
};

export const COMPLETION: Form = {
  prefix: 'cmpl',
  object: 'text_completion',
  choice: ({ text }) => ({ text }),
  chunkObject: 'text_completion',
  // A prompt that is a text has an answer that is one.
  part: (text) => ({ text }),
  topOf: topOfCompletion,
  logprobs: completionLogprobs,
};

function callOf({ id, name, arguments: given }: WrittenCall): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(given) } };
}
