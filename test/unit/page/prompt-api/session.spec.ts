// The Prompt API over a client whose answers the test makes. What is expected is what its specification says:
// https://webmachinelearning.github.io/prompt-api. `test/node/prompt-api.spec.ts` has a real model.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { ChatMessage } from '../../../../src/shared/chat.ts';
import { languageModel, type CreateOptions, type PromptClient } from '../../../../src/prompt-api.ts';

interface Asked {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly unknown[];
}

const lengthOf = ({ messages }: Asked): number => JSON.stringify(messages.map(({ content }) => content)).length;

/** A model of which each character is a token. It answers what `answerOf` says, in two parts. */
function faked(
  answerOf: (asked: Asked) => object = ({ messages }) => ({ text: `<${messages.length}>` }),
  contextLength = 2000,
) {
  const asked: { input: Asked; params: object }[] = [];
  let disposed = 0;
  const answer = (input: unknown, params: object): { text: string } => {
    const promptTokens = lengthOf(input as Asked);
    if (promptTokens > contextLength)
      throw new TabServeError(
        'invalid-input',
        `The prompt has ${promptTokens} tokens, and the model's context has ${contextLength}.`,
      );
    asked.push({ input: input as Asked, params });
    const result = { text: '', finishReason: 'stop', ...answerOf(input as Asked) };
    return { ...result, usage: { promptTokens, completionTokens: result.text.length } } as never;
  };
  const client: PromptClient = {
    predict: async (input, { params }) => answer(input, params),
    async *stream(input, { params, signal }) {
      const result = answer(input, params);
      yield result.text.slice(0, 2);
      if ((result as { hangs?: true }).hangs)
        await new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason as Error)));
      yield result.text.slice(2);
      yield result;
    },
    describe: async () => ({ contextLength }) as never,
    dispose: async () => void disposed++,
  };
  const opened: number[] = [];
  const model = languageModel(async ({ onProgress }) => {
    opened.push(opened.length);
    for (const fraction of [0.5, 1]) onProgress({ overall: { fraction } } as never);
    return client;
  });
  return { model, asked, opened, disposed: () => disposed };
}

const texts = (input: Asked): unknown => input.messages.map(({ role, content }) => [role, content]);

test('the first session opens the model, and tells of its download', async () => {
  const { model, opened, disposed } = faked();
  expect(await model.availability()).toBe('downloadable');
  const loaded: unknown[] = [];
  const monitor: CreateOptions['monitor'] = (target) =>
    target.addEventListener('downloadprogress', (event) => loaded.push((event as ProgressEvent).loaded));
  const creating = model.create({ monitor });
  expect(await model.availability()).toBe('downloading');
  await creating;
  await model.create();
  expect([loaded, opened, await model.availability()]).toEqual([[0.5, 1], [0], 'available']);
  expect(await model.availability({ expectedInputs: [{ type: 'audio' }] })).toBe('unavailable');
  await expect(model.create({ expectedInputs: [{ type: 'audio' }] })).rejects.toMatchObject({
    name: 'NotSupportedError',
  });
  await expect(model.create({ signal: AbortSignal.abort('no') })).rejects.toBe('no');
  await model.dispose();
  expect([disposed(), await model.availability()]).toEqual([1, 'downloadable']);
  const failing = languageModel(() => Promise.reject(new TabServeError('network', 'offline')));
  await expect(failing.create()).rejects.toMatchObject({ code: 'network' });
  expect(await failing.availability()).toBe('downloadable');
});

test('a session remembers its conversation; a clone goes on from there', async () => {
  const { model, asked } = faked();
  const session = await model.create({ initialPrompts: [{ role: 'system', content: 's' }], temperature: 0.5, topK: 3 });
  expect(session.contextWindow).toBe(2000);
  expect(await session.prompt('a')).toBe('<2>');
  expect(asked[0]!.params).toEqual({ doSample: true, temperature: 0.5, topK: 3 });
  expect(session.contextUsage).toBe(lengthOf(asked[0]!.input) + 3);
  const clone = await session.clone();
  await session.append([{ role: 'user', content: 'b' }]);
  expect(await session.prompt('c')).toBe('<5>');
  let streamed = '';
  for await (const part of clone.promptStreaming('d') as unknown as AsyncIterable<string>) streamed += part;
  expect(streamed).toBe('<4>');
  expect(texts(asked.at(-1)!.input)).toEqual([
    ['system', 's'],
    ['user', 'a'],
    ['assistant', '<2>'],
    ['user', 'd'],
  ]);
  // Prompts wait for one another.
  const [first, second] = await Promise.all([clone.prompt('e'), clone.prompt('f')]);
  expect([first, second]).toEqual(['<6>', '<8>']);
});

