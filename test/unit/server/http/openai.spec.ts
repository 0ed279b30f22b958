// OpenAI's API over clients whose answers the test makes, spoken by OpenAI's own client: the newest one that runs on Node
// 20. `test/node/openai.spec.ts` has real models.
import { expect, test } from '@playwright/test';
import { APIUserAbortError, type OpenAI } from 'openai-node20';
import type { HandlerClass } from '../../../../src/contract/handler.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { checkPrompt } from '../../../../src/worker/generation/prompt.ts';
import { kindsOf } from '../../../../src/worker/handlers/descriptor.ts';
import { BUILT_IN } from '../../../../src/worker/tasks/index.ts';
import { pending } from '../../support/fake-client.ts';
import { failureOf, faked, USAGE, WRITER } from '../../support/openai-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const hello = { model: 'writer', messages: [{ role: 'user' as const, content: 'Hello' }] };

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
  // The codes are OpenAI's.
  const [missing, unknown, invalid] = ['missing_required_parameter', 'unknown_parameter', 'invalid_value'];
  for (const [format, param, code] of [
    [{ type: 'json_schema' }, 'response_format.json_schema', missing],
    [{ type: 'json_schema', json_schema: { name: 'a' } }, 'response_format.json_schema', invalid],
    [{ type: 'json_schema', json_schema: { schema } }, 'response_format.json_schema.name', missing],
    [{ type: 'json_schema', json_schema: { schema, name: 'a b' } }, 'response_format.json_schema.name', invalid],
    [
      { type: 'json_schema', json_schema: { schema, name: 'a', shema: 1 } },
      'response_format.json_schema.shema',
      unknown,
    ],
    [{ type: 'json_object', schema }, 'response_format.schema', unknown],
  ] as const) {
    const error = await failureOf(
      openai.chat.completions.create({ ...hello, response_format: format } as typeof hello),
    );
    expect.soft(error).toEqual([400, 'invalid_request_error', param, code, expect.stringContaining(param)]);
  }
  const unsupported = 'unsupported_value';
  for (const [name, [value, code]] of Object.entries({
    n: [0, invalid],
    logprobs: [3, invalid],
    top_logprobs: [2, invalid],
    frequency_penalty: [0.5, unsupported],
    logit_bias: [{ 50256: -100 }, unsupported],
    response_format: [{ type: 'grammar' }, invalid],
    tool_choice: [{ type: 'allowed_tools' }, unsupported],
    chat_template_kwargs: [1, invalid],
    reasoning_effort: [1, invalid],
    modalities: [['text', 'audio'], unsupported],
    constructor: [1, unknown],
    nonsense: [1, unknown],
    stop: [['a', 'b', 'c', 'd', 'e'], 'array_above_max_length'],
    eos_token_id: [Array(101).fill(1), 'array_above_max_length'],
    bad_words_ids: [Array.from({ length: 10_001 }, () => [1]), 'array_above_max_length'],
    stream: ['yes', invalid],
    stream_options: [{ include_usage: true }, invalid],
    messages: [null, invalid],
    model: [null, missing],
  } as const)) {
    const error = await failureOf(openai.chat.completions.create({ ...hello, [name]: value } as typeof hello));
    expect.soft(error, name).toEqual([400, 'invalid_request_error', name, code, expect.stringContaining(name)]);
  }
  for (const n of [129, 1.5])
    expect(await failureOf(openai.completions.create({ model: 'writer', prompt: 'a', n }))).toEqual([
      400,
      'invalid_request_error',
      'n',
      invalid,
      expect.stringContaining('n: expected a whole number from 1 to 128'),
    ]);
  expect(await failureOf(openai.completions.create({ model: 'writer', prompt: null as never }))).toEqual([
    400,
    'invalid_request_error',
    'prompt',
    missing,
    '400 prompt: expected a text, the ids of its tokens, or a list of either, got nothing.',
  ]);
});

