// `/v1/responses` over clients whose answers the test makes, spoken by OpenAI's own client and the AI SDK.
import { expect, test } from '@playwright/test';
import { createOpenAI } from 'ai-sdk-openai-node20';
import { generateText, jsonSchema, stepCountIs, streamText, tool } from 'ai-node20';
import type OpenAI from 'openai-node20';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { Asked } from '../../support/fake-client.ts';
import { failureOf, faked, USAGE } from '../../support/openai-client.ts';

const hello = { model: 'writer', input: 'Hello' };
const CALL = { id: 'call_1', name: 'add', arguments: { a: 1, b: 2 } };
const parameters = { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } };
const ADD = { type: 'function' as const, name: 'add', parameters, strict: true };
const answerOf = (fields: object): object => ({ text: '', finishReason: 'stop', usage: USAGE, ...fields });

test('a text in, a text out, with its usage; one that is cut is incomplete', async () => {
  const { client, openai } = await faked(({ options: { params } }) =>
    answerOf({ text: 'Hi', finishReason: params!['maxNewTokens'] === 2 ? 'length' : 'stop' }),
  );
  const response = await openai.responses.create({
    ...hello,
    instructions: 'Be brief.',
    max_output_tokens: 9,
    temperature: 0,
    reasoning: { effort: 'low' },
    metadata: { a: 'b' },
  });
  expect(client.asked[0]).toMatchObject({
    input: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
      ],
    },
    options: {
      params: {
        maxNewTokens: 9,
        doSample: false,
        chatTemplateKwargs: { reasoning_effort: 'low', enable_thinking: true },
      },
    },
  });
  expect(response).toMatchObject({
    object: 'response',
    status: 'completed',
    output_text: 'Hi',
    incomplete_details: null,
    instructions: 'Be brief.',
    metadata: { a: 'b' },
    usage: { input_tokens: 5, input_tokens_details: { cached_tokens: 2 }, output_tokens: 3, total_tokens: 8 },
  });
  const cut = await openai.responses.create({ ...hello, max_output_tokens: 2 });
  expect(cut).toMatchObject({
    status: 'incomplete',
    incomplete_details: { reason: 'max_output_tokens' },
    output: [{ status: 'incomplete' }],
  });
});

test('items become messages: a turn of the assistant is one, with its reasoning and calls', async () => {
  const { client, openai } = await faked(() => answerOf({ text: 'Three.' }));
  await openai.responses.create({
    model: 'writer',
    tools: [ADD],
    tool_choice: { type: 'function', name: 'add' },
    text: { format: { type: 'json_schema', name: 'n', schema: { type: 'string' }, strict: true } },
    input: [
      { role: 'developer', content: 'Add.' },
      { role: 'user', content: [{ type: 'input_text', text: 'One and two?' }] },
      { type: 'reasoning', id: 'rs_1', summary: [], content: [{ type: 'reasoning_text', text: 'Use add.' }] },
      { role: 'assistant', content: [{ type: 'output_text', text: 'Wait.' }] } as never,
      { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1,"b":2}' },
      { type: 'function_call', call_id: 'c2', name: 'add', arguments: '{"a":3,"b":4}' },
      { type: 'function_call_output', call_id: 'c1', output: '3' },
      { type: 'function_call_output', call_id: 'c2', output: [{ type: 'input_text', text: '7' }] },
      { role: 'user', content: 'And?' },
    ],
  });
  const { type, ...called } = ADD;
  const call = (id: string, args: string): object => ({ id, type, function: { name: 'add', arguments: args } });
  expect(client.asked[0]).toMatchObject({
    input: {
      tools: [{ type, function: called }],
      messages: [
        { role: 'system', content: 'Add.' },
        { role: 'user', content: [{ type: 'text', text: 'One and two?' }] },
        {
          role: 'assistant',
          reasoning_content: 'Use add.',
          content: [{ type: 'text', text: 'Wait.' }],
          tool_calls: [call('c1', '{"a":1,"b":2}'), call('c2', '{"a":3,"b":4}')],
        },
        { role: 'tool', tool_call_id: 'c1', content: '3' },
        { role: 'tool', tool_call_id: 'c2', content: [{ type: 'text', text: '7' }] },
        { role: 'user', content: 'And?' },
      ],
    },
    options: { params: { toolChoice: { name: 'add' }, responseFormat: { schema: { type: 'string' } } } },
  });
});

