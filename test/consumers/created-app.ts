import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromiumPath } from '../../scripts/chromium.ts';
import type { Framework, TemplateName } from '../../src/tools/create/templates.ts';
import { node } from '../packaging/app.ts';
import { once } from '../packaging/once.ts';
import { npm } from './fresh-app.ts';

/** Returns the tarball of `create-tabserve`, packed by npm once for all apps. */
export async function packCreate(): Promise<string> {
  const folder = await once('create-packed', async (folder) => {
    await node('.', fileURLToPath(new URL('../../scripts/build/create.mjs', import.meta.url)), join(folder, 'package'));
    await promisify(execFile)('npm', ['pack', '--silent', './package'], { cwd: folder });
  });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz'))!,
  );
}

/** Returns a folder in which `create-tabserve` is installed by npm, once for all apps. */
const installCreate = (): Promise<string> =>
  once('create', async (folder) => {
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await npm(folder, 'install', await packCreate(), '--no-audit', '--no-fund');
  });

/**
 * Makes an app of `npm create tabserve`, in a folder that the caller removes. The packed `tabserve` is installed, and its
 * other packages.
 * @param versions of packages, in place of the template's
 */
export async function createApp(
  app: string,
  tarball: string,
  { template, framework }: { readonly template: TemplateName; readonly framework: Framework },
  versions: Readonly<Record<string, string>> = {},
): Promise<void> {
  const main = join(await installCreate(), 'node_modules/create-tabserve/main.js');
  await node('.', main, app, '--template', template, '--framework', framework, '--tabserve', `file:${tarball}`);
  const manifest = join(app, 'package.json');
  const { dependencies, ...others } = JSON.parse(readFileSync(manifest, 'utf8')) as { dependencies: object };
  writeFileSync(manifest, JSON.stringify({ ...others, dependencies: { ...dependencies, ...versions } }));
  await npm(app, 'install', '--prefer-offline', '--no-audit', '--no-fund');
}

/**
 * Runs `npm test` in an app, and returns what it prints.
 * @param backends those that are tested; all if there are none
 * @throws with what it prints, if it fails
 */
export async function testApp(app: string, backends: readonly string[] = []): Promise<string> {
  const env = {
    ...process.env,
    PORT: String(await freePort()),
    ...(chromiumPath && { CHROMIUM_PATH: chromiumPath }),
    NO_COLOR: '1',
    FORCE_COLOR: undefined,
    CI: undefined,
  };
  try {
    const { stdout } = await promisify(execFile)(
      'npm',
      ['test', ...(backends.length > 0 ? ['--'] : []), ...backends.map((one) => `--project=${one}`)],
      { cwd: app, env, maxBuffer: 2 ** 26 },
    );
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm test failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Returns a port that nothing listens on. */
export async function freePort(): Promise<number> {
  return await new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
