// LangChain.js, unmodified, asks `npx tabserve serve`: the newest version of its OpenAI classes that runs on Node 20.
// Expected prompts are transformers' (`test/models/generation/make.py`), vectors Python's (`test/models/features/make.py`).
import { expect, test } from '@playwright/test';
import { HumanMessage, type AIMessageChunk, type BaseMessage, type UsageMetadata } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { ChatOpenAI, OpenAIEmbeddings } from '@langchain/openai';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { RunningServer } from '../../src/tools/cli/serve.ts';
import { GENERATION } from '../unit/worker/generation/models.ts';

let running: RunningServer;
type Fields = NonNullable<ConstructorParameters<typeof ChatOpenAI>[0]>;
const address = () => ({ apiKey: 'none', maxRetries: 0, configuration: { baseURL: `${running.url}/v1` } });
const chat = (fields: Partial<Fields>): ChatOpenAI =>
  new ChatOpenAI({ model: 'writer', temperature: 0, ...address(), ...fields });
// Its own type is lost in LangChain's declarations.
const usageOf = (message: AIMessageChunk): UsageMetadata => message.usage_metadata as unknown as UsageMetadata;

test.describe.configure({ mode: 'default' });
test.beforeAll(async () => {
  const { serve } = (await import(
    String(new URL('../../dist/tools/cli/serve.js', import.meta.url))
  )) as typeof import('../../src/tools/cli/serve.ts');
  const models = ['public/models/writer', 'test/models/generation/qwen3', 'test/models/features/text'];
  running = await serve(models, { port: '0' }, () => {});
});
test.afterAll(() => running.close());

for (const useResponsesApi of [false, true]) {
  const api = useResponsesApi ? 'responses' : 'chats';

  test(`${api}: an answer, its stream, its usage and an abort`, async () => {
    const [, conversation] = GENERATION['qwen3']!.chats!;
    const model = chat({ model: 'qwen3', maxTokens: 8, useResponsesApi });
    const messages = conversation!.messages.map(({ role, content }) => ({ role, content }));
    const whole = await model.invoke(messages);
    expect(whole.usage_metadata).toMatchObject({
      input_tokens: conversation!.input_ids!.length,
      output_tokens: 8,
      total_tokens: conversation!.input_ids!.length + 8,
    });
    expect(whole.text).not.toBe('');
    let joined: AIMessageChunk | undefined;
    let parts = 0;
    for await (const part of await model.stream(messages)) {
      joined = joined?.concat(part) ?? part;
      if (part.text !== '') parts += 1;
    }
    expect(parts).toBeGreaterThan(1);
    expect(joined!.text).toBe(whole.text);
    expect(joined!.usage_metadata).toMatchObject({ input_tokens: conversation!.input_ids!.length, output_tokens: 8 });
    const aborting = new AbortController();
    const aborted = (async () => {
      const long = chat({ model: 'qwen3', maxTokens: 60, useResponsesApi });
      for await (const _ of await long.stream(messages, { signal: aborting.signal })) aborting.abort();
    })();
    await expect(aborted).rejects.toThrow(/abort/i);
  });

  test(`${api}: tools in several steps, whole and streamed`, async () => {
    const add = tool(async ({ a, b }: { a: number; b: number }) => String(a + b), {
      name: 'add',
      description: 'Adds two numbers.',
      schema: z.object({ a: z.number().int().min(0).max(9), b: z.union([z.literal(1), z.literal(2)]) }),
    });
    const calling = chat({ maxTokens: 120, useResponsesApi }).bindTools([add], { tool_choice: 'add' });
    const streamed = async (messages: BaseMessage[]): Promise<AIMessageChunk> => {
      let joined: AIMessageChunk | undefined;
      for await (const part of await calling.stream(messages)) joined = joined?.concat(part) ?? part;
      return joined!;
    };
    const messages: BaseMessage[] = [new HumanMessage('How many?')];
    const lengths: number[] = [];
    for (const ask of [(all: BaseMessage[]) => calling.invoke(all), streamed]) {
      const answer = await ask(messages);
      lengths.push(usageOf(answer).input_tokens);
      expect(answer.tool_calls).toHaveLength(1);
      const [call] = answer.tool_calls!;
      const output = await add.invoke(call!);
      expect(output).toMatchObject({ tool_call_id: call!.id, content: String(call!.args['a'] + call!.args['b']) });
      messages.push(answer, output);
    }
    const last = await chat({ maxTokens: 2, useResponsesApi }).invoke(messages);
    expect([last.tool_calls, usageOf(last).output_tokens]).toEqual([[], 2]);
    // The second step reads what the tool gave.
    expect(lengths[1]).toBeGreaterThan(lengths[0]!);
  });

  test(`${api}: an object that fits a schema of zod`, async () => {
    const Review = z.object({ mood: z.enum(['glad', 'sad']), stars: z.number().int().min(1).max(5) });
    for (const method of ['jsonSchema', 'functionCalling'] as const) {
      const model = chat({ maxTokens: 120, useResponsesApi }).withStructuredOutput(Review, { name: 'review', method });
      const review = await model.invoke('A review');
      expect.soft(Review.safeParse(review), `${method}: ${JSON.stringify(review)}`).toMatchObject({ success: true });
    }
  });

  test(`${api}: what is refused is an error with its reason`, async () => {
    const error = await chat({ topP: 2, useResponsesApi })
      .invoke('Hello')
      .catch((cause: unknown) => cause);
    expect(error).toMatchObject({ status: 400, code: 'invalid_value', message: expect.stringContaining('top_p') });
  });
}

test('the probabilities of tokens', async () => {
  const { response_metadata: metadata, text } = await chat({
    maxTokens: 4,
    logprobs: true,
    topLogprobs: 2,
  }).invoke('Once upon a time');
  const { content } = metadata['logprobs'] as { content: readonly { token: string; top_logprobs: unknown[] }[] };
  expect(content.map(({ token }) => token).join('')).toBe(text);
  expect(content.map(({ top_logprobs: top }) => top.length)).toEqual([2, 2, 2, 2]);
});

test('vectors, as in Python', async () => {
  const { text } = JSON.parse(readFileSync('test/models/features/goldens.json', 'utf8')) as {
    readonly text: { readonly inputs: readonly string[]; readonly unit: Readonly<Record<string, number[][]>> };
  };
  const vectors = await new OpenAIEmbeddings({ model: 'text', ...address() }).embedDocuments([...text.inputs]);
  const expected = text.unit['mean']!;
  expect(vectors.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  for (const [index, vector] of vectors.entries())
    for (const [at, value] of vector.entries()) expect(value).toBeCloseTo(expected[index]![at]!, 4);
});
