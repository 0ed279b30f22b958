/**
 * `node scripts/release/pack.mjs FOLDER` packs both packages as they are published, each with the address of the
 * repository that it comes from. package.json names none: a fork publishes its own.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildCreate } from '../build/create.mjs';
import { repositoryOf, withRepository } from './repository.mjs';

const root = fileURLToPath(new URL('../../', import.meta.url));
const shell = process.platform === 'win32';

/** Returns the repository's address, by the environment or by git; undefined if neither knows one. */
export function ownRepository() {
  const { stdout } = spawnSync('git', ['remote', 'get-url', 'origin'], { cwd: root, encoding: 'utf8' });
  return repositoryOf(process.env, stdout ?? '');
}

/**
 * Packs both packages into an empty folder. Returns the names of their files, tabserve's first: create-tabserve names a
 * version of it.
 * @param {string} folder
 * @param {string | undefined} repository its address; undefined leaves it out
 */
export async function packBoth(folder, repository) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const pack = (source) =>
    execFileSync('npm', ['pack', source, '--silent', '--pack-destination', folder], {
      cwd: root,
      encoding: 'utf8',
      shell,
    });
  // The manifest of the repository stays as it is: a copy of what it packs gets the address.
  const first = join(folder, pack('.').trim());
  execFileSync('tar', ['-xzf', first, '-C', folder]);
  rmSync(first);
  const create = join(folder, 'create');
  await buildCreate(create);
  for (const source of [join(folder, 'package'), create]) {
    const file = join(source, 'package.json');
    const manifest = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, `${JSON.stringify(withRepository(manifest, repository), null, 2)}\n`);
    pack(source);
    rmSync(source, { recursive: true });
  }
  return readdirSync(folder).toSorted((a, b) => b.localeCompare(a));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  console.log((await packBoth(resolve(process.argv[2]), ownRepository())).join('\n'));
