/**
 * `npm run fuzz -- --seed N --count N --kind K --only CASE`: N damaged files, most of them in Node.js, one in
 * five in Chromium; without a seed, a new one. Prints the outcomes by kind and code. A case has the name `kind:number`;
 * `--only` runs it alone, with the same seed.
 */
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    count: { type: 'string', default: '12000' },
    kind: { type: 'string' },
    only: { type: 'string' },
  },
});
const seed = values.seed ?? String(Math.floor(Math.random() * 2 ** 31));
const count = Number(values.count);
const inBrowser = Math.ceil(count / 5);
console.log(`seed ${seed}, ${count} files: repeat with npm run fuzz -- --seed ${seed} --count ${count}`);
const { status } = spawnSync(
  'npx',
  [
    'playwright',
    'test',
    'models/fuzz',
    'browser/fuzz',
    '--project=unit',
    '--project=wasm',
    '--workers=2',
    '--config',
    'playwright.full.config.ts',
  ],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      FUZZ_SEED: seed,
      FUZZ_COUNT: String(count - inBrowser),
      FUZZ_BROWSER_COUNT: String(inBrowser),
      ...(values.kind !== undefined && { FUZZ_KIND: values.kind }),
      ...(values.only !== undefined && { FUZZ_ONLY: values.only, FUZZ_KIND: values.only.replace(/:\d+$/, '') }),
    },
    shell: process.platform === 'win32',
  },
);
process.exitCode = status ?? 1;
