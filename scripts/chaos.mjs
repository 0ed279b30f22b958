/** `npm run chaos -- --seed N --requests N`: the chaos suite on every backend; without a seed, a new one. */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({ options: { seed: { type: 'string' }, requests: { type: 'string', default: '1000' } } });
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
console.log(
  `seed ${seed}, ${values.requests} requests: repeat with npm run chaos -- --seed ${seed} --requests ${values.requests}`,
);
const { status } = spawnSync(
  'npx',
  [
    'playwright',
    'test',
    'browser/chaos',
    '--project=wasm',
    '--project=webgl',
    '--project=webgpu',
    '--workers=1',
    '--config',
    'playwright.full.config.ts',
  ],
  {
    stdio: 'inherit',
    env: { ...process.env, CHAOS_SEED: seed, CHAOS_REQUESTS: values.requests },
    shell: process.platform === 'win32',
  },
);
process.exitCode = status ?? 1;
