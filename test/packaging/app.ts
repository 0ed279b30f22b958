import { execFile } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { once } from './once.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A fresh folder, which the caller removes. */
export function temporary(): string {
  return mkdtempSync(join(tmpdir(), 'tabserve-packaging-'));
}

/** What `npm publish` would upload; the path of its tarball. */
export async function pack(): Promise<string> {
  if (!existsSync(join(root, 'dist/standalone/worker.js')))
    throw new Error('There is no build to pack: npm run build.');
  const folder = await once('packed', async (folder) => {
    await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
  });
  return join(folder, readdirSync(folder)[0]!);
}

/** Installs the package as a user would, once for all apps. */
const installOnce = (tarball: string): Promise<string> =>
  once('installed', async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }');
    await run(
      'npm',
      ['install', tarball, '--omit=dev', '--prefer-offline', '--no-audit', '--no-fund', '--ignore-scripts'],
      { cwd: folder },
    );
  });

/** Copies a folder by hard links, which takes no time and no space; where the disk has none, as files. */
function linkTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) linkTree(source, target);
    else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(source), target);
    else {
      try {
        linkSync(source, target);
      } catch {
        copyFileSync(source, target);
      }
    }
  }
}

/**
 * One of `apps/`, in a folder of its own, with the package installed as a user would, the digits archive among its
 * static files, and our own bundlers.
 */
export async function install(
  tarball: string,
  app: string,
  { without = [] }: { readonly without?: readonly string[] } = {},
): Promise<string> {
  const folder = temporary();
  const sources = existsSync(join(root, 'test/packaging/apps', app, 'src')) ? join(folder, 'src') : folder;
  cpSync(join(root, 'test/packaging/apps/shared'), sources, { recursive: true });
  cpSync(join(root, 'test/packaging/apps', app), folder, { recursive: true });
  for (const file of without) rmSync(join(folder, file));
  cpSync(join(root, 'public/models/digits'), join(folder, 'public/models/digits'), { recursive: true });
  linkTree(join(await installOnce(tarball), 'node_modules'), join(folder, 'node_modules'));
  for (const bundler of ['vite', 'webpack'])
    symlinkSync(join(root, 'node_modules', bundler), join(folder, 'node_modules', bundler), 'dir');
  return folder;
}

/** Runs a program of Node's in an app. @throws with its output */
export async function node(folder: string, script: string, ...args: string[]): Promise<string> {
  try {
    const { stdout } = await run(process.execPath, [script, ...args], {
      cwd: folder,
      env: { ...process.env, NODE_ENV: 'production', NO_COLOR: '1', FORCE_COLOR: undefined },
    });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${script} ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/**
 * Copies the built-in worker and the engines' files into a folder of the app, as a user would:
 * `npx tabserve copy FOLDER`.
 */
export async function copyAssets(folder: string, to: string): Promise<void> {
  await node(folder, 'node_modules/tabserve/dist/tools/cli/main.js', 'copy', to);
}

/** The paths in a package's tarball. */
export async function list(tarball: string): Promise<string[]> {
  const { stdout } = await run('tar', ['-tzf', tarball]);
  return stdout
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''));
}

/** Unpacks a package's tarball into a folder. */
export async function unpack(tarball: string, folder: string): Promise<void> {
  await run('tar', ['-xzf', tarball, '-C', folder]);
}

/** Sizes of the files below a folder. */
export function sizes(folder: string): Readonly<Record<string, number>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      relative(folder, join(parentPath, name)),
      statSync(join(parentPath, name)).size,
    ]),
  );
}