test('a stream tells of every item; its last event is the whole response', async () => {
  const parts = [{ reasoning: 'Add ' }, { reasoning: 'them.' }, 'I ', 'add.', { toolCall: CALL }];
  const whole = { text: 'I add.', reasoning: 'Add them.', toolCalls: [CALL], finishReason: 'tool_calls' };
  const { openai } = await faked(() => answerOf(whole), parts);
  const stream = openai.responses.stream(hello);
  const types: string[] = [];
  const numbers: number[] = [];
  for await (const event of stream) {
    types.push(event.type.replace('response.', ''));
    numbers.push(event.sequence_number);
  }
  const around = (...types: string[]): readonly string[] => ['output_item.added', ...types, 'output_item.done'];
  const text = (kind: string): readonly string[] =>
    around('content_part.added', `${kind}.delta`, `${kind}.delta`, `${kind}.done`, 'content_part.done');
  expect(types).toEqual([
    'created',
    'in_progress',
    ...text('reasoning_text'),
    ...text('output_text'),
    ...around('function_call_arguments.delta', 'function_call_arguments.done'),
    'completed',
  ]);
  expect(numbers).toEqual([...numbers.keys()]);
  const { output, output_text: joined } = await stream.finalResponse();
  expect(joined).toBe('I add.');
  expect(output).toMatchObject([
    { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'Add them.' }] },
    { type: 'message', content: [{ type: 'output_text', text: 'I add.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'add', arguments: '{"a":1,"b":2}' },
  ]);
});

test('the probabilities of the tokens of texts, whole, streamed, and by the AI SDK', async () => {
  const token = (text: string, logprob: number) => ({ text, bytes: [...new TextEncoder().encode(text)], logprob });
  const ranked = (text: string, logprob: number) => ({
    ...token(text, logprob),
    top: [token(text, logprob), token('x', -9)],
  });
  const words = ['<think>', 'think', '</think>\n', 'Hé', ' you', '<tool_call>'] as const;
  const [open, think, close, hi, there, call] = words.map((text, at) => ranked(text, -at - 1));
  const result = {
    text: 'Hé you',
    reasoning: 'think',
    toolCalls: [CALL],
    finishReason: 'tool_calls',
    tokens: [open, think, close, hi, there, call],
  };
  const before = (part: unknown, ...tokens: unknown[]): readonly unknown[] => [{ tokens }, part];
  const thought = before({ reasoning: 'think' }, open, think);
  const parts = [...thought, ...before('Hé', close, hi), ...before(' you', there), ...before({ toolCall: CALL }, call)];
  const { client, openai, ask } = await faked(() => answerOf(result), parts);
  const written = (text: string, logprob: number, top?: readonly object[]): object => {
    const { bytes } = token(text, logprob);
    return { token: text, bytes, logprob, ...(top && { top_logprobs: top }) };
  };
  const expected = [...(['Hé', ' you'] as const).entries()].map(([at, text]) =>
    written(text, -at - 4, [written(text, -at - 4), written('x', -9)]),
  );
  const request = { ...hello, include: ['message.output_text.logprobs' as const], top_logprobs: 2 };
  const message = (output: readonly object[]): unknown =>
    (output[1] as { content: readonly { logprobs: unknown }[] }).content[0]!.logprobs;
  const whole = await openai.responses.create(request);
  expect(client.asked[0]!.options.params).toEqual({ topLogprobs: 2 });
  expect(message(whole.output)).toEqual(expected);
  expect(whole).toMatchObject({ top_logprobs: 2 });
  const deltas: unknown[] = [];
  let done: unknown;
  let last: readonly object[] = [];
  for await (const event of await openai.responses.create({ ...request, stream: true })) {
    if (event.type === 'response.output_text.delta') deltas.push(event.logprobs);
    if (event.type === 'response.output_text.done') done = event.logprobs;
    if (event.type === 'response.completed') last = event.response.output;
  }
  expect(deltas).toEqual(expected.map((one) => [one]));
  expect(done).toEqual(expected);
  expect(message(last)).toEqual(expected);
  const model = createOpenAI({ apiKey: 'none', baseURL: 'http://server/v1', fetch: ask })('writer');
  const asked = { model, prompt: 'Hello', maxRetries: 0, providerOptions: { openai: { logprobs: 2 } } };
  for (const metadata of [(await generateText(asked)).providerMetadata, await streamText(asked).providerMetadata]) {
    const found = metadata!['openai']!['logprobs'] as { token: string }[][];
    expect(found.flat().map((one) => one.token)).toEqual(['Hé', ' you']);
  }
  expect(client.asked.at(-1)!.options.params).toEqual({ topLogprobs: 2 });
});

test('an answer of any length, with the probabilities of its tokens and without', async () => {
  const text = 'eel '.repeat(50_000);
  const bytes = [...new TextEncoder().encode('eel ')];
  const tokens = Array.from({ length: 50_000 }, () => ({ text: 'eel ', bytes, logprob: -1, top: [] }));
  const { openai } = await faked(({ options: { params } }) =>
    answerOf({ text, ...('topLogprobs' in params! && { tokens }) }),
  );
  expect((await openai.responses.create(hello)).output_text).toHaveLength(200_000);
  const { output } = await openai.responses.create({ ...hello, include: ['message.output_text.logprobs'] });
  const [message] = output as unknown as readonly { content: readonly { logprobs: readonly object[] }[] }[];
  expect(message!.content[0]!.logprobs).toHaveLength(50_000);
});

test('a response is stored for those that continue it, unless the request forbids it', async () => {
  const { client, openai } = await faked(({ input }) =>
    answerOf({ text: `Answer ${(input as { messages: unknown[] }).messages.length}` }),
  );
  const first = await openai.responses.create({ ...hello, instructions: 'Of the first one alone.' });
  const second = await openai.responses.create({ ...hello, input: 'More', previous_response_id: first.id });
  const messages = (): unknown => (client.asked.at(-1)!.input as { messages: unknown }).messages;
  expect(messages()).toEqual([
    { role: 'user', content: 'Hello' },
    { role: 'assistant', content: [{ type: 'text', text: 'Answer 2' }] },
    { role: 'user', content: 'More' },
  ]);
  await openai.responses.create({ ...hello, input: [{ type: 'item_reference', id: second.output[0]!.id! }] });
  expect(messages()).toEqual([{ role: 'assistant', content: [{ type: 'text', text: 'Answer 3' }] }]);
  expect(await openai.responses.retrieve(first.id)).toMatchObject({ id: first.id, output_text: 'Answer 2' });
  const { id } = await openai.responses.create({ ...hello, store: false });
  for (const gone of [id, 'resp_other'])
    expect
      .soft(await failureOf(openai.responses.create({ ...hello, previous_response_id: gone })))
      .toMatchObject([400, 'invalid_request_error', 'previous_response_id', 'invalid_value', expect.any(String)]);
  expect(await failureOf(openai.responses.retrieve(id))).toMatchObject({ 0: 404 });
  await openai.responses.delete(first.id);
  expect(await failureOf(openai.responses.retrieve(first.id))).toMatchObject({ 0: 404 });
});

test('what is wrong is named as the request has it', async () => {
  const { client, openai } = await faked();
  const [unsupported, invalid, unknown] = ['unsupported_value', 'invalid_value', 'unknown_parameter'];
  const user = { role: 'user', content: 'a' };
  for (const [fields, param, code] of [
    [{ input: [] }, 'input', invalid],
    [{ input: [1] }, 'input[0]', invalid],
    [{ input: [user, { content: 'a' }] }, 'input[1].role', 'missing_required_parameter'],
    [{ input: [user, { ...user, content: [{ type: 'input_file' }] }] }, 'input[1].content[0]', unsupported],
    [
      { input: [user, { ...user, content: [{ type: 'input_text' }] }], instructions: 'a' },
      'input[1].content[0]',
      invalid,
    ],
    [{ input: [{ type: 'web_search_call' }] }, 'input[0].type', unsupported],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input[0]', invalid],
    [{ instructions: 1 }, 'instructions', invalid],
    [{ tools: [{ type: 'web_search' }] }, 'tools[0].type', unsupported],
    [{ tool_choice: { type: 'web_search' } }, 'tool_choice', unsupported],
    [{ text: { format: { type: 'grammar' } } }, 'text.format', invalid],
    [{ text: { form: 1 } }, 'text.form', unknown],
    [{ reasoning: { effort: 1 } }, 'reasoning.effort', invalid],
    [{ include: ['message.input_image.image_url'] }, 'include', unsupported],
    [{ include: 'message.output_text.logprobs' }, 'include', invalid],
    [{ top_logprobs: 2 }, 'top_logprobs', invalid],
    [{ top_logprobs: 21, include: ['message.output_text.logprobs'] }, 'top_logprobs', invalid],
    [{ background: true }, 'background', unsupported],
    [{ truncation: 'auto' }, 'truncation', unsupported],
    [{ store: 1 }, 'store', invalid],
    [{ stream: 'yes' }, 'stream', invalid],
    [
      { stream: true, stream_options: { include_obfuscation: true } },
      'stream_options.include_obfuscation',
      unsupported,
    ],
    [{ max_tokens: 1 }, 'max_tokens', unknown],
    [{ nonsense: 1 }, 'nonsense', unknown],
  ] as const) {
    const failure = await failureOf(openai.responses.create({ ...hello, ...fields } as never));
    expect
      .soft(failure, JSON.stringify(fields))
      .toMatchObject([400, 'invalid_request_error', param, code, expect.stringContaining(param)]);
  }
  expect(client.asked).toEqual([]);
});

test('pictures reach a model that reads them: data: URLs, and no other site', async () => {
  const description = {
    modelName: 'writer',
    handler: 'image_text_to_text',
    takes: 'image-or-text',
    media: ['image'],
    makes: 'text',
    resultForms: [],
  } as const;
  const { client, openai } = await faked(undefined, [], description);
  const pixel = 'data:image/png;base64,AAEC';
  const chat = (url: string): Promise<unknown> =>
    openai.chat.completions.create({
      model: 'writer',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url } },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    });
  await chat(pixel);
  await openai.responses.create({
    model: 'writer',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: pixel, detail: 'auto' }] }],
  });
  for (const { input } of client.asked) {
    const [{ content }] = (input as { messages: [{ content: [{ type: string; image: Blob }] }] }).messages;
    expect(content[0].type).toBe('image');
    expect(content[0].image.type).toBe('image/png');
    expect(new Uint8Array(await content[0].image.arrayBuffer())).toEqual(Uint8Array.of(0, 1, 2));
  }
  expect(client.asked).toHaveLength(2);
  expect(await failureOf(chat('https://example.org/a.png'))).toMatchObject({
    0: 400,
    2: 'messages[0].content[0].image_url.url',
    3: 'unsupported_value',
  });
  expect(client.asked).toHaveLength(2);
});

