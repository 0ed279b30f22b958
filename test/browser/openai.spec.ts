// OpenAI's own client, its newest version and unmodified, answered by the visitor's device. Expected texts are
// transformers': `test/models/generation/make.py`.
import { GENERATION } from '../unit/worker/generation/models.ts';
import { expect, test } from './fixtures.ts';
import { predictionServer } from './prediction-server.ts';

test.use({ reuseTab: false });

test('a chat, its stream and its abort; completions and errors; until the page hosts, the server @once', async ({
  page,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.register(1));
  const { prompt, text, tokens } = GENERATION['llama']!.prompts[0]!;
  const before = await page.evaluate(async (prompt) => {
    const openai = await window.predictions.openai();
    return await openai.completions.create({ model: 'writer', prompt });
  }, prompt);
  expect(before).toBe('the server');
  site.got.length = 0;

  await page.evaluate(() => window.predictions.host(['writer'], false, '/test/models/generation/llama/'));
  const seen = await page.evaluate(
    async ([prompt, length]) => {
      const openai = await window.predictions.openai();
      const completion = await openai.completions.create({ model: 'writer', prompt, max_tokens: length });
      const asked = { model: 'writer', messages: [{ role: 'user' as const, content: 'Hello' }], max_tokens: 12 };
      const chat = await openai.chat.completions.create(asked);
      const parts: string[] = [];
      const stream = await openai.chat.completions.create({
        ...asked,
        stream: true,
        stream_options: { include_usage: true },
      });
      let usage;
      for await (const chunk of stream) {
        if (chunk.choices[0]?.delta.content) parts.push(chunk.choices[0].delta.content);
        usage = chunk.usage ?? usage;
      }
      const structured = await openai.chat.completions.create({
        ...asked,
        max_tokens: 100,
        response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: { enum: [{ is: 'so' }] } } },
      });
      const object = await openai.chat.completions.create({ ...asked, response_format: { type: 'json_object' } });
      // A reader that leaves, and one that aborts.
      for await (const _ of await openai.chat.completions.create({ ...asked, stream: true })) break;
      const aborting = new AbortController();
      const aborted = openai.chat.completions.create(asked, { signal: aborting.signal });
      aborting.abort();
      const failure = async (promise: Promise<unknown>): Promise<unknown> =>
        await promise.then(
          () => 'none',
          (error: { constructor: { name: string }; status?: number; param?: string }) => [error.status, error.param],
        );
      return {
        completion: completion.choices[0]!.text,
        chat: chat.choices[0]!.message.content,
        structured: structured.choices[0]!.message.content,
        object: object.choices[0]!.message.content,
        usage: [chat.usage, usage].map((one) => [one!.prompt_tokens, one!.completion_tokens]),
        joined: parts.join(''),
        parts: parts.length,
        aborted: await aborted.then(
          () => 'answered',
          () => 'aborted',
        ),
        refused: await failure(openai.chat.completions.create({ ...asked, frequency_penalty: 1 })),
        models: (await openai.models.list()).data.map(({ id }) => id),
      };
    },
    [prompt, tokens.length] as const,
  );
  expect(seen).toMatchObject({ completion: text, refused: [400, 'frequency_penalty'], models: ['writer'] });
  expect(seen.structured).toBe('{"is":"so"}');
  expect(seen.object).toMatch(/^\{/);
  expect(seen.aborted).toBe('aborted');
  expect(seen.joined).toBe(seen.chat);
  expect(seen.parts).toBeGreaterThan(1);
  expect(seen.usage[0]).toEqual(seen.usage[1]);
  expect(site.got).toEqual([]);
});
