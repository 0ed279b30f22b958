import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { list, node, sizes, temporary, unpack } from './app.ts';
import { expect, test } from './fixtures.ts';

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const readJson = (path: string): object => JSON.parse(readFileSync(path, 'utf8')) as object;

test('the package tabserve has nothing of create-tabserve', async ({ tarball }) => {
  expect((await list(tarball)).filter((file) => /create|templates/.test(file))).toEqual([]);
});

test('create-tabserve: our version, what its apps need, and an app by its command', async () => {
  const folder = temporary();
  try {
    await node('.', root('scripts/build/create.mjs'), join(folder, 'package'));
    await promisify(execFile)('npm', ['pack', '--silent', join(folder, 'package')], { cwd: folder });
    const { version } = readJson(root('package.json')) as { version: string };
    const files = await list(join(folder, `create-tabserve-${version}.tgz`));
    expect(files).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'main.js',
        'models/digits/LICENSE',
        'models/nanodet/model.json',
        'package.json',
        'templates/common/.github/workflows/test.yml',
        'templates/common/_gitignore',
      ]),
    );
    // A template that was tried in its folder leaves nothing here.
    expect(files.filter((file) => /node_modules|package-lock|dist\/|test-results/.test(file))).toEqual([]);
    const packed = sizes(join(folder, 'package'));
    expect(Object.values(packed).reduce((sum, size) => sum + size)).toBeLessThanOrEqual(24_000_000);

    const created = await node(folder, 'package/main.js', 'my-app', '--template', 'chat', '--framework', 'vue');
    expect(created).toContain('cd my-app');
    expect(readJson(join(folder, 'my-app/package.json'))).toMatchObject({
      name: 'my-app',
      scripts: { dev: 'vite' },
      dependencies: { tabserve: version, openai: expect.any(String), vue: expect.any(String) },
    });
    await expect(node(folder, 'package/main.js', 'my-app', '--template', 'chat')).rejects.toThrow(
      'my-app is a folder that has files.',
    );
    await expect(node(folder, 'package/main.js', 'other', '--templat', 'chat')).rejects.toThrow(
      '--templat is no flag; probably --template is meant. Try: npm create tabserve -- --help',
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('both packages, as they are published, name the repository in which the workflow runs @full', async () => {
  const folder = temporary();
  try {
    const { version, author } = readJson(root('package.json')) as { version: string; author: string };
    const names = ['tabserve', 'create-tabserve'];
    const { stdout } = await promisify(execFile)('node', [root('scripts/release/pack.mjs'), folder], {
      env: { ...process.env, GITHUB_SERVER_URL: 'https://github.example', GITHUB_REPOSITORY: 'owner/name' },
    });
    expect(stdout.trim().split('\n')).toEqual(names.map((name) => `${name}-${version}.tgz`));
    for (const name of names) {
      const tarball = join(folder, `${name}-${version}.tgz`);
      await unpack(tarball, folder);
      expect(readJson(join(folder, 'package/package.json'))).toMatchObject({
        name,
        version,
        author,
        repository: { type: 'git', url: 'git+https://github.example/owner/name.git' },
        homepage: 'https://github.example/owner/name#readme',
        bugs: { url: 'https://github.example/owner/name/issues' },
      });
      // What is packed of the copy is what is packed of the repository.
      expect(await list(tarball)).toContain(name === 'tabserve' ? 'dist/index.js' : 'templates/common/_gitignore');
      rmSync(join(folder, 'package'), { recursive: true });
    }
    expect(author).toBe('The TabServe developers');
    expect(readJson(root('package.json'))).not.toHaveProperty('repository');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