test('two fields of one param agree; the options of a stream are known ones', async () => {
  const { client, openai } = await faked();
  const asked = { ...hello, max_tokens: 5 };
  await openai.chat.completions.create({ ...asked, max_completion_tokens: 5 });
  expect(client.asked[0]!.options.params).toEqual({ maxNewTokens: 5 });
  for (const name of ['max_completion_tokens', 'max_new_tokens'])
    expect
      .soft(await failureOf(openai.chat.completions.create({ ...asked, [name]: 6 })))
      .toMatchObject({ 0: 400, 2: name, 4: `400 ${name}: 6 contradicts max_tokens, which is 5.` });
  expect(
    await failureOf(openai.chat.completions.create({ ...hello, temperature: 0, do_sample: true } as never)),
  ).toMatchObject({ 0: 400, 2: 'temperature', 4: '400 temperature: 0 contradicts do_sample, which is true.' });
  const stream = { ...hello, stream: true as const };
  const options = { include_usage: null, include_obfuscation: false } as never;
  for await (const _ of await openai.chat.completions.create({ ...stream, stream_options: options }));
  for (const [name, value] of Object.entries({ foo: 1, include_usage: 'yes', include_obfuscation: true }))
    expect
      .soft(await failureOf(openai.chat.completions.create({ ...stream, stream_options: { [name]: value } })))
      .toMatchObject({ 0: 400, 2: `stream_options.${name}` });
  expect(await failureOf(openai.chat.completions.create({ ...stream, stream_options: [] as never }))).toMatchObject({
    0: 400,
    2: 'stream_options',
  });
});

test('what the handler says of a param names the field that the client sent', async () => {
  let message = '';
  const { openai } = await faked(() => {
    throw new TabServeError('invalid-input', message);
  });
  const told = async (fields: object): Promise<unknown> => {
    const error = (await failureOf(openai.chat.completions.create({ ...hello, ...fields }))) as unknown[];
    return [error[0], error[2], error[4]];
  };
  message = 'params.maxNewTokens must be an integer of at least 1, not 0.';
  for (const name of ['max_tokens', 'max_completion_tokens', 'max_new_tokens'])
    for (const stream of [false, true])
      expect
        .soft(await told({ [name]: 0, stream }))
        .toEqual([400, name, `400 ${name} must be an integer of at least 1, not 0.`]);
  message = 'params.stop[1] must be a text of at least one character, not "".';
  expect(await told({ stop: ['a', ''] })).toEqual([400, 'stop', expect.stringMatching(/^400 stop\[1\] must/)]);
  // The handler draws because there is a temperature.
  message = 'params.doSample: it is not supported with several beams.';
  expect(await told({ temperature: 1 })).toEqual([400, 'temperature', expect.stringMatching(/^400 temperature: it/)]);
  message = 'params.responseFormat.schema.not: this keyword is not supported.';
  const format = { type: 'json_schema', json_schema: { name: 'a', schema: {} } };
  expect(await told({ response_format: format })).toEqual([
    400,
    'response_format',
    '400 response_format.json_schema.schema.not: this keyword is not supported.',
  ]);
  message = 'eosTokenId, badWordsIds and others: the vocabulary has 5 tokens, and 9 is none of them.';
  expect(await told({ bad_words_ids: [[9]] })).toMatchObject([400, 'bad_words_ids', expect.any(String)]);
  message = 'The prompt has 9 tokens.';
  expect(await told({ max_tokens: 1 })).toEqual([400, null, '400 The prompt has 9 tokens.']);
});

