/**
 * Builds the package into `dist`: modules and declarations for apps with a bundler, and `dist/standalone` for pages
 * without one. Plain JavaScript: it runs on every Node that we support.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deleteUnreachableDeclarations } from './build/declarations.mjs';
import { deleteComments } from './build/comments.mjs';
import { buildLibraries, buildValidator, replaceModule } from './build/libraries.mjs';
import { notice } from './build/notice.mjs';
import { buildStandalone } from './build/standalone.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
rmSync(`${root}dist`, { recursive: true, force: true });
for (const project of ['build', 'cli', 'testing'])
  execFileSync(process.execPath, [`${root}node_modules/typescript/bin/tsc`, '-p', `${root}tsconfig.${project}.json`], {
    stdio: 'inherit',
  });
const dist = `${root}dist`;
mkdirSync(`${dist}/standalone`);
const sources = [...(await buildValidator(dist)), ...(await buildLibraries(dist)), ...(await buildStandalone(dist))];
writeFileSync(`${dist}/standalone/NOTICE.txt`, notice(root, sources));
replaceModule(`${dist}/worker/default.worker.js`, "import '../built-in/worker.js';\n");
deleteUnreachableDeclarations(root);
deleteComments(dist);
