import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporary } from '../packaging/app.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** What a user's shell has, without the settings of the test. */
const env = {
  ...process.env,
  NO_COLOR: '1',
  FORCE_COLOR: undefined,
  NODE_ENV: undefined,
  NEXT_TELEMETRY_DISABLED: '1',
};

/**
 * An app in a folder of its own, with its toolchain and the package installed by npm, and the models among its static
 * files. The caller removes the folder.
 * @param from where its template is; those of the tests share some files
 */
export async function freshApp(
  tarball: string,
  app: string,
  from: 'test/packaging/apps' | 'examples' = 'test/packaging/apps',
): Promise<string> {
  const folder = temporary();
  const template = join(root, from, app);
  const sources = existsSync(join(template, 'src')) ? join(folder, 'src') : folder;
  if (from !== 'examples') cpSync(join(root, from, 'shared'), sources, { recursive: true });
  // What a developer has installed and built there stays there.
  const isSource = (path: string): boolean => !/\/(node_modules|dist|tabserve|models)$/.test(path);
  cpSync(template, folder, { recursive: true, filter: isSource });
  for (const model of ['digits', 'nanodet', 'selfie'])
    cpSync(join(root, 'public/models', model), join(folder, 'public/models', model), { recursive: true });
  const manifest = join(folder, 'package.json');
  const text = readFileSync(manifest, 'utf8');
  writeFileSync(manifest, text.replace(/"tabserve": "[^"]*"/, `"tabserve": "file:${tarball}"`));
  await npm(folder, 'install', '--prefer-offline', '--no-audit', '--no-fund');
  return folder;
}

/** Runs npm in an app. @throws with its output */
export async function npm(folder: string, ...args: string[]): Promise<void> {
  try {
    await run('npm', args, { cwd: folder, env, maxBuffer: 2 ** 26 });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`, { cause: error });
  }
}

/** Starts an app's own server, and waits until it prints its address. */
export async function startServer(
  folder: string,
  [program, ...args]: readonly string[],
): Promise<AsyncDisposable & { readonly origin: string }> {
  const server = spawn(process.execPath, [join('node_modules', program!), ...args], {
    cwd: folder,
    env,
    detached: true,
  });
  let log = '';
  const origin = await new Promise<string>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (text) => {
        log += text;
        const [found] = /http:\/\/127\.0\.0\.1:[1-9]\d*/.exec(log) ?? [];
        if (found) resolve(found);
      });
    server.on('exit', () => reject(new Error(log)));
  });
  return {
    origin,
    async [Symbol.asyncDispose]() {
      if (server.exitCode !== null || server.signalCode !== null) return;
      const ended = once(server, 'exit');
      // Its own processes too.
      process.kill(-server.pid!);
      await ended;
    },
  };
}
