/** Asks a model for the next message, and runs the tools that it calls. */
import type { Client } from '../../src/index.js';
import type { TextGenerator } from '../../src/worker.js';
import type { ChatParams } from './settings.js';
import type { AnswerView } from './thread.js';
import { runTool, TOOLS } from './tools.js';

/** A message, as chat templates read it. */
export interface Message {
  readonly role: 'user' | 'assistant' | 'tool';
  readonly content: unknown;
  readonly [key: string]: unknown;
}

/** How often a model may call tools before it answers. */
const MAX_TURNS = 4;

/** What the last run of the model says of itself. */
export interface Answered {
  readonly tokens: number;
  readonly finishReason: string;
  /** Milliseconds to the first token, and from there to the last one. */
  readonly wait: number;
  readonly took: number;
}

/**
 * Writes the answer to a conversation, and adds all of it to `messages`: what is written when it is stopped, too.
 * @throws what the client's stream throws
 */
export async function answer(
  client: Client<TextGenerator>,
  messages: Message[],
  { tools, ...params }: ChatParams,
  view: AnswerView,
  signal: AbortSignal,
): Promise<Answered> {
  for (let turn = 0; ; turn++) {
    const mustCall = tools === 'required' && turn === 0;
    // A call is guided by the tools' own schemas.
    const { responseFormat, ...rest } = params;
    const given = mustCall
      ? { ...rest, toolChoice: 'required' as const }
      : { ...rest, ...(responseFormat && { responseFormat }) };
    const offered = tools !== 'none' && turn < MAX_TURNS ? { tools: TOOLS } : {};
    const asked = performance.now();
    let text = '';
    let first: number | undefined;
    let answered: Answered | undefined;
    const calls: { readonly id: string; readonly name: string; readonly arguments: unknown }[] = [];
    try {
      for await (const part of client.stream({ messages, ...offered }, { params: given, signal })) {
        const now = performance.now();
        first ??= now;
        if (typeof part === 'string') {
          text += part;
          view.text(part);
        } else if ('usage' in part) {
          const { usage, finishReason } = part;
          answered = { tokens: usage.completionTokens, finishReason, wait: first - asked, took: now - first };
        } else if ('reasoning' in part) view.thought(part.reasoning);
        else if ('toolCall' in part) calls.push(part.toolCall);
      }
    } finally {
      // A call whose tool was not run has no place in a conversation.
      const tool_calls = answered && calls.map(({ id, ...called }) => ({ id, type: 'function', function: called }));
      if (text !== '' || tool_calls?.length)
        messages.push({ role: 'assistant', content: text, ...(tool_calls?.length && { tool_calls }) });
    }
    if (calls.length === 0) return answered!;
    for (const { id, name, arguments: own } of calls) {
      const output = runTool(name, own);
      view.called(name, own, output);
      messages.push({ role: 'tool', tool_call_id: id, name, content: output });
    }
  }
}