test('a model of another kind is refused before it runs; the answer of a class of its own shows its kind', async () => {
  const refusal = async (
    handler: string,
    takes: HandlerClass['takes'],
    ask: (openai: OpenAI) => Promise<unknown>,
    makes?: HandlerClass['makes'],
  ) => {
    const { client, openai } = await faked(() => ['a secret'], [], { modelName: 'writer', handler, takes, makes });
    return [await failureOf(ask(openai)), client.asked.length];
  };
  const chat = (openai: OpenAI): Promise<unknown> => openai.chat.completions.create(hello);
  const stream = (openai: OpenAI): Promise<unknown> => openai.chat.completions.create({ ...hello, stream: true });
  const complete = (openai: OpenAI): Promise<unknown> => openai.completions.create({ model: 'writer', prompt: 'a' });
  const embed = (openai: OpenAI): Promise<unknown> => openai.embeddings.create({ model: 'writer', input: 'a' });
  const refused = (message: string): unknown => [400, 'invalid_request_error', 'model', null, `400 ${message}`];
  const noText = (handler: string): unknown => refused(`Model "writer" writes no text: its handler is ${handler}.`);
  const noVectors = (handler: string): unknown =>
    refused(`Model "writer" makes no vectors of texts: its handler is ${handler}.`);
  for (const ask of [chat, stream, complete]) {
    expect
      .soft(await refusal('text_feature_extractor', 'text', ask, 'vector'))
      .toEqual([noText('text_feature_extractor'), 0]);
    expect.soft(await refusal('base_handler', 'tensors', ask)).toEqual([noText('base_handler'), 0]);
    expect.soft(await refusal('Faces', 'image', ask)).toEqual([noText('Faces'), 0]);
    expect.soft(await refusal('Own', 'text', ask)).toEqual([noText('Own'), 1]);
  }
  for (const [handler, { load }] of Object.entries(BUILT_IN)) {
    const { takes, makes } = (await load()) as HandlerClass;
    const asked = async (ask: typeof chat): Promise<unknown> => (await refusal(handler, takes, ask, makes))[1];
    const isOfTexts = takes !== 'image' && takes !== 'audio';
    expect
      .soft([handler, await asked(complete), await asked(embed)])
      .toEqual([handler, isOfTexts && makes === 'text' ? 1 : 0, isOfTexts && makes === 'vector' ? 1 : 0]);
  }
  const noMessages = refused('Model "writer" takes no messages: use /v1/completions.');
  expect(await refusal('text_to_text', 'text', chat, 'text')).toEqual([noMessages, 0]);
  expect(await refusal('text_generator', 'text', embed, 'text')).toEqual([noVectors('text_generator'), 0]);
  expect(await refusal('image_feature_extractor', 'image', embed)).toEqual([noVectors('image_feature_extractor'), 0]);
  expect(await refusal('Own', 'text', embed)).toEqual([noVectors('Own'), 1]);
});

test('the classes of the handlers say what they make', async () => {
  const made = {
    audio_text_to_text: 'text',
    image_text_to_text: 'text',
    text_generator: 'text',
    text_to_text: 'text',
    text_feature_extractor: 'vector',
    text_reranker: 'ranking',
    speech_recognizer: 'transcript',
    speech_to_text: 'transcript',
    conversation_transcriber: 'transcript',
    text_to_speech: 'speech',
    text_classifier: undefined,
    image_feature_extractor: undefined,
  } as const;
  for (const [name, kind] of Object.entries(made)) {
    const Class: HandlerClass = await BUILT_IN[name as keyof typeof made].load();
    expect.soft([name, Class.makes, kindsOf(new Class()).makes]).toEqual([name, kind, kind]);
  }
});

test('messages reach the handler with parts of texts and without empty lists of calls; other parts are refused', async () => {
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
      {
        role: 'user',
        content: [
          { type: 'text', text: 'One, ' },
          { type: 'text', text: 'two' },
        ],
      },
      { role: 'assistant', content: '' },
    ],
    tools,
  });
  await openai.chat.completions.create({ ...hello, tools, tool_choice: 'none' });
  expect(client.asked[1]!.input).toEqual({ messages: hello.messages });
  for (const [messages, param, expected] of [
    [[], 'messages', 'a list of { role, content } with at least one, got []'],
    ['hello', 'messages', 'a list of { role, content }'],
    [[{ content: 'no role' }], 'messages[0]', '{ role, content }'],
    [[1], 'messages[0]', '{ role, content }, got 1'],
    [[...hello.messages, { role: 'user' }], 'messages[1].content', 'a text, or a list'],
    [[{ role: 'user', content: [] }], 'messages[0].content', 'a text, or a list'],
    [[{ role: 'assistant' }], 'messages[0].content', 'a text, or a list'],
    [[{ role: 'tool', content: null }], 'messages[0].content', 'a text, or a list'],
    [
      [{ role: 'user', content: [{ type: 'text', text: 'a' }, { type: 'image_url' }] }],
      'messages[0].content[1]',
      'a part of type "text": this model reads texts alone, got "image_url"',
    ],
  ] as const)
    expect
      .soft(await failureOf(openai.chat.completions.create({ model: 'writer', messages: messages as never })))
      .toEqual([
        400,
        'invalid_request_error',
        param,
        'invalid_value',
        expect.stringContaining(`${param}: expected ${expected}`),
      ]);
  expect(await failureOf(openai.chat.completions.create({ ...hello, tools: 'f' as never }))).toMatchObject({
    0: 400,
    2: 'tools',
  });
  expect(client.asked).toHaveLength(2);
});

