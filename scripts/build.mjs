/**
 * Builds the package into `dist`: modules and declarations for apps with a bundler, and `dist/standalone` for pages without one.
 * Plain JavaScript: it runs on every Node that we support.
 */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildStandalone } from './build/standalone.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
for (const project of ['build', 'cli'])
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.${project}.json`], {
    stdio: 'inherit',
  });
await buildStandalone(`${root}dist`);
