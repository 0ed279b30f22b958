// OpenAI's API over clients whose answers the test makes, spoken by OpenAI's own client: the newest one that runs on Node
// 20. `test/node/openai.spec.ts` has real models.
import { expect, test } from '@playwright/test';
import OpenAI, { APIUserAbortError } from 'openai-node20';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { ModelServer } from '../../../../src/server/model-server.ts';
import { FakeClient, pending, type Asked } from '../../support/fake-client.ts';

const USAGE = { promptTokens: 5, cachedTokens: 2, completionTokens: 3 };
const WRITER = { modelName: 'writer', handler: 'text_generator', takes: 'text', resultForms: [] } as const;

/** A server with one fake model, and OpenAI's client for it. */
async function faked(
  answer?: (asked: Asked) => unknown,
  parts: readonly unknown[] = [],
  description: ConstructorParameters<typeof FakeClient>[0] = WRITER,
) {
  const client = new FakeClient(
    description,
    answer ?? (() => ({ text: 'Hi there', finishReason: 'stop', usage: USAGE })),
  );
  client.parts = parts;
  const server = new ModelServer();
  await server.register(client);
  const openai = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://server/v1',
    maxRetries: 0,
    fetch: async (url, init) => {
      const response = await server.fetch(new Request(url as string, init as RequestInit));
      init?.signal?.throwIfAborted();
      return response;
    },
  });
  return { client, server, openai };
}

const hello = { model: 'writer', messages: [{ role: 'user' as const, content: 'Hello' }] };

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  const error = await promise.then(
    () => undefined,
    (cause: unknown) => cause as InstanceType<typeof OpenAI.APIError>,
  );
  return error && [error.status, error.type, error.param, error.code, error.message];
}

test('fields of a request become params; what would change the answer and is not supported is refused by name', async () => {
  const { client, openai } = await faked();
  const paramsOf = async (fields: object): Promise<unknown> => {
    await openai.chat.completions.create({ ...hello, ...fields });
    return client.asked.at(-1)!.options.params;
  };
  expect(await paramsOf({})).toEqual({});
  expect(await paramsOf({ temperature: 0, top_p: 0.5, seed: 3, stop: ['a'], max_tokens: 5 })).toEqual({
    doSample: false,
    topP: 0.5,
    seed: 3,
    stop: ['a'],
    maxNewTokens: 5,
  });
  expect(await paramsOf({ temperature: 0.7, max_completion_tokens: 9 })).toEqual({
    doSample: true,
    temperature: 0.7,
    maxNewTokens: 9,
  });
  expect(await paramsOf({ top_k: 4, repetition_penalty: 1.2, min_new_tokens: 2 })).toEqual({
    doSample: true,
    topK: 4,
    repetitionPenalty: 1.2,
    minNewTokens: 2,
  });
  expect(await paramsOf({ top_k: 4, do_sample: false })).toEqual({ doSample: false, topK: 4 });
  expect(
    await paramsOf({
      n: 1,
      user: 'me',
      logprobs: false,
      logit_bias: {},
      frequency_penalty: 0,
      response_format: { type: 'text' },
      stop: null,
    }),
  ).toEqual({});
  const schema = { type: 'string' };
  expect(await paramsOf({ response_format: { type: 'json_object' } })).toEqual({
    responseFormat: { type: 'json_object' },
  });
  expect(
    await paramsOf({ response_format: { type: 'json_schema', json_schema: { name: 'a', strict: true, schema } } }),
  ).toEqual({ responseFormat: { type: 'json_schema', schema } });
  for (const [format, param] of [
    [{ type: 'json_schema' }, 'response_format.json_schema'],
    [{ type: 'json_schema', json_schema: { name: 'a' } }, 'response_format.json_schema'],
    [{ type: 'json_schema', json_schema: { schema, name: 'a', shema: 1 } }, 'response_format.json_schema.shema'],
    [{ type: 'json_object', schema }, 'response_format.schema'],
  ] as const) {
    const error = await failureOf(
      openai.chat.completions.create({ ...hello, response_format: format } as typeof hello),
    );
    expect.soft(error).toEqual([400, 'invalid_request_error', param, null, expect.stringContaining(param)]);
  }
  for (const [name, value] of Object.entries({
    n: 2,
    logprobs: true,
    frequency_penalty: 0.5,
    logit_bias: { 50256: -100 },
    response_format: { type: 'grammar' },
    tool_choice: 'required',
    modalities: ['text', 'audio'],
    constructor: 1,
    nonsense: 1,
  })) {
    const error = await failureOf(openai.chat.completions.create({ ...hello, [name]: value } as typeof hello));
    expect.soft(error, name).toEqual([400, 'invalid_request_error', name, null, expect.stringContaining(name)]);
  }
});