test('tools: what must be called is a param; calls and reasoning are written as OpenAI and vLLM do', async () => {
  const calls = [
    { id: 'abc000000', name: 'f', arguments: { city: 'Köln' } },
    { id: 'abc000001', name: 'g', arguments: {} },
  ];
  const result = { text: '', reasoning: 'Hm. So.', toolCalls: calls, finishReason: 'tool_calls', usage: USAGE };
  const parts = [{ reasoning: 'Hm.' }, { reasoning: ' So.' }, { toolCall: calls[0] }, { toolCall: calls[1] }];
  const { client, openai } = await faked(() => result, parts);
  const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, function: { name, parameters: {} } }));
  const written = [
    { id: 'abc000000', type: 'function', function: { name: 'f', arguments: '{"city":"Köln"}' } },
    { id: 'abc000001', type: 'function', function: { name: 'g', arguments: '{}' } },
  ];
  const whole = await openai.chat.completions.create({ ...hello, tools, tool_choice: 'required' });
  expect(whole.choices[0]).toEqual({
    index: 0,
    message: { role: 'assistant', content: null, refusal: null, reasoning_content: 'Hm. So.', tool_calls: written },
    logprobs: null,
    finish_reason: 'tool_calls',
  });
  expect(client.asked[0]).toMatchObject({ input: { tools }, options: { params: { toolChoice: 'required' } } });
  // OpenAI's own client puts the deltas together.
  const stream = openai.chat.completions.stream({
    ...hello,
    tools,
    tool_choice: { type: 'function', function: { name: 'f' } },
  });
  let reasoning = '';
  for await (const { choices } of stream)
    reasoning += (choices[0]!.delta as { readonly reasoning_content?: string }).reasoning_content ?? '';
  const last = (await stream.finalChatCompletion()).choices[0]!;
  expect([reasoning, last.finish_reason]).toEqual(['Hm. So.', 'tool_calls']);
  expect(last.message.tool_calls).toMatchObject(written);
  expect(client.asked[1]!.options.params).toEqual({ toolChoice: { name: 'f' } });
  // What was called comes back, with its result.
  const messages = [
    ...hello.messages,
    whole.choices[0]!.message,
    { role: 'tool' as const, tool_call_id: 'abc000000', content: 'Sunny' },
  ];
  await openai.chat.completions.create({ model: 'writer', messages, tools, tool_choice: 'auto' });
  expect(client.asked[2]).toMatchObject({
    input: { messages: [{}, { content: '', tool_calls: written }, messages[2]] },
  });
  expect(client.asked[2]!.options.params).toEqual({});
});

