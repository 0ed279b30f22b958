/**
 * `npm run interop [-- --record]`: starts the real TorchServe, asks it what `test/node/interop.spec.ts` asks our server,
 * and compares its answers with the recorded ones, and ours with them. `--record` writes them anew. Ends with code 3
 * where Python's packages cannot be had.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { environment } from './interop/environments.mjs';
import { packStore, startTorchServe } from './interop/torchserve.mjs';

const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const folder = resolve('.cache/interop/run');
const store = packStore(environment('torchserve'), folder);
const models = { echo: 'echo', streaming: 'echo', classifier: 'classifier', segmenter: 'segmenter' };
const { stop, ...torchServe } = await startTorchServe(store, { folder, models });
const tests = spawn('npx', ['playwright', 'test', '--project=node', 'node/interop.spec', '--workers=1'], {
  stdio: 'inherit',
  env: {
    ...process.env,
    INTEROP_TORCHSERVE: JSON.stringify(torchServe),
    ...(values.record && { INTEROP_RECORD: '1' }),
  },
  shell: process.platform === 'win32',
});
// Whoever ends this command ends the server too, which has a group of processes of its own.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => tests.kill(signal));
const [code] = await once(tests, 'exit');
process.exitCode = code ?? 1;
await stop();