test('sound reaches a model that hears it, and what is no sound in base64 is told', async () => {
  const description = {
    modelName: 'writer',
    handler: 'audio_text_to_text',
    takes: 'audio-or-text',
    media: ['audio'],
    makes: 'text',
    resultForms: [],
  } as const;
  const { client, openai } = await faked(undefined, [], description);
  const chat = (data: string): Promise<unknown> =>
    openai.chat.completions.create({
      model: 'writer',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'input_audio', input_audio: { data, format: 'wav' } },
            { type: 'text', text: 'a' },
          ],
        },
      ],
    });
  await chat('AAEC');
  const { input } = client.asked[0]!;
  const [{ content }] = (input as { messages: [{ content: [{ type: string; audio: Blob }] }] }).messages;
  expect(content[0].type).toBe('audio');
  expect(new Uint8Array(await content[0].audio.arrayBuffer())).toEqual(Uint8Array.of(0, 1, 2));
  const field = 'messages[0].content[0].input_audio.data';
  expect(await failureOf(chat('no base64!'))).toMatchObject({ 0: 400, 2: field, 3: 'invalid_value' });
  expect(await failureOf(chat(undefined as never))).toMatchObject({ 0: 400, 2: field });
  expect(client.asked).toHaveLength(1);
});

test('pictures and sound reach a model that reads both, and what it takes is told in words of OpenAI', async () => {
  const { client, openai } = await faked(undefined, [], {
    modelName: 'writer',
    handler: 'image_text_to_text',
    takes: 'image-or-text',
    media: ['image', 'audio'],
    makes: 'text',
    resultForms: [],
  });
  const chat = (...content: readonly object[]): Promise<unknown> =>
    openai.chat.completions.create({ model: 'writer', messages: [{ role: 'user', content: content as never }] });
  await chat(
    { type: 'input_audio', input_audio: { data: 'AAEC', format: 'wav' } },
    { type: 'image_url', image_url: { url: 'data:image/png;base64,AAEC' } },
  );
  const { input } = client.asked[0]!;
  const [{ content }] = (input as { messages: [{ content: readonly object[] }] }).messages;
  expect(content).toEqual([
    { type: 'audio', audio: expect.any(Blob) },
    { type: 'image', image: expect.any(Blob) },
  ]);
  expect(await failureOf(chat({ type: 'file', file: {} }))).toMatchObject({
    0: 400,
    4: expect.stringContaining(
      "{ type: 'text', text }, { type: 'image_url', image_url: { url } } or { type: 'input_audio', input_audio: { data, format } }",
    ),
  });
});