test('a message of the assistant is continued; what is no prompt is a TypeError', async () => {
  const { model, asked } = faked(() => ({ text: '2, 3' }));
  const session = await model.create();
  const prefix = { role: 'assistant', content: '1, ', prefix: true } as const;
  expect(await session.prompt([{ role: 'user', content: 'n' }, prefix])).toBe('2, 3');
  await session.prompt('m');
  expect(texts(asked[1]!.input)).toEqual([
    ['user', 'n'],
    ['assistant', '1, 2, 3'],
    ['user', 'm'],
  ]);
  for (const input of [
    [],
    [{ role: 'robot', content: 'a' }],
    [prefix, { role: 'user', content: 'a' }],
    [{ ...prefix, prefix: false }],
  ])
    await expect(session.prompt(input as never)).rejects.toThrow(TypeError);
  await expect(session.prompt([{ role: 'user', content: [{ type: 'audio', value: 1 }] }])).rejects.toMatchObject({
    name: 'NotSupportedError',
  });
  const late = [{ role: 'user', content: 'a' } as const, { role: 'system', content: 'b' } as const];
  await expect(model.create({ initialPrompts: late })).rejects.toThrow(TypeError);
  const image = { type: 'image', value: 'pixels' } as const;
  await session.prompt([{ role: 'user', content: [{ type: 'text', value: 'a' }, image] }]);
  expect(asked.at(-1)!.input.messages.at(-1)!.content).toEqual([
    { type: 'text', text: 'a' },
    { type: 'image', image: 'pixels' },
  ]);
});

test('responseConstraint guides the answer: a schema, which the model is told, or an expression', async () => {
  const { model, asked } = faked(() => ({ text: '"ja"' }));
  const session = await model.create();
  const schema = { enum: ['ja'] };
  expect(await session.prompt('a', { responseConstraint: schema, omitResponseConstraintInput: true })).toBe('"ja"');
  expect(asked[0]).toMatchObject({
    input: { messages: [{ content: 'a' }] },
    params: { responseFormat: { type: 'json_schema', schema } },
  });
  // The answer matches the expression itself: it is no JSON.
  expect(await (await model.create()).prompt('b', { responseConstraint: /ja|nein/ })).toBe('ja');
  const pattern = '^(?:ja|nein)$';
  expect(asked[1]!.params).toEqual({ responseFormat: { type: 'json_schema', schema: { type: 'string', pattern } } });
  await (await model.create()).prompt('c', { responseConstraint: {} });
  expect(asked[2]!.input.messages[0]!.content).toBe('c\n\nAnswer in JSON of this schema: {}');
  await expect(session.prompt('d', { responseConstraint: 'x' as never })).rejects.toThrow(TypeError);
  await expect(session.prompt('d', { responseConstraint: /a/i })).rejects.toMatchObject({ name: 'NotSupportedError' });
});

test('the app runs the tools that the model calls, until it answers', async () => {
  const { model, asked } = faked(({ messages }) => {
    const output = messages.find(({ role }) => role === 'tool');
    return output
      ? { text: `=${String(output.content)}` }
      : { toolCalls: [{ id: 'c', name: 'add', arguments: { a: 1, b: 2 } }], finishReason: 'tool_calls' };
  });
  const tools = [
    { name: 'add', description: 'Adds', inputSchema: {}, execute: ({ a, b }: { a: number; b: number }) => a + b },
  ];
  const session = await model.create({ tools });
  expect(await session.prompt('1+2')).toBe('=3');
  expect(asked[1]!.input).toMatchObject({
    tools: [{ type: 'function', function: { name: 'add', description: 'Adds', parameters: {} } }],
    messages: [
      { role: 'user' },
      { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'add', arguments: { a: 1, b: 2 } } }] },
      { role: 'tool', tool_call_id: 'c', content: '3' },
    ],
  });
  const endless = faked(() => ({ toolCalls: [{ id: 'c', name: 'add', arguments: { a: 1, b: 2 } }] }));
  const quiet = [{ ...tools[0]!, execute: () => '' }];
  await expect((await endless.model.create({ tools: quiet })).prompt('')).rejects.toMatchObject({
    code: 'inference-failed',
    message: 'The model has called tools 20 times in a row.',
  });
  expect(endless.asked).toHaveLength(20);
});

