// Vercel's AI SDK, its newest version and unmodified. Expected prompts are transformers' (`test/models/generation/make.py`),
// expected vectors Python's (`test/goldens/features/make.py`).
import { readFileSync } from 'node:fs';
import { GENERATION } from '../unit/worker/generation/models.ts';
import { expect, test } from './fixtures.ts';

const { text: vectors } = JSON.parse(
  readFileSync(new URL('../models/features/goldens.json', import.meta.url), 'utf8'),
) as { readonly text: { readonly inputs: readonly string[]; readonly unit: Readonly<Record<string, number[][]>> } };

test.use({ reuseTab: false });
test.beforeEach(async ({ page }) => {
  await page.goto('/test/browser/pages/ai-sdk.html');
  await page.waitForFunction(() => 'aiSdk' in window);
});

test('a text, its stream, its usage and settings @once', async ({ page }) => {
  const chat = GENERATION['qwen3']!.chats!.at(-1)!;
  const seen = await page.evaluate(async ({ messages, text: rendered }) => {
    const { generateText, load, streamText, tabserve } = window.aiSdk;
    const client = await load('/test/models/generation/qwen3/', { handler: 'text_generator', backends: ['wasm'] });
    // Transformers' rendering of the messages, given as a plain prompt.
    const plain = await client.predict(rendered!, { params: { maxNewTokens: 8 } });
    const drawn = await client.predict(rendered!, {
      params: { maxNewTokens: 8, doSample: true, temperature: 1.5, topK: 20, topP: 0.9, seed: 7 },
    });
    const model = tabserve(client);
    const [system, ...others] = messages;
    const asked = {
      model,
      system: system!.content,
      messages: others as { role: 'user'; content: string }[],
      maxOutputTokens: 8,
    };
    const whole = await generateText(asked);
    const sampled = await generateText({ ...asked, temperature: 1.5, topK: 20, topP: 0.9, seed: 7 });
    const greedy = await generateText({ ...asked, temperature: 0 });
    const stopped = await generateText({ ...asked, stopSequences: [plain.text.slice(1, 3)] });
    const stream = streamText(asked);
    const parts: string[] = [];
    for await (const part of stream.textStream) parts.push(part);
    const short = await generateText({
      ...asked,
      frequencyPenalty: 1,
      providerOptions: { tabserve: { maxNewTokens: 3 } },
    });
    return {
      plain,
      whole: [whole.text, whole.finishReason, whole.usage.inputTokens, whole.usage.outputTokens, whole.warnings],
      sampled: sampled.text === drawn.text,
      greedy: greedy.text === plain.text,
      stopped: [stopped.text, stopped.finishReason],
      parts,
      end: [await stream.finishReason, (await stream.usage).outputTokens],
      cached: (await stream.usage).inputTokenDetails.cacheReadTokens,
      short: [short.usage.outputTokens, short.warnings],
    };
  }, chat);
  expect(seen.whole).toEqual([seen.plain.text, 'length', chat.input_ids!.length, 8, []]);
  expect(seen).toMatchObject({ sampled: true, greedy: true, stopped: [seen.plain.text.slice(0, 1), 'stop'] });
  expect(seen.parts.join('')).toBe(seen.plain.text);
  expect(seen.parts.length).toBeGreaterThan(1);
  expect(seen.end).toEqual(['length', 8]);
  expect(seen.cached).toBeGreaterThan(0);
  expect(seen.short).toEqual([3, [{ type: 'unsupported', feature: 'frequencyPenalty' }]]);
});

