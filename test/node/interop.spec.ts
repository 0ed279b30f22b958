// The answers of real servers, recorded by `npm run interop`, which starts them and names them here by INTEROP_SERVERS;
// and those of the built package, to the same requests.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { ENVELOPES } from './interop/envelope-questions.ts';
import { KSERVE, MLSERVER } from './interop/open-inference-questions.ts';
import { askAll, differences, type Answer, type Asked, type Question } from './interop/question.ts';
import { TORCHSERVE } from './interop/torchserve-questions.ts';

const root = new URL('../../', import.meta.url);
const dist = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`dist/${path}`, root).href)) as Module;
const { connect, load, ThreadWorker } = await dist<typeof import('../../src/node.ts')>('node.js');
const { answerWith, ModelServer } =
  await dist<typeof import('../../src/server/model-server.ts')>('server/model-server.js');
const { serveHttp } = await dist<typeof import('../../src/server/node/http/serve-http.ts')>(
  'server/node/http/serve-http.js',
);

const archive = (name: string): string =>
  fileURLToPath(new URL(`../goldens/interop/archives/${name}/`, import.meta.url));

/** What each server is asked, by subject. */
const SERVERS: Readonly<Record<string, Readonly<Record<string, readonly Question[]>>>> = {
  torchserve: TORCHSERVE,
  ...Object.fromEntries(
    Object.entries(ENVELOPES).map(([name, questions]) => [
      `torchserve-${name}`,
      { [`the envelope ${name}`]: questions },
    ]),
  ),
  mlserver: MLSERVER,
  kserve: KSERVE,
};

/** The protocol's repository knows models by their names. */
const loadByName: typeof load = (model, options) => load(model === 'backup' ? archive('numbers') : model, options);

test.describe.configure({ mode: 'default' });

type Server = InstanceType<typeof ModelServer>;

/** Ours: one with the models of each of the real ones. */
let servers: readonly Server[];
let sites: readonly Awaited<ReturnType<typeof serveHttp>>[];
const threads = (name: string, config: Record<string, number>): ReturnType<typeof connect> =>
  connect(() => new ThreadWorker(new URL(`workers/${name}.js`, import.meta.url)), {
    model: archive('classifier'),
    config,
  });
const twoRows = { batchSize: 2, maxBatchDelay: 2000 };
const clients = [threads('echo', {}), threads('echo', twoRows), threads('summing', {})] as const;
test.beforeAll(async () => {
  const [echo, batching, summing] = clients;
  await Promise.all(clients.map((client) => client.initialize()));
  const options = { host: '127.0.0.1', port: 0, timeout: 60_000, hosts: [], origins: [] };
  const [torchServe, mlServer, kServe] = (servers = [0, 1, 2].map(
    () => new ModelServer({ load: loadByName, management: { allowsUrl: () => true } }),
  ));
  await torchServe!.register(echo as never, { name: 'echo' });
  await torchServe!.register(echo as never, { name: 'streaming', stream: true });
  await torchServe!.register(batching as never, { name: 'batching' });
  await torchServe!.register(summing as never, { name: 'summing' });
  for (const name of ['classifier', 'segmenter', 'detector', 'texts']) await torchServe!.register(archive(name));
  await torchServe!.register(archive('classifier'), { name: 'pair', config: twoRows });
  for (const server of [mlServer!, kServe!])
    for (const name of ['numbers', 'backup']) await server.register(archive('numbers'), { name });
  await kServe!.register(echo as never, { name: 'echo' });
  sites = await Promise.all(servers.map((server) => serveHttp((request) => answerWith(server, request), options)));
});
test.afterAll(async () => {
  await Promise.all(sites.map((site) => site.close()));
  await Promise.all(servers.map((server) => server.dispose()));
  await Promise.all(clients.map((client) => client.dispose()));
});

const real = JSON.parse(process.env['INTEROP_SERVERS'] ?? '{}') as Readonly<Record<string, Asked>>;

for (const [name, subjects] of Object.entries(SERVERS)) {
  test(`${name} itself answers as it was recorded`, async () => {
    test.skip(real[name] === undefined, 'npm run interop starts it');
    test.setTimeout(600_000);
    const asked: Asked = { ...real[name]!, archive: (archived) => `${archived}.mar` };
    const answers = await askAll(asked, Object.values(subjects).flat());
    if (process.env['INTEROP_RECORD']) writeFileSync(recording(name), `${JSON.stringify(answers, null, 2)}\n`);
    expect(differences(recorded(name), answers)).toEqual([]);
  });

  for (const [subject, questions] of Object.entries(subjects))
    test(`as ${name}: ${subject}`, async () => {
      const { url } = sites[name.startsWith('torchserve') ? 0 : name === 'mlserver' ? 1 : 2]!;
      const answers = await askAll({ inference: url, management: url, archive }, questions);
      for (const { title, ours: listed } of questions) {
        const theirs = recorded(name)[title]!;
        const { why, ...ours } = listed ?? { why: undefined };
        expect.soft(differences({ ...theirs, ...ours }, answers[title]), title).toEqual([]);
        // A difference that is gone is no longer listed.
        for (const [key, value] of Object.entries(ours))
          expect.soft(differences(theirs[key as keyof Answer], value), `${title}, ${key}: ${why}`).not.toEqual([]);
      }
    });
}

function recording(name: string): URL {
  return new URL(`../goldens/interop/${name}.json`, import.meta.url);
}

function recorded(name: string): Readonly<Record<string, Answer>> {
  return JSON.parse(readFileSync(recording(name), 'utf8')) as Record<string, Answer>;
}