test('where the context is full, the oldest messages are dropped, and the app is told', async () => {
  const { model, asked } = faked(() => ({ text: 'ok' }), 60);
  const session = await model.create({ initialPrompts: [{ role: 'system', content: 'keep' }] });
  let overflows = 0;
  session.oncontextoverflow = () => overflows++;
  await session.prompt('x'.repeat(20));
  expect(overflows).toBe(0);
  await session.prompt('y'.repeat(30));
  expect(overflows).toBe(1);
  expect(texts(asked.at(-1)!.input)).toEqual([
    ['system', 'keep'],
    ['user', 'y'.repeat(30)],
  ]);
  await expect(session.prompt('z'.repeat(100))).rejects.toMatchObject({ name: 'QuotaExceededError', quota: 60 });
});

test('how many tokens a prompt would add', async () => {
  const { model } = faked(() => ({ text: 'ok' }));
  const session = await model.create();
  const alone = await session.measureContextUsage('abc');
  expect(alone).toBe(JSON.stringify(['abc']).length);
  await session.prompt('abc');
  expect(await session.measureContextUsage('def')).toBe(
    JSON.stringify(['abc', 'ok', 'def']).length - session.contextUsage,
  );
});

test('a stream that nobody reads, and a tool that never answers, hold nothing up', async () => {
  const { model } = faked();
  const session = await model.create();
  session.promptStreaming('a');
  expect(await session.prompt('b')).toBe('<3>');
  const call = { toolCalls: [{ id: 'c', name: 'wait', arguments: {} }], finishReason: 'tool_calls' };
  const calling = faked(() => call);
  const tools = [{ name: 'wait', description: '', inputSchema: {}, execute: () => new Promise(() => {}) }];
  const stuck = await calling.model.create({ tools });
  const aborting = new AbortController();
  const first = stuck.prompt('a', { signal: aborting.signal });
  const second = stuck.prompt('b', { signal: AbortSignal.abort('not now') });
  await expect(second).rejects.toBe('not now');
  aborting.abort('enough');
  await expect(first).rejects.toBe('enough');
});

test('messages that are appended count when they are measured', async () => {
  const { model } = faked(() => ({ text: 'ok' }));
  const session = await model.create();
  await session.prompt('a');
  await session.append([
    { role: 'user', content: 'b' },
    { role: 'assistant', content: 'c' },
  ]);
  const length = (texts: readonly string[]): number => JSON.stringify(texts).length;
  const before = ['a', 'ok', 'b', 'c'];
  expect(await session.measureContextUsage('d')).toBe(length([...before, 'd']) - length(before));
});

test('an aborted prompt is not remembered; a destroyed session ends', async () => {
  const { model, asked } = faked(({ messages }) => ({
    text: `<${messages.length}>`,
    ...(messages.at(-1)!.content !== 'c' && { hangs: true }),
  }));
  const session = await model.create();
  const aborting = new AbortController();
  const reader = session.promptStreaming('a', { signal: aborting.signal }).getReader();
  expect((await reader.read()).value).toBe('<1');
  aborting.abort('enough');
  expect(await reader.read().catch((reason: unknown) => reason)).toBe('enough');
  const left = session.promptStreaming('b').getReader();
  await left.read();
  await left.cancel();
  expect(await session.prompt('c')).toBe('<1>');
  expect(texts(asked.at(-1)!.input)).toEqual([['user', 'c']]);
  const last = session.promptStreaming('d').getReader();
  await last.read();
  session.destroy();
  expect(await last.read().catch((error: unknown) => error)).toMatchObject({ name: 'AbortError' });
  await expect(session.prompt('e')).rejects.toMatchObject({ name: 'InvalidStateError' });
});
