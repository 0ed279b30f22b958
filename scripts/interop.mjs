/**
 * `npm run interop [-- --record]`: starts the real TorchServe, MLServer and KServe, asks them what
 * `test/node/interop.spec.ts` asks our server, and compares their answers with the recorded ones, and ours with them.
 * `--record` writes them anew. Ends with code 3 where Python's packages cannot be had.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from './interop/environments.mjs';
import { startKServe, startMlServer } from './interop/open-inference.mjs';
import { packArchives } from './interop/archives.mjs';
import { packStore, startTorchServe } from './interop/torchserve.mjs';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const folder = resolve('.cache/interop/run');
const environments = ['torchserve', 'mlserver', 'kserve'].map(environment);
const store = packStore(environments[0], folder);
const archives = packArchives(environments[0], store);

const MODELS = {
  echo: 'echo',
  streaming: 'echo',
  batching: 'batching',
  classifier: 'classifier',
  pair: 'pair',
  segmenter: 'segmenter',
  detector: 'detector',
  texts: 'texts',
};

/** The servers, by their names in the spec: each returns where it is, and a function that ends it. */
const SERVERS = {
  torchserve: () => startTorchServe(store, { folder: join(folder, 'torchserve'), models: MODELS }),
  ...Object.fromEntries(
    ['body', 'json', 'kserve', 'kservev2'].map((envelope) => [
      `torchserve-${envelope}`,
      () =>
        startTorchServe(store, {
          folder: join(folder, `torchserve-${envelope}`),
          models: { echo: 'echo', classifier: 'classifier' },
          settings: [`service_envelope=${envelope}`],
        }),
    ]),
  ),
  mlserver: () => startMlServer(join(folder, 'mlserver')),
  kserve: () => startKServe(join(folder, 'kserve')),
};

const running = {};
// Whoever ends this command ends the servers too, which have groups of processes of their own.
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());
try {
  for (const [name, start] of Object.entries(SERVERS)) {
    ended.signal.throwIfAborted();
    console.log(`Starting ${name}.`);
    running[name] = await start();
  }
  const tests = spawn('npx', ['playwright', 'test', '--project=node', 'node/interop', '--workers=1'], {
    stdio: 'inherit',
    env: {
      ...process.env,
      INTEROP_SERVERS: JSON.stringify(running),
      INTEROP_ARCHIVES: JSON.stringify(archives),
      ...(values.record && { INTEROP_RECORD: '1' }),
    },
    shell: process.platform === 'win32',
  });
  ended.signal.addEventListener('abort', () => tests.kill());
  const [code] = await once(tests, 'exit');
  process.exitCode = code ?? 1;
} finally {
  await Promise.all(Object.values(running).map(({ stop }) => stop()));
}
