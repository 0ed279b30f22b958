/**
 * `npm run interop [-- --record]`: starts the real TorchServe, MLServer and KServe, asks them what
 * `test/node/interop.spec.ts` asks our server, and compares their answers with the recorded ones, and ours with them.
 * Then it kills each server while `remote` and a service worker ask it. At last, OpenAI's and LangChain's clients for
 * Python ask our server. `--record` writes the answers anew. Ends with code 3 where Python's packages cannot be had.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from './interop/environments.mjs';
import { startKServe, startMlServer } from './interop/open-inference.mjs';
import { packArchives } from './interop/archives.mjs';
import { freePorts, startServer } from './interop/processes.mjs';
import { packStore, startTorchServe } from './interop/torchserve.mjs';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const folder = resolve('.cache/interop/run');
const environments = ['torchserve', 'mlserver', 'kserve'].map(environment);
const store = packStore(environments[0], folder);
const archives = packArchives(environments[0], store);

const MODELS = {
  summing: 'summing',
  echo: 'echo',
  streaming: 'echo',
  batching: 'batching',
  classifier: 'classifier',
  pair: 'pair',
  segmenter: 'segmenter',
  detector: 'detector',
  texts: 'texts',
};

const mlServer = () => startMlServer(join(folder, 'mlserver'));
const kServe = () => startKServe(join(folder, 'kserve'));
const example = () => startKServe(join(folder, 'kserve-example'), resolve('examples/kserve/server.py'), 'digits');

/** TorchServe with each envelope. */
const envelopes = Object.fromEntries(
  ['body', 'json', 'kserve', 'kservev2'].map((envelope) => [
    `torchserve-${envelope}`,
    () =>
      startTorchServe(store, {
        folder: join(folder, `torchserve-${envelope}`),
        models: { echo: 'echo', classifier: 'classifier' },
        settings: [`service_envelope=${envelope}`],
      }),
  ]),
);

const torchServe = (models) => () => startTorchServe(store, { folder: join(folder, 'torchserve'), models });

/** Tests, each with the servers that it asks, by their names in its specs. Those called killed kill their servers. */
const RUNS = [
  {
    servers: { torchserve: torchServe(MODELS), ...envelopes, mlserver: mlServer, kserve: kServe },
    tests: ['--project=node', 'node/interop.spec', 'node/interop-archives.spec'],
  },
  {
    servers: { torchserve: torchServe({ tensors: 'tensors' }), mlserver: mlServer, kserve: kServe },
    tests: ['--project=node', 'node/interop-killed.spec'],
  },
  {
    servers: { torchserve: torchServe({ news: 'texts', backup: 'texts' }), mlserver: mlServer, kserve: kServe },
    tests: ['--project=wasm', 'browser/interop-killed.spec'],
  },
  { servers: { example }, tests: ['--project=wasm', 'browser/interop-example.spec'] },
];

// Whoever ends this command ends the servers too, which have groups of processes of their own.
const ended = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => ended.abort());

process.exitCode = 0;
for (const { servers, tests } of RUNS) process.exitCode ||= await runTests(servers, tests);
process.exitCode ||= await askAsClients();

/** Starts servers, runs tests that ask them, and returns the tests' exit code. */
async function runTests(servers, tests) {
  const running = {};
  try {
    for (const [name, start] of Object.entries(servers)) {
      ended.signal.throwIfAborted();
      console.log(`Starting ${name}.`);
      running[name] = await start();
    }
    const child = spawn('npx', ['playwright', 'test', ...tests, '--workers=1'], {
      stdio: 'inherit',
      env: {
        ...process.env,
        INTEROP_SERVERS: JSON.stringify(running),
        INTEROP_ARCHIVES: JSON.stringify(archives),
        ...(values.record && { INTEROP_RECORD: '1' }),
      },
      shell: process.platform === 'win32',
    });
    ended.signal.addEventListener('abort', () => child.kill());
    const [code] = await once(child, 'exit');
    return code ?? 1;
  } finally {
    await Promise.all(Object.values(running).map(({ stop }) => stop()));
  }
}

/** Asks our server by OpenAI's and LangChain's clients for Python. Returns their exit code. */
async function askAsClients() {
  ended.signal.throwIfAborted();
  const bin = environment('clients');
  const [port] = await freePorts(1);
  const url = `http://127.0.0.1:${port}`;
  const models = [
    'writer=public/models/writer',
    'vectors=test/models/tasks/embed-minilm',
    'talk=test/models/tasks/converse-whisper',
    'words=test/models/tasks/write-whisper-words',
    'voice=test/models/tasks/speak-vits',
  ];
  const server = await startServer('node', ['dist/tools/cli/main.js', 'serve', ...models, '--port', String(port)], {
    log: join(folder, 'clients.log'),
    readyUrl: `${url}/ping`,
  });
  try {
    const child = spawn(join(bin, 'python'), ['scripts/interop/clients.py', url], { stdio: 'inherit' });
    ended.signal.addEventListener('abort', () => child.kill());
    const [code] = await once(child, 'exit');
    return code ?? 1;
  } finally {
    await server.stop();
  }
}