test('the probabilities of tokens, as OpenAI writes them', async () => {
  const token = (text: string, logprob: number): object => ({
    text,
    bytes: [...new TextEncoder().encode(text)],
    logprob,
  });
  const tokens = [
    { ...token('Hé', -0.5), top: [token('Hé', -0.5), token('Yo', -2)] },
    { ...token(' du', -0.1), top: [token(' du', -0.1)] },
  ];
  const result = { text: 'Hé du', finishReason: 'stop', usage: USAGE, tokens };
  const { client, openai } = await faked(() => result, ['Hé ', 'du']);
  const request = { ...hello, logprobs: true, top_logprobs: 2 };
  const { choices } = await openai.chat.completions.create(request);
  const written = (text: string, logprob: number, bytes: readonly number[]): object => ({
    token: text,
    logprob,
    bytes,
  });
  const [first, other, second] = [
    written('Hé', -0.5, [72, 195, 169]),
    written('Yo', -2, [89, 111]),
    written(' du', -0.1, [32, 100, 117]),
  ];
  const expected = {
    content: [
      { ...first, top_logprobs: [first, other] },
      { ...second, top_logprobs: [second] },
    ],
    refusal: null,
  };
  expect(choices[0]!.logprobs).toEqual(expected);
  expect(client.asked[0]!.options.params).toEqual({ topLogprobs: 2 });
  // OpenAI's own client collects those of a stream.
  const streamed = await openai.chat.completions.stream(request).finalChatCompletion();
  expect(streamed.choices[0]!.logprobs).toEqual(expected);
  // A handler that tells which tokens make a part has them in its chunk; those that make none are in the last.
  client.parts = [{ tokens: tokens.slice(0, 1) }, 'Hé'];
  const chunks: unknown[] = [];
  for await (const { choices } of await openai.chat.completions.create({ ...request, stream: true }))
    chunks.push([choices[0]!.delta.content, choices[0]!.logprobs?.content?.map((one) => one.token)]);
  expect(chunks).toEqual([
    ['', undefined],
    ['Hé', ['Hé']],
    [undefined, [' du']],
  ]);
  const texts: unknown[] = [];
  const completed = { model: 'writer', prompt: 'Hello', logprobs: 2, stream: true } as const;
  for await (const { choices } of await openai.completions.create(completed)) texts.push(choices[0]!.logprobs);
  expect(texts).toMatchObject([
    { tokens: ['Hé'], text_offset: [0] },
    { tokens: [' du'], text_offset: [2] },
  ]);
  client.asked.splice(2);
  await openai.chat.completions.create({ ...hello, logprobs: true });
  expect(client.asked[2]!.options.params).toEqual({ topLogprobs: 0 });
  const completion = await openai.completions.create({ model: 'writer', prompt: 'Hello', logprobs: 2 });
  expect(completion.choices[0]!.logprobs).toEqual({
    tokens: ['Hé', ' du'],
    token_logprobs: [-0.5, -0.1],
    top_logprobs: [{ Hé: -0.5, Yo: -2 }, { ' du': -0.1 }],
    text_offset: [0, 2],
  });
  expect(await failureOf(openai.completions.create({ model: 'writer', prompt: 'Hello', logprobs: 6 }))).toEqual([
    400,
    'invalid_request_error',
    'logprobs',
    'invalid_value',
    '400 logprobs: expected a whole number from 0 to 5, got 6.',
  ]);
});

test('what the chat template reads: chat_template_kwargs, as in vLLM, and reasoning_effort', async () => {
  const { client, openai } = await faked();
  const kwargsOf = async (fields: object): Promise<unknown> => {
    await openai.chat.completions.create({ ...hello, ...fields });
    return client.asked.at(-1)!.options.params;
  };
  const having = (chatTemplateKwargs: object): object => ({ chatTemplateKwargs });
  expect(await kwargsOf({ reasoning_effort: 'low' })).toEqual(
    having({ reasoning_effort: 'low', enable_thinking: true }),
  );
  expect(await kwargsOf({ chat_template_kwargs: { enable_thinking: true }, reasoning_effort: 'none' })).toEqual(
    having({ reasoning_effort: 'none', enable_thinking: true }),
  );
  expect(await kwargsOf({ reasoning_effort: 'none' })).toEqual(
    having({ reasoning_effort: 'none', enable_thinking: false }),
  );
});

test('several answers to a prompt, whose tokens count once', async () => {
  const { client, openai } = await faked();
  const { choices, usage } = await openai.chat.completions.create({ ...hello, n: 3, seed: 7, temperature: 1 });
  expect(choices.map(({ index, message }) => [index, message.content])).toEqual([
    [0, 'Hi there'],
    [1, 'Hi there'],
    [2, 'Hi there'],
  ]);
  expect(client.asked.map(({ options }) => options.params!['seed'])).toEqual([7, 8, 9]);
  expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 });
  expect(await failureOf(openai.chat.completions.create({ ...hello, n: 2, stream: true }))).toMatchObject({
    0: 400,
    2: 'n',
    3: 'unsupported_value',
  });
});

