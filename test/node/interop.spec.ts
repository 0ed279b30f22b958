// The answers of the real TorchServe, recorded by `npm run interop`, which starts it and names it here by
// INTEROP_TORCHSERVE; and those of the built package, to the same requests.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { ask, differences, type Answer, type Asked } from './interop/question.ts';
import { TORCHSERVE } from './interop/torchserve-questions.ts';

const root = new URL('../../', import.meta.url);
const dist = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`dist/${path}`, root).href)) as Module;
const { connect, load, ThreadWorker } = await dist<typeof import('../../src/node.ts')>('node.js');
const { ModelServer } = await dist<typeof import('../../src/serving.ts')>('serving.js');
const { serveHttp } = await dist<typeof import('../../src/server/node/http/serve-http.ts')>(
  'server/node/http/serve-http.js',
);

const RECORDED = new URL('../goldens/interop/torchserve.json', import.meta.url);
const archive = (name: string): string =>
  fileURLToPath(new URL(`../goldens/interop/archives/${name}/`, import.meta.url));

test.describe.configure({ mode: 'default' });

let server: InstanceType<typeof ModelServer>;
let http: Awaited<ReturnType<typeof serveHttp>>;
const echo = connect(() => new ThreadWorker(new URL('workers/echo.js', import.meta.url)), {
  model: archive('classifier'),
});
test.beforeAll(async () => {
  await echo.initialize();
  server = new ModelServer({ load, management: { allowsUrl: () => true } });
  await server.register(echo as never, { name: 'echo' });
  await server.register(echo as never, { name: 'streaming', stream: true });
  await server.register(archive('classifier'));
  await server.register(archive('segmenter'));
  const options = { host: '127.0.0.1', port: 0, timeout: 60_000, hosts: [], origins: [] };
  http = await serveHttp((request) => server.fetch(request), options);
});
test.afterAll(async () => {
  await http.close();
  await server.dispose();
  await echo.dispose();
});

test('TorchServe itself answers as it was recorded', async () => {
  const real = process.env['INTEROP_TORCHSERVE'];
  test.skip(real === undefined, 'npm run interop starts it');
  test.setTimeout(600_000);
  const asked: Asked = { ...(JSON.parse(real!) as Asked), archive: (name) => `${name}.mar` };
  const answers: Record<string, Answer> = {};
  for (const question of Object.values(TORCHSERVE).flat()) answers[question.title] = await ask(asked, question);
  if (process.env['INTEROP_RECORD']) writeFileSync(RECORDED, `${JSON.stringify(answers, null, 2)}\n`);
  expect(differences(recorded(), answers)).toEqual([]);
});

for (const [subject, questions] of Object.entries(TORCHSERVE))
  test(`as TorchServe: ${subject}`, async () => {
    for (const question of questions) {
      const real = recorded()[question.title]!;
      const answer = await ask({ inference: http.url, management: http.url, archive }, question);
      const { why, ...ours } = question.ours ?? { why: undefined };
      expect.soft(differences({ ...real, ...ours }, answer), question.title).toEqual([]);
      // A difference that is gone is no longer listed.
      for (const [key, value] of Object.entries(ours))
        expect.soft(differences(real[key as keyof Answer], value), `${question.title}, ${key}: ${why}`).not.toEqual([]);
    }
  });

function recorded(): Readonly<Record<string, Answer>> {
  return JSON.parse(readFileSync(RECORDED, 'utf8')) as Record<string, Answer>;
}
