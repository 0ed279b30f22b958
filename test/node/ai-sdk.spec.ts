// Vercel's AI SDK under Node: `ai` 6, the newest version that runs on Node 20, and the built package. Expected prompts are
// transformers': `test/models/generation/make.py`.
import { expect, test } from '@playwright/test';
import { embedMany, generateObject, generateText, jsonSchema, rerank, stepCountIs, streamText, tool } from 'ai-node20';
import { createOpenAI } from 'ai-sdk-openai-node20';
import { readFileSync } from 'node:fs';
import { GENERATION } from '../unit/worker/generation/models.ts';

const root = new URL('../../', import.meta.url);
const dist = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`dist/${path}`, root).href)) as Module;
const { load } = await dist<typeof import('../../src/node.ts')>('node.js');
const { tabserve, tabserveEmbedding, tabserveReranking } =
  await dist<typeof import('../../src/ai-sdk.ts')>('ai-sdk.js');

test('a text, its stream, its usage and an abort', async () => {
  await using client = await load(new URL('test/models/generation/qwen3/', root), { handler: 'text_generator' });
  const [chat] = GENERATION['qwen3']!.chats!;
  const plain = await client.predict(chat!.text!, { params: { maxNewTokens: 8 } });
  const model = tabserve(client, { specification: 'v3' });
  const asked = { model, prompt: chat!.messages[0]!.content, maxOutputTokens: 8 };
  const whole = await generateText(asked);
  expect(whole.text).toBe(plain.text);
  expect(whole.finishReason).toBe('length');
  expect(whole.usage).toMatchObject({ inputTokens: chat!.input_ids!.length, outputTokens: 8 });
  let joined = '';
  for await (const part of streamText(asked).textStream) joined += part;
  expect(joined).toBe(plain.text);
  const aborting = new AbortController();
  const kinds: string[] = [];
  for await (const { type } of streamText({ ...asked, maxOutputTokens: 60, abortSignal: aborting.signal }).fullStream) {
    kinds.push(type);
    if (type === 'text-delta') aborting.abort();
  }
  expect(kinds.at(-1)).toBe('abort');
});

test('an object that fits a schema', async () => {
  await using client = await load(new URL('test/models/generation/qwen3/', root), { handler: 'text_generator' });
  const { object, finishReason } = await generateObject({
    model: tabserve(client, { specification: 'v3' }),
    prompt: 'A review',
    maxOutputTokens: 100,
    schema: jsonSchema<{ mood: string; stars: number }>({
      type: 'object',
      properties: { mood: { enum: ['happy', 'sad'] }, stars: { type: 'integer', minimum: 1, maximum: 5 } },
      required: ['mood', 'stars'],
      additionalProperties: false,
    }),
  });
  expect(finishReason).toBe('stop');
  expect(['happy', 'sad']).toContain(object.mood);
  expect([1, 2, 3, 4, 5]).toContain(object.stars);
});

const TOOLS = {
  add: tool({
    description: 'Adds two numbers.',
    inputSchema: jsonSchema<{ a: number; b: number }>({
      type: 'object',
      properties: { a: { type: 'integer', minimum: 0, maximum: 9 }, b: { enum: [1, 2] } },
      required: ['a', 'b'],
      additionalProperties: false,
    }),
    execute: async ({ a, b }) => a + b,
  }),
};

test('tools in several steps: from the client, and over HTTP by the provider of OpenAI', async () => {
  const { serve } = await dist<typeof import('../../src/tools/cli/serve.ts')>('tools/cli/serve.js');
  const running = await serve(['public/models/writer'], { port: '0' }, () => {});
  await using client = await load(new URL('public/models/writer/', root), { handler: 'text_generator' });
  const models = {
    client: tabserve(client, { specification: 'v3' }),
    responses: createOpenAI({ apiKey: 'none', baseURL: `${running.url}/v1` })('writer'),
    chat: createOpenAI({ apiKey: 'none', baseURL: `${running.url}/v1` }).chat('writer'),
  };
  try {
    for (const [name, model] of Object.entries(models)) {
      const asked = {
        model,
        prompt: 'How many?',
        tools: TOOLS,
        // Made in every step.
        toolChoice: { type: 'tool', toolName: 'add' },
        stopWhen: stepCountIs(2),
        maxRetries: 0,
        maxOutputTokens: 120,
      } as const;
      const { steps } = await generateText(asked);
      expect(steps.length, name).toBe(2);
      for (const { toolResults, finishReason } of steps) {
        expect(finishReason, name).toBe('tool-calls');
        expect(toolResults.length, name).toBe(1);
        const [{ input, output }] = toolResults as unknown as [{ input: { a: number; b: number }; output: number }];
        expect(output).toBe(input.a + input.b);
      }
      if (name === 'chat') continue;
      const kinds: string[] = [];
      for await (const { type } of streamText(asked).fullStream) kinds.push(type);
      expect(kinds.filter((kind) => kind === 'tool-result').length, name).toBe(2);
    }
  } finally {
    await running.close();
  }
});

test('embeddings, as in Python', async () => {
  const { text } = JSON.parse(readFileSync(new URL('test/models/features/goldens.json', root), 'utf8')) as {
    readonly text: { readonly inputs: readonly string[]; readonly unit: Readonly<Record<string, number[][]>> };
  };
  await using client = await load(new URL('test/models/features/text/', root), { handler: 'text_feature_extractor' });
  const model = tabserveEmbedding(client, { specification: 'v3' });
  const { embeddings } = await embedMany({ model, values: [...text.inputs] });
  const expected = text.unit['mean']!;
  expect(embeddings.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  for (const [index, vector] of embeddings.entries())
    for (const [at, value] of vector.entries()) expect(value).toBeCloseTo(expected[index]![at]!, 4);
});

test('a ranking, as in Python; objects are ranked as JSON', async () => {
  const { rows } = JSON.parse(readFileSync(new URL('test/models/tasks/text_reranker.json', root), 'utf8')) as {
    readonly rows: readonly {
      readonly repository: string;
      readonly requests: readonly {
        readonly input: { readonly query: string; readonly texts: readonly string[] };
        readonly params?: object;
        readonly answer: readonly { readonly index: number; readonly score: number }[];
      }[];
    }[];
  };
  const { input, answer } = rows
    .find(({ repository }) => repository === 'rerank-bert')!
    .requests.find(({ params }) => !params)!;
  await using client = await load(new URL('test/models/tasks/rerank-bert/', root), { handler: 'text_reranker' });
  const model = tabserveReranking(client, { specification: 'v3' });
  const { ranking } = await rerank({ model, query: input.query, documents: [...input.texts] });
  expect(ranking.map(({ originalIndex }) => originalIndex)).toEqual(answer.map(({ index }) => index));
  for (const [at, { score }] of ranking.entries()) expect(score).toBeCloseTo(answer[at]!.score, 4);
  const [best, ...others] = (await rerank({ model, query: input.query, documents: [...input.texts], topN: 1 })).ranking;
  expect([best!.originalIndex, others]).toEqual([answer[0]!.index, []]);
  const documents = input.texts.map((text) => ({ text }));
  const byJson = await rerank({ model, query: input.query, documents: documents.map((one) => JSON.stringify(one)) });
  expect((await rerank({ model, query: input.query, documents })).ranking.map(({ score }) => score)).toEqual(
    byJson.ranking.map(({ score }) => score),
  );
});