test('messages reach the handler with the texts of their parts; other parts are refused', async () => {
  const { client, openai } = await faked();
  const tools = [{ type: 'function' as const, function: { name: 'f', parameters: {} } }];
  await openai.chat.completions.create({
    model: 'writer',
    messages: [
      { role: 'developer', content: 'Be kind.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One, ' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: null, tool_calls: [] },
    ],
    tools,
  });
  expect(client.asked[0]!.input).toEqual({
    messages: [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'One, two' },
      { role: 'assistant', content: '', tool_calls: [] },
    ],
    tools,
  });
  await openai.chat.completions.create({ ...hello, tools, tool_choice: 'none' });
  expect(client.asked[1]!.input).toEqual({ messages: hello.messages });
  const picture = { type: 'image_url' as const, image_url: { url: 'data:,' } };
  const refused = openai.chat.completions.create({ ...hello, messages: [{ role: 'user', content: [picture] }] });
  expect(await failureOf(refused)).toMatchObject({ 0: 400, 2: 'messages[0].content[0]' });
  for (const messages of [[], 'hello', [{ content: 'no role' }], [1]])
    expect
      .soft(await failureOf(openai.chat.completions.create({ model: 'writer', messages: messages as never })))
      .toMatchObject({ 0: 400, 1: 'invalid_request_error' });
});

test('a failure in the middle of a stream is an event; before it, a status', async () => {
  const lost = await faked(() => {
    throw new TabServeError('worker-lost', 'The worker was lost.');
  }, ['Once ']);
  const stream = await lost.openai.chat.completions.create({ ...hello, stream: true });
  let text = '';
  const error = await failureOf(
    (async () => {
      for await (const chunk of stream) text += chunk.choices[0]!.delta.content ?? '';
    })(),
  );
  expect([text, error]).toMatchObject([
    'Once ',
    { 1: 'server_error', 4: expect.stringContaining('The worker was lost.') },
  ]);
  const full = await faked(() => {
    throw new TabServeError('queue-full', 'The queue is full.');
  });
  expect(await failureOf(full.openai.chat.completions.create({ ...hello, stream: true }))).toMatchObject({
    0: 503,
    1: 'server_error',
  });
  const image = await faked(() => [{ label: 'cat', score: 1 }]);
  expect(await failureOf(image.openai.chat.completions.create(hello))).toMatchObject({
    0: 400,
    4: expect.stringContaining('does not generate text'),
  });
});

test('a stream without parts has the whole text; an abort reaches the model', async () => {
  const { openai } = await faked();
  const stream = await openai.completions.create({ model: 'writer', prompt: 'a', stream: true });
  const texts = [];
  for await (const { choices } of stream) texts.push([choices[0]!.text, choices[0]!.finish_reason]);
  expect(texts).toEqual([
    ['Hi there', null],
    ['', 'stop'],
  ]);
  const slow = await faked(() => pending().promise);
  const abort = new AbortController();
  const asked = slow.openai.chat.completions.create(hello, { signal: abort.signal });
  while (slow.client.asked.length === 0) await new Promise(setImmediate);
  abort.abort();
  await expect(asked).rejects.toThrow(APIUserAbortError);
  expect(slow.client.asked[0]!.options.signal!.aborted).toBe(true);
});

test('embeddings, as lists and in base64, which the client asks for', async () => {
  const vector = Float32Array.of(0.5, -0.25, 3);
  const { client, server, openai } = await faked(({ input }) => (input as string[]).map(() => vector));
  const { data } = await openai.embeddings.create({ model: 'writer', input: ['one', 'two'] });
  expect(data.map(({ index, embedding }) => [index, [...embedding]])).toEqual([
    [0, [...vector]],
    [1, [...vector]],
  ]);
  expect(client.asked[0]!.input).toEqual(['one', 'two']);
  const plain = await server.fetch(
    new Request('http://server/v1/embeddings', {
      method: 'POST',
      body: JSON.stringify({ model: 'writer', input: 'a' }),
    }),
  );
  expect(await plain.json()).toMatchObject({ data: [{ embedding: [...vector] }] });
  for (const [field, value] of Object.entries({ input: [1, 2], dimensions: 2, encoding_format: 'hex', other: 1 }))
    expect
      .soft(await failureOf(openai.embeddings.create({ model: 'writer', input: 'a', [field]: value } as never)), field)
      .toMatchObject({ 0: 400, 2: field });
});

test('other paths and methods, and bodies that are no JSON', async () => {
  const { server } = await faked();
  const told = async (path: string, init?: RequestInit): Promise<unknown> => {
    const response = await server.fetch(new Request(`http://server/v1/${path}`, init));
    return [response.status, await response.json()];
  };
  const error = { error: { type: 'invalid_request_error' } };
  expect(await told('files')).toMatchObject([404, error]);
  expect(await told('chat/completions')).toMatchObject([405, error]);
  expect(await told('toString', { method: 'POST' })).toMatchObject([404, error]);
  expect(await told('models/none')).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  expect(await told('chat/completions', { method: 'POST', body: '{' })).toMatchObject([400, error]);
  expect(await told('chat/completions', { method: 'POST', body: '[]' })).toMatchObject([400, error]);
  expect(await told('chat/completions', { method: 'POST', body: '{}' })).toMatchObject([
    400,
    { error: { param: 'model' } },
  ]);
});
