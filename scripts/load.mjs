/** `npm run load -- --requests N`: N requests on every backend, at half, one and three times what it can do. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, requests: { type: 'string', default: '10000' } },
});
const { status } = spawnSync(
  'npx',
  [
    'playwright',
    'test',
    'browser/load',
    '--project=wasm',
    '--project=webgl',
    '--project=webgpu',
    '--workers=1',
    '--config',
    'playwright.full.config.ts',
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, LOAD_SEED: values.seed, LOAD_REQUESTS: values.requests },
    shell: process.platform === 'win32',
  },
);
process.exitCode = status ?? 1;
