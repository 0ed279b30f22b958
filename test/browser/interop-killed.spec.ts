// The policies of `answerPredictions` before the real servers, each of which is killed while it is asked: the tab answers
// instead, and no request fails. `npm run interop` starts the servers.
import { readFileSync } from 'node:fs';
import { askAndKill, killable } from '../node/interop/killed.ts';
import { differences, type Answer } from '../node/interop/question.ts';
import { expect, test } from './fixtures.ts';
import { predictionServer } from './prediction-server.ts';

test.use({ reuseTab: false });
test.skip(Object.keys(killable).length === 0, 'npm run interop starts the servers');

const recorded = (server: string, title: string): unknown =>
  (
    JSON.parse(readFileSync(new URL(`../goldens/interop/${server}.json`, import.meta.url), 'utf8')) as Record<
      string,
      Answer
    >
  )[title]!.body;

const ARCHIVES = '/test/goldens/interop/archives/';
const TENSORS = JSON.stringify({
  id: 'mine',
  inputs: [
    { name: 'x', shape: [2, 3], datatype: 'FP32', data: [1, 2, 3, 4, 5, 6.5] },
    { name: 'count', shape: [2], datatype: 'INT64', data: [2, 3] },
  ],
});

// Before the others, which kill the servers.
test('device-first: the tab answers, and TorchServe while no page hosts the model @once', async ({ page, baseURL }) => {
  await using site = await predictionServer(baseURL!, undefined, killable['torchserve']!.inference);
  await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.register(1));
  const expected = recorded('torchserve', 'text_classifier: a text');
  const ask = () => page.evaluate((text) => window.predictions.ask('/predictions/news', text), 'The owl sees a fox');
  const [before, during, after] = [
    await ask(),
    await page.evaluate((model) => window.predictions.host(['news'], false, model), `${ARCHIVES}texts/`).then(ask),
    await page.evaluate(() => window.predictions.hosting!.dispose()).then(ask),
  ];
  expect([before, during, after].map(({ said }) => said)).toEqual([
    '200 by server, because: no-host',
    '200 by device, because: device-first',
    '200 by server, because: no-host',
  ]);
  for (const { body } of [before, during, after]) expect(differences(expected, body)).toEqual([]);
});

for (const { server, model, path, body, type, expected } of [
  {
    server: 'torchserve',
    model: 'texts',
    path: (name: string) => `/predictions/${name}`,
    body: 'The owl sees a fox',
    type: 'text/plain',
    expected: recorded('torchserve', 'text_classifier: a text'),
  },
  ...['mlserver', 'kserve'].map((server) => ({
    server,
    model: 'numbers',
    path: (name: string) => `/v2/models/${name}/infer`,
    body: TENSORS,
    type: 'application/json',
    expected: (recorded(server, 'infer') as { outputs: unknown }).outputs,
  })),
])
  test(`server-first: ${server} answers, is killed in the middle, and the tab goes on @once`, async ({
    page,
    baseURL,
  }) => {
    const real = killable[server]!;
    await using site = await predictionServer(baseURL!, undefined, real.inference);
    await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
    await page.waitForFunction(() => 'predictions' in window);
    await page.evaluate(() => window.predictions.register(1));
    await page.evaluate((model) => window.predictions.host(['backup'], false, model), `${ARCHIVES}${model}/`);
    const answers = await askAndKill(real, 60, (_index) =>
      page.evaluate(
        ([path, body, type]) => window.predictions.ask(path!, new Blob([body!], { type: type! })),
        [path('backup'), body, type],
      ),
    );
    for (const { body: answer } of answers)
      expect(differences(expected, server === 'torchserve' ? answer : withoutParameters(answer))).toEqual([]);
    const said = answers.map((answer) => answer.said);
    expect(new Set(said)).toEqual(
      new Set(['200 by server, because: server-first', '200 by device, because: server-failed']),
    );
    expect(said.at(-1)).toBe('200 by device, because: server-failed');
  });

/** Returns the outputs without what a server says beside name, shape, datatype and data. */
function withoutParameters(answer: unknown): unknown {
  const { outputs } = answer as { readonly outputs: readonly Readonly<Record<string, unknown>>[] };
  return outputs.map(({ name, shape, datatype, data }) => ({ name, shape, datatype, data }));
}
