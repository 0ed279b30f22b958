import OpenAI from 'openai-node20';
import { ModelServer } from '../../../src/server/model-server.ts';
import type { ModelServerOptions } from '../../../src/server/options.ts';
import { FakeClient, type Asked } from './fake-client.ts';

export const USAGE = { promptTokens: 5, cachedTokens: 2, completionTokens: 3 };
export const WRITER = {
  modelName: 'writer',
  handler: 'text_generator',
  takes: 'text',
  makes: 'text',
  resultForms: [],
} as const;

/** Returns a server with one fake model, and OpenAI's client for it. */
export async function faked(
  answer?: (asked: Asked) => unknown,
  parts: readonly unknown[] = [],
  description: ConstructorParameters<typeof FakeClient>[0] = WRITER,
  options: ModelServerOptions = {},
) {
  const client = new FakeClient(
    description,
    answer ?? (() => ({ text: 'Hi there', finishReason: 'stop', usage: USAGE })),
  );
  client.parts = parts;
  const server = new ModelServer(options);
  await server.register(client);
  const ask = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const response = await server.fetch(new Request(url, init));
    init?.signal?.throwIfAborted();
    return response;
  };
  const openai = new OpenAI({ apiKey: 'none', baseURL: 'http://server/v1', maxRetries: 0, fetch: ask });
  return { client, server, openai, ask };
}

/** Returns what OpenAI's client tells of a failure; undefined if there is none. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause as InstanceType<typeof OpenAI.APIError>,
  );
  return error && [error.status, error.type, error.param, error.code, error.message];
}
