/**
 * `npm run consumers`: a fresh app in each toolchain, from the packed tarball. `npm run consumers -- -g Parcel` runs
 * those whose title matches.
 */
import { spawnSync } from 'node:child_process';

const { status } = spawnSync(
  'npx',
  ['playwright', 'test', '--config', 'playwright.consumers.config.ts', ...process.argv.slice(2)],
  { stdio: 'inherit', shell: process.platform === 'win32' },
);
process.exitCode = status ?? 1;
