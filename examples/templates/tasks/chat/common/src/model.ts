import OpenAI from 'openai';
import type { Client } from 'tabserve';
import { ModelServer } from 'tabserve/serving';
import { backends } from './backends.ts';

/**
 * What `connect` and `useModel` take. This model goes on with a tale: it is small, and no assistant. One that is:
 * https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct
 */
export const options = { model: '/models/writer/', handler: 'text_generator', ...backends } as const;
const MAX_TOKENS = 80;

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** Answers the last message, in pieces. Only `fetch` says that it is this device that answers. */
export async function* answer(
  model: Client,
  messages: readonly Message[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const openai = new OpenAI({
    baseURL: `${location.origin}/v1`,
    apiKey: 'none',
    dangerouslyAllowBrowser: true, // About the key of an account, and there is none.
    fetch: await fetchFrom(model),
  });
  const stream = await openai.chat.completions.create(
    { model: 'chat', messages: [...messages], max_tokens: MAX_TOKENS, stream: true },
    { signal },
  );
  for await (const { choices } of stream) yield choices[0]?.delta.content ?? '';
}

const servers = new WeakMap<Client, ModelServer>();

/** Returns a `fetch` that the model answers, in OpenAI's HTTP API. */
async function fetchFrom(model: Client): Promise<typeof fetch> {
  let server = servers.get(model);
  if (!server) {
    await model.initialize();
    server = new ModelServer();
    await server.register(model, { name: 'chat' });
    servers.set(model, server);
  }
  const answering = server;
  return async (url, init) => await answering.fetch(new Request(url, init));
}
