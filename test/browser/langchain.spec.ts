// LangChain.js, unmodified, answered by the visitor's device through the service worker: test/node/langchain.spec.ts has
// more of it, against `tabserve serve`.
import { expect, test } from './fixtures.ts';
import { predictionServer } from './prediction-server.ts';

test.use({ reuseTab: false });

test('an answer, its stream, a call of a tool and an object by schema, and the server gets no request @once @full', async ({
  page,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.register(1));
  await page.evaluate(() => window.predictions.host(['writer'], false, '/public/models/writer/'));
  const seen = await page.evaluate(async () => {
    const chat = await window.predictions.langchain();
    const model = chat({ model: 'writer', temperature: 0, maxTokens: 100 });
    const parts: string[] = [];
    const short = { model: 'writer', temperature: 0, maxTokens: 6 };
    for await (const { text } of await chat(short).stream('Once upon a time')) if (text !== '') parts.push(text);
    const { text, usage_metadata: usage } = await chat(short).invoke('Once upon a time');
    const digit = { type: 'integer', minimum: 0, maximum: 9 };
    const parameters = { type: 'object', properties: { a: digit }, required: ['a'], additionalProperties: false };
    const tools = [{ type: 'function', function: { name: 'double', description: 'Doubles a number.', parameters } }];
    const { tool_calls: calls } = await model.bindTools(tools, { tool_choice: 'required' }).invoke('How many?');
    const object = await model.withStructuredOutput({ title: 'number', ...parameters }).invoke('How many?');
    return { text, parts, usage, calls, object };
  });
  expect(seen.parts.length).toBeGreaterThan(1);
  expect(seen.parts.join('')).toBe(seen.text);
  expect(seen.usage).toMatchObject({ output_tokens: 6 });
  expect(seen.calls).toMatchObject([{ name: 'double', args: { a: expect.any(Number) } }]);
  expect(seen.object).toEqual({ a: expect.any(Number) });
  expect(site.got).toEqual([]);
});