/** Answers with a call of the tool until its output is there. */
function addThenTell({ input }: Asked): object {
  const { messages } = input as { messages: readonly { role: string; content: unknown }[] };
  const output = messages.find(({ role }) => role === 'tool');
  if (output) return answerOf({ text: `It is ${JSON.stringify(output.content)}.` });
  return answerOf({ toolCalls: [CALL], finishReason: 'tool_calls', reasoning: 'Add.' });
}

for (const store of [true, false])
  test(`the AI SDK calls a tool and continues with its output, ${store ? 'by references to' : 'with'} the items`, async () => {
    const { client, ask } = await faked(addThenTell);
    const model = createOpenAI({ apiKey: 'none', baseURL: 'http://server/v1', fetch: ask })('writer');
    const asked = {
      model,
      prompt: 'One and two?',
      maxRetries: 0,
      stopWhen: stepCountIs(3),
      providerOptions: { openai: { store } },
      tools: {
        add: tool({
          inputSchema: jsonSchema<{ a: number; b: number }>(parameters as never),
          execute: async ({ a, b }) => a + b,
        }),
      },
    };
    const { text, steps } = await generateText(asked);
    expect([text, steps.length]).toEqual(['It is "3".', 2]);
    expect(client.asked[1]!.input).toMatchObject({
      messages: [
        { role: 'user' },
        { role: 'assistant', tool_calls: [{ id: 'call_1', function: { arguments: '{"a":1,"b":2}' } }] },
        { role: 'tool', tool_call_id: 'call_1', content: '3' },
      ],
    });
    let streamed = '';
    for await (const part of streamText(asked).textStream) streamed += part;
    expect(streamed).toBe('It is "3".');
  });

test('an error in the middle of a stream is an event that clients throw', async () => {
  const { openai } = await faked(() => {
    throw new TabServeError('worker-lost', 'no more');
  }, ['a']);
  const types: string[] = [];
  const error = await (async () => {
    for await (const event of await openai.responses.create({ ...hello, stream: true })) types.push(event.type);
  })().catch((cause: unknown) => cause as InstanceType<typeof OpenAI.APIError>);
  expect(error).toMatchObject({ message: expect.stringContaining('no more') });
  expect(types.at(-1)).toBe('response.output_text.delta');
});
