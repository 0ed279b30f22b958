/** `npm run coverage [-- -g TASK]`: every task with its architectures, against transformers in Python, as a table. */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  'npx',
  [
    'playwright',
    'test',
    'browser/coverage',
    '--config=playwright.full.config.ts',
    '--project=wasm',
    '--project=webgl',
    '--project=webgpu',
    '--reporter=./scripts/coverage-reporter.ts',
    ...process.argv.slice(2),
  ],
  { stdio: 'inherit', shell: process.platform === 'win32' },
);
process.exitCode = status ?? 1;
