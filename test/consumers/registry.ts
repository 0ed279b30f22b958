import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { execFile } from 'node:child_process';
import { temporary } from '../packaging/app.ts';
import { freePort } from './created-app.ts';
import { npm } from './fresh-app.ts';

const run = promisify(execFile);
/** Verdaccio of the last version for Node 20, once for all runs. */
const FOLDER = fileURLToPath(new URL('../../.cache/verdaccio/', import.meta.url));
const MANIFEST = {
  private: true,
  dependencies: { verdaccio: '6.7.4' },
  // One of its packages asks for a tag, which is not a version.
  overrides: { 'node-fetch': '2.6.7' },
};

/** A registry on this machine, with the packages that are published there; all others come from npm's. */
export interface Registry extends AsyncDisposable {
  /** The environment in which npm uses it. */
  readonly env: NodeJS.ProcessEnv;
}

/** Starts a registry, and publishes packages there. @param tarballs in their order */
export async function startRegistry(tarballs: readonly string[]): Promise<Registry> {
  if (!existsSync(join(FOLDER, 'node_modules/verdaccio'))) {
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(join(FOLDER, 'package.json'), JSON.stringify(MANIFEST));
    await npm(FOLDER, 'install', '--ignore-scripts', '--no-audit', '--no-fund');
  }
  const folder = temporary();
  const port = await freePort();
  const { stdout: upstream } = await run('npm', ['config', 'get', 'registry']);
  const anyone = { access: '$all', publish: '$all' };
  const config = {
    storage: join(folder, 'storage'),
    uplinks: { npm: { url: upstream.trim(), timeout: '120s' } },
    packages: { tabserve: anyone, 'create-tabserve': anyone, '**': { access: '$all', proxy: 'npm' } },
    max_body_size: '100mb',
    log: { type: 'stdout', level: 'error' },
  };
  // JSON is YAML.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config));
  const origin = `http://127.0.0.1:${port}`;
  // npm publishes only with a token, and this registry asks for none.
  writeFileSync(join(folder, 'npmrc'), `registry=${origin}/\n//127.0.0.1:${port}/:_authToken=nobody\n`);
  const server = spawn(
    process.execPath,
    [join(FOLDER, 'node_modules/verdaccio/bin/verdaccio'), '--config', join(folder, 'config.yaml'), '--listen', origin],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const registry: Registry = {
    env: { npm_config_userconfig: join(folder, 'npmrc'), npm_config_registry: `${origin}/` },
    async [Symbol.asyncDispose]() {
      const ended = once(server, 'exit');
      if (server.exitCode === null && server.kill()) await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await isUp(`${origin}/-/ping`, () => server.exitCode === null);
    for (const tarball of tarballs)
      await run('npm', ['publish', tarball, '--ignore-scripts'], { env: { ...process.env, ...registry.env } });
    return registry;
  } catch (error) {
    await registry[Symbol.asyncDispose]();
    throw error;
  }
}

/** Waits until a server answers. @throws if its process has ended, or after a minute */
async function isUp(url: string, isRunning: () => boolean): Promise<void> {
  const end = Date.now() + 60_000;
  while (isRunning() && Date.now() < end) {
    if ((await fetch(url).catch(() => undefined))?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${url} does not answer.`);
}