test('no object of a request stands for bytes: a tool or a schema may have the only key b64', async () => {
  const { client, openai } = await faked();
  const parameters = { type: 'object', properties: { b64: { type: 'string' } } };
  const tools = [{ type: 'function' as const, function: { name: 'decode', parameters } }];
  const json_schema = { name: 'a', schema: parameters };
  await openai.chat.completions.create({ ...hello, tools, response_format: { type: 'json_schema', json_schema } });
  expect(client.asked[0]).toMatchObject({
    input: { messages: hello.messages, tools },
    options: { params: { responseFormat: { type: 'json_schema', schema: parameters } } },
  });
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
});

test('a stream that is still being written is never cut; one that stops is, with an event', async () => {
  const clock = new FakeClock();
  const { client, server } = await faked(() => pending().promise, ['Once ', 'upon '], WRITER, { clock, timeout: 1000 });
  const body = JSON.stringify({ ...hello, stream: true });
  const response = await server.fetch(new Request('http://server/v1/chat/completions', { method: 'POST', body }));
  const reader = response.body!.getReader();
  const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  expect(await read()).toContain('"role":"assistant"');
  for (const part of ['Once ', 'upon ']) {
    await clock.advance(900);
    expect(await read()).toContain(`"content":"${part}"`);
  }
  expect(client.asked[0]!.options.timeout).toBe(undefined);
  const last = read();
  await clock.advance(1001);
  expect(await last).toContain('"type":"server_error"');
  expect((await server.describe('writer')).activeRequests).toBe(0);
});