test('aborts, tools, and what is refused @once @full', async ({ page }) => {
  const seen = await page.evaluate(async () => {
    const { failure, generateText, jsonSchema, load, streamText, tabserve } = window.aiSdk;
    const client = await load('/test/models/generation/qwen3/', { handler: 'text_generator', backends: ['wasm'] });
    const model = tabserve(client);
    const asked = { model, prompt: 'Hello', maxOutputTokens: 60, maxRetries: 0 };
    const before = new AbortController();
    const aborted = failure(generateText({ ...asked, abortSignal: before.signal }));
    before.abort();
    // In the middle of a stream: the SDK ends it with a part of its own.
    const during = new AbortController();
    const kinds: string[] = [];
    for await (const { type } of streamText({ ...asked, abortSignal: during.signal, onError: () => {} }).fullStream) {
      kinds.push(type);
      if (type === 'text-delta') during.abort();
    }
    const pending = (await client.describe()).jobQueueStatus.pendingRequests;
    const tools = { clock: { description: 'The time', inputSchema: jsonSchema({ type: 'object' }) } };
    const withTools = await failure(generateText({ ...asked, maxOutputTokens: 2, tools }));
    const image = { type: 'image' as const, image: new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10]) };
    const errors: unknown[] = [];
    const broken = streamText({
      ...asked,
      temperature: -1,
      onError: ({ error }) => void errors.push((error as { code: string }).code),
    });
    await broken.consumeStream();
    return {
      aborted: await aborted,
      kinds: [kinds.filter((kind) => kind === 'text-delta').length, kinds.at(-1)],
      pending,
      withTools,
      image: await failure(
        generateText({ ...asked, messages: [{ role: 'user', content: [image] }], prompt: undefined! }),
      ),
      errors,
    };
  });
  expect(seen.aborted).toMatch(/^AbortError/);
  expect(seen.kinds).toEqual([1, 'abort']);
  expect(seen.pending).toBe(0);
  // Its template would not write them, so the model would not see them.
  expect(seen.withTools).toMatch(/^PredictionError: invalid-input: tools: the chat template of this model takes none/);
  expect(seen.image).toBe(
    'TabServeError: invalid-input: prompt[0].content[0]: expected a part of type "text", got one of type "file".',
  );
  expect(seen.errors).toEqual(['invalid-input']);
});

test('an answer that fits a schema, whole and in parts @once @full', async ({ page }) => {
  const { object, old, partial, end } = await page.evaluate(async () => {
    const { generateObject, generateText, jsonSchema, load, Output, streamText, tabserve } = window.aiSdk;
    const client = await load('/test/models/generation/qwen3/', { handler: 'text_generator', backends: ['wasm'] });
    const schema = jsonSchema<{ mood: string; old: boolean }>({
      type: 'object',
      properties: { mood: { enum: ['calm', 'wild'] }, old: { type: 'boolean' } },
      required: ['mood', 'old'],
      additionalProperties: false,
    });
    const asked = { model: tabserve(client), prompt: 'Tell me of the sea.', maxOutputTokens: 100, maxRetries: 0 };
    const { output: object } = await generateText({ ...asked, output: Output.object({ schema }) });
    const { object: old } = await generateObject({ ...asked, schema });
    const stream = streamText({ ...asked, output: Output.object({ schema }) });
    let partial: unknown;
    for await (const part of stream.partialOutputStream) partial = part;
    return { object, old, partial, end: await stream.finishReason };
  });
  for (const one of [object, old, partial])
    expect(one).toEqual({ mood: expect.stringMatching(/^(calm|wild)$/), old: expect.any(Boolean) });
  expect(end).toBe('stop');
});

test('embeddings, one and many, as in Python @once', async ({ page }) => {
  const seen = await page.evaluate(async (inputs) => {
    const { embed, embedMany, failure, load, tabserveEmbedding } = window.aiSdk;
    const client = await load('/test/models/features/text/', { handler: 'text_feature_extractor', backends: ['wasm'] });
    const model = tabserveEmbedding(client);
    const many = await embedMany({ model, values: [...inputs] });
    const one = await embed({ model, value: inputs[0]! });
    // More than one call takes.
    const hundred = await embedMany({ model, values: Array.from({ length: 100 }, (_, index) => inputs[index % 2]!) });
    const aborting = new AbortController();
    aborting.abort();
    return {
      many: many.embeddings,
      one: one.embedding,
      last: hundred.embeddings[99]!,
      aborted: await failure(embed({ model, value: 'a', abortSignal: aborting.signal, maxRetries: 0 })),
      fewer: (await model.doEmbed({ values: [inputs[0]!], dimensions: 3 })).embeddings[0]!,
      tooMany: await failure(model.doEmbed({ values: ['a'], dimensions: 10_000 })),
    };
  }, vectors.inputs);
  const expected = vectors.unit['mean']!;
  const close = (found: readonly number[], right: readonly number[]): void =>
    found.forEach((value, index) => expect(value).toBeCloseTo(right[index]!, 4));
  expect(seen.many.map(({ length }) => length)).toEqual(expected.map(({ length }) => length));
  seen.many.forEach((vector, index) => close(vector, expected[index]!));
  close(seen.one, expected[0]!);
  close(seen.last, expected[1]!);
  expect(seen.aborted).toMatch(/^AbortError/);
  const first = expected[0]!.slice(0, 3);
  const norm = Math.hypot(...first);
  expect(seen.fewer).toHaveLength(3);
  close(
    seen.fewer,
    first.map((value) => value / norm),
  );
  expect(seen.tooMany).toMatch(/invalid-input: params\.dimensions: the model's vectors have \d+ numbers/);
});
