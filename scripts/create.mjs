/**
 * `npm run create -- FOLDER [--template NAME] [--framework NAME]`: what `npm create tabserve` will do once both packages
 * are published. The app gets the clone's own build as a tarball.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildCreate } from './build/create.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = `${root}dist-create/package`;
const options = { cwd: root, stdio: ['ignore', 'ignore', 'inherit'], shell: process.platform === 'win32' };
if (!existsSync(`${root}dist/standalone/worker.js`)) execFileSync('npm', ['run', 'build'], options);
await buildCreate(folder);
execFileSync('npm', ['pack', '--silent', '--pack-destination', 'dist-create'], options);
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const args = [...process.argv.slice(2), '--tabserve', `file:${root}dist-create/tabserve-${version}.tgz`];
process.exitCode = spawnSync(process.execPath, [`${folder}/main.js`, ...args], { stdio: 'inherit' }).status ?? 1;