test("more prompts than the queue ever holds are the request's fault", async () => {
  const { openai } = await faked();
  const prompt = Array.from({ length: 101 }, () => 'a');
  expect(await failureOf(openai.completions.create({ model: 'writer', prompt }))).toMatchObject({
    0: 400,
    4: expect.stringContaining('jobQueueSize'),
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

test('a prompt that is too long has the code that clients shorten their chats by', async () => {
  const { openai } = await faked(() =>
    checkPrompt(
      Array.from({ length: 9 }, () => 1),
      8,
    ),
  );
  for (const stream of [false, true])
    expect(await failureOf(openai.chat.completions.create({ ...hello, stream }))).toMatchObject({
      0: 400,
      3: 'context_length_exceeded',
    });
});

test('embeddings of a handler that counts tokens have usage', async () => {
  const counted = (text: string): object => ({ embedding: Float32Array.of(1), usage: { promptTokens: text.length } });
  const description = {
    ...WRITER,
    handler: 'text_feature_extractor',
    makes: 'vector',
    resultForms: ['typed', 'usage'],
  } as const;
  const { client, openai } = await faked(({ input }) => (input as string[]).map(counted), [], description);
  const { data, usage } = await openai.embeddings.create({ model: 'writer', input: ['one', 'four'] });
  expect(data.map(({ embedding }) => [...embedding])).toEqual([[1], [1]]);
  expect(usage).toEqual({ prompt_tokens: 7, total_tokens: 7 });
  expect(client.asked[0]!.options.params).toEqual({ result: 'usage' });
});

test('embeddings, as lists and in base64, which the client asks for', async () => {
  const vector = Float32Array.of(0.5, -0.25, 3);
  const { client, server, openai } = await faked(({ input }) => (input as string[]).map(() => vector), [], {
    ...WRITER,
    handler: 'text_feature_extractor',
    makes: 'vector',
  });
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
  for (const [field, value] of Object.entries({ input: [1, 'a'], dimensions: 2, encoding_format: 'hex', other: 1 }))
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
  for (const path of ['files', 'responses/a/b', 'chat', 'models/a/b', '']) {
    const code = { code: 'unknown_url', message: expect.stringMatching(/\/v1\/chat\/completions.*\/v1\/models/) };
    expect(await told(path), path).toMatchObject([404, { error: { type: 'invalid_request_error', ...code } }]);
  }
  expect(await told('chat/completions')).toMatchObject([405, { error: { code: 'method_not_supported' } }]);
  expect(await told('toString', { method: 'POST' })).toMatchObject([404, error]);
  expect(await told('models/none')).toMatchObject([404, { error: { code: 'model_not_found' } }]);
  expect(await told('chat/completions', { method: 'POST', body: '{' })).toMatchObject([400, error]);
  expect(await told('chat/completions', { method: 'POST', body: '[]' })).toMatchObject([400, error]);
  // JSON is UTF-8, whatever its type says.
  const [json, headers] = [JSON.stringify({ model: 'é' }), { 'Content-Type': 'application/json; charset=latin1' }];
  const utf8 = { method: 'POST', headers, body: json };
  expect(await told('chat/completions', utf8)).toMatchObject([404, { error: { message: 'Model not found: é' } }]);
  const latin1 = { method: 'POST', headers, body: Uint8Array.from(Buffer.from(json, 'latin1')) };
  expect(await told('chat/completions', latin1)).toMatchObject([400, error]);
  expect(await told('chat/completions', { method: 'POST', body: '{}' })).toMatchObject([
    400,
    { error: { param: 'model' } },
  ]);
});

const RECORDER = {
  modelName: 'whisper',
  handler: 'speech_to_text',
  takes: 'audio',
  makes: 'transcript',
  resultForms: [],
} as const;
const SPOKEN = {
  text: ' Hello there. All well?',
  language: 'de',
  duration: 3661.2,
  parts: [
    { text: ' Hello', start: 0, end: 0.5 },
    { text: ' there.', start: 0.5, end: 1 },
    { text: ' All', start: 3600, end: 3660 },
    { text: ' well?', start: 3660, end: 3661.9999 },
  ],
  segments: [
    {
      text: ' Hello there.',
      start: 0,
      end: 1,
      avgLogprob: -0.4,
      compressionRatio: 0.9,
      noSpeechProb: 0.1,
      temperature: 0.2,
    },
    { text: ' All well?', start: 3600, end: 3661.9999 },
  ],
};
const recording = () => new File([new Uint8Array([1, 2, 3])], 'talk.wav', { type: 'audio/wav' });

test('a recording is transcribed in each format', async () => {
  const { client, openai } = await faked(() => SPOKEN, [], RECORDER);
  const ask = async (fields: object): Promise<unknown> =>
    await openai.audio.transcriptions.create({ model: 'whisper', file: recording(), ...fields } as never);
  const usage = { type: 'duration', seconds: 3662 };
  expect(await ask({})).toEqual({ text: SPOKEN.text, usage });
  expect(client.asked.at(-1)!.options.params).toEqual({});
  const input = client.asked.at(-1)!.input as File;
  expect([input.type, input.size]).toEqual(['audio/wav', 3]);
  expect(await ask({ response_format: 'text', language: 'de', prompt: 'A talk', temperature: 0.4 })).toBe(
    'Hello there. All well?\n',
  );
  expect(client.asked.at(-1)!.options.params).toEqual({
    language: 'de',
    prompt: 'A talk',
    doSample: true,
    temperature: 0.4,
  });
  expect(await ask({ response_format: 'srt' })).toBe(
    '1\n00:00:00,000 --> 00:00:01,000\nHello there.\n\n2\n01:00:00,000 --> 01:01:02,000\nAll well?\n\n',
  );
  expect(client.asked.at(-1)!.options.params).toEqual({ timestamps: 'segment' });
  expect(await ask({ response_format: 'vtt' })).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.000\nHello there.\n\n01:00:00.000 --> 01:01:02.000\nAll well?\n\n',
  );
  const verbose = { response_format: 'verbose_json', timestamp_granularities: ['word', 'segment'] };
  expect(await ask(verbose)).toMatchObject({
    task: 'transcribe',
    language: 'german',
    duration: 3661.2,
    text: SPOKEN.text,
    words: [{ word: 'Hello', start: 0, end: 0.5 }, {}, {}, { word: 'well?' }],
    segments: [
      {
        id: 0,
        text: ' Hello there.',
        start: 0,
        end: 1,
        avg_logprob: -0.4,
        compression_ratio: 0.9,
        no_speech_prob: 0.1,
        temperature: 0.2,
      },
      { id: 1, avg_logprob: 0, temperature: 0 },
    ],
    usage,
  });
  expect(client.asked.at(-1)!.options.params).toEqual({ timestamps: 'word' });
  expect(await ask({ response_format: 'verbose_json' })).not.toHaveProperty('words');
});

test('of a model without segments, pauses divide the words', async () => {
  const { segments: _, ...words } = SPOKEN;
  const { client, openai } = await faked(() => words, [], { ...RECORDER, handler: 'speech_recognizer' });
  const found = await openai.audio.transcriptions.create({
    model: 'whisper',
    file: recording(),
    response_format: 'verbose_json',
  });
  expect(client.asked.at(-1)!.options.params).toEqual({ timestamps: 'word' });
  expect(found.segments!.map(({ text, start, end }) => [text, start, end])).toEqual([
    ['Hello there.', 0, 1],
    ['All well?', 3600, 3661.9999],
  ]);
  expect(
    await failureOf(openai.audio.transcriptions.create({ model: 'whisper', file: recording(), language: 'de' })),
  ).toEqual([400, 'invalid_request_error', 'language', 'unsupported_value', expect.any(String)]);
});

test('how far a recognizer is, is no part of a streamed transcript', async () => {
  const { openai } = await faked(() => SPOKEN, [{ done: 1, total: 2 }], RECORDER);
  const stream = await openai.audio.transcriptions.create({ model: 'whisper', file: recording(), stream: true });
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  expect(events).toEqual([
    { type: 'transcript.text.delta', delta: SPOKEN.text },
    { type: 'transcript.text.done', text: SPOKEN.text },
  ]);
});

test('a transcript is streamed', async () => {
  const { openai } = await faked(() => SPOKEN, [' Hello there.', ' All well?'], RECORDER);
  const stream = await openai.audio.transcriptions.create({ model: 'whisper', file: recording(), stream: true });
  const events: unknown[] = [];
  for await (const event of stream) events.push(event);
  expect(events).toEqual([
    { type: 'transcript.text.delta', delta: ' Hello there.' },
    { type: 'transcript.text.delta', delta: ' All well?' },
    { type: 'transcript.text.done', text: SPOKEN.text },
  ]);
});

test('what is wrong with a request for a transcript is an error that names its field', async () => {
  const { openai, server } = await faked(
    () => {
      throw new TabServeError('invalid-input', 'params.timestamps: the model writes no times.');
    },
    [],
    RECORDER,
  );
  const ask = (fields: object): Promise<unknown> =>
    failureOf(openai.audio.transcriptions.create({ model: 'whisper', file: recording(), ...fields } as never));
  for (const [fields, param, code] of [
    [{ response_format: 'mp3' }, 'response_format', 'invalid_value'],
    [{ response_format: 'diarized_json' }, 'response_format', 'unsupported_value'],
    [{ temperature: 2 }, 'temperature', 'invalid_value'],
    [{ timestamp_granularities: ['word'] }, 'timestamp_granularities[]', 'unsupported_value'],
    [{ stream: true, response_format: 'srt' }, 'stream', 'unsupported_value'],
    [{ speed: 2 }, 'speed', 'unknown_parameter'],
    [{ response_format: 'srt' }, 'response_format', 'invalid_value'],
    [
      { response_format: 'verbose_json', timestamp_granularities: ['word'] },
      'timestamp_granularities[]',
      'invalid_value',
    ],
  ] as const)
    expect(await ask(fields), JSON.stringify(fields)).toEqual([
      400,
      'invalid_request_error',
      param,
      code,
      expect.any(String),
    ]);
  const sent = async (body: BodyInit, type?: string): Promise<number> => {
    const init = { method: 'POST', body, ...(type && { headers: { 'content-type': type } }) };
    return (await server.fetch(new Request('http://server/v1/audio/transcriptions', init))).status;
  };
  const form = new FormData();
  form.set('model', 'whisper');
  expect([await sent(form), await sent('{"model":"whisper"}', 'application/json')]).toEqual([400, 415]);
  const { openai: writer } = await faked();
  expect(await failureOf(writer.audio.transcriptions.create({ model: 'writer', file: recording() }))).toMatchObject([
    400,
    'invalid_request_error',
    'model',
    null,
    expect.stringMatching(/transcribes no recordings/),
  ]);
});
