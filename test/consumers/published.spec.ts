import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { node, temporary } from '../packaging/app.ts';
import { expect, test } from '../packaging/fixtures.ts';
import { packCreate, testApp } from './created-app.ts';
import { startRegistry } from './registry.ts';

const run = promisify(execFile);
const ATTW = '@arethetypeswrong/cli@0.18.5';
const publint = fileURLToPath(new URL('../../node_modules/publint/src/cli.js', import.meta.url));

test('publint and attw find nothing in both packages', async ({ tarball }) => {
  for (const one of [tarball, await packCreate()]) {
    expect(await node('.', publint, 'run', one, '--strict')).toContain('All good!');
    // It ends with an error if it finds a problem. What `require` sees is ignored: both are ES modules.
    const { stdout } = await run('npx', ['--yes', ATTW, one, '--profile', 'esm-only', '--format', 'ascii']);
    expect(stdout).toContain('node16 (from ESM): 🟢');
  }
});

test('from a registry: npm create tabserve, npm install, and the tests of the app', async ({ tarball }) => {
  const folder = temporary();
  const app = join(folder, 'my-app');
  try {
    await using registry = await startRegistry([tarball, await packCreate()]);
    const options = { cwd: folder, env: { ...process.env, ...registry.env }, maxBuffer: 2 ** 26 };
    const flags = ['--', '--template', 'photo', '--framework', 'vanilla'];
    await run('npm', ['create', '--yes', 'tabserve@latest', 'my-app', ...flags], options);
    await run('npm', ['install', '--no-audit', '--no-fund'], { ...options, cwd: app });
    const { resolved } = (
      JSON.parse(readFileSync(join(app, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { resolved?: string }>;
      }
    ).packages['node_modules/tabserve']!;
    expect(resolved ?? registry.env['npm_config_registry']).toContain(registry.env['npm_config_registry']);
    expect(await testApp(app)).toContain('3 passed');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
