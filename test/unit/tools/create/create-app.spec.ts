import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test as base } from '@playwright/test';
import { choose } from '../../../../src/tools/create/choose.ts';
import { createApp } from '../../../../src/tools/create/create-app.ts';
import { FRAMEWORKS, TEMPLATE_NAMES, TEMPLATES } from '../../../../src/tools/create/templates.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const SOURCES = { templates: join(root, 'examples/templates'), models: join(root, 'public/models') };
const APPS = TEMPLATE_NAMES.flatMap((template) => FRAMEWORKS.map((framework) => ({ template, framework })));

const test = base.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'create-'));
    await use(folder);
    rmSync(folder, { recursive: true });
  },
});

interface Manifest {
  readonly name: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const readManifest = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** The text files of an app. */
function texts(folder: string): readonly (readonly [path: string, text: string])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx|vue|svelte|html|css|json|md|yml|py)$|^\./.test(entry.name))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes('/public/models/'))
    .map((path) => [path, readFileSync(path, 'utf8')]);
}

for (const { template, framework } of APPS)
  test(`${template}, ${framework}: complete, in its own name, with our versions of packages`, ({ folder }) => {
    const app = join(folder, 'my-app');
    createApp({ folder: app, template, framework, tabserve: '1.2.3' }, SOURCES);
    const { name, scripts, dependencies, devDependencies } = readManifest(app);
    expect(name).toBe('my-app');
    expect(Object.keys(scripts)).toEqual(['dev', 'build', 'preview', 'test']);
    expect(dependencies['tabserve']).toBe('1.2.3');
    // What this repository is tested with. The compilers of Vue and Svelte do not run on TypeScript 7 yet.
    const own = readManifest(root);
    const ours: Readonly<Record<string, string>> = { ...own.dependencies, ...own.devDependencies, typescript: '5.9.3' };
    expect(own.devDependencies['typescript-5.9']).toBe('npm:typescript@5.9.3');
    for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
      if (name in ours) expect(version, name).toBe(ours[name]);
    for (const file of ['.gitignore', '.github/workflows/test.yml', 'index.html', 'README.md', 'tests/app.spec.ts'])
      expect(existsSync(join(app, file)), file).toBe(true);
    expect(readFileSync(join(app, 'README.md'), 'utf8').trim().split('\n').length).toBeLessThanOrEqual(12);
    for (const [path, text] of texts(app)) {
      expect(text, path).not.toContain('{{title}}');
      for (const [, model] of text.matchAll(/['"](?:public)?\/((?:models|samples)\/[\w./-]+)['"]/g))
        expect(existsSync(join(app, 'public', model!)), `${path} names ${model}`).toBe(true);
    }
    for (const folder of Object.keys(TEMPLATES[template].models).filter((path) => path.startsWith('public/models/')))
      expect(existsSync(join(app, folder, 'LICENSE')), `${folder}/LICENSE`).toBe(true);
  });

test('a folder that has files is refused, and left as it is; one with only a repository is taken', ({ folder }) => {
  const choice = { template: 'search', framework: 'vanilla', tabserve: '1.2.3' } as const;
  const app = join(folder, 'my-app');
  mkdirSync(join(app, '.git'), { recursive: true });
  createApp({ ...choice, folder: app }, SOURCES);
  const before = readdirSync(app);
  expect(before).toContain('package.json');
  expect(() => createApp({ ...choice, folder: app }, SOURCES)).toThrow(
    `${app} is a folder that has files. Name a new folder, or an empty one.`,
  );
  expect(readdirSync(app)).toEqual(before);
  writeFileSync(join(folder, 'file'), '');
  expect(() => createApp({ ...choice, folder: join(folder, 'file') }, SOURCES)).toThrow('is a file. Name a new folder');
  expect(() => createApp({ ...choice, folder: join(folder, 'file', 'app') }, SOURCES)).toThrow(
    expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining('Name a folder that you may') }),
  );
});

for (const name of ['My App', 'node_modules', '.hidden', '_app', 'a'.repeat(215)])
  test(`${name.slice(0, 12)} is no name of a package, and no folder is made`, ({ folder }) => {
    const app = join(folder, name);
    const choice = { template: 'photo', framework: 'vanilla', tabserve: '1.2.3' } as const;
    expect(() => createApp({ ...choice, folder: app }, SOURCES)).toThrow(`no package of the name "${name}"`);
    expect(existsSync(app)).toBe(false);
  });

test('without a terminal, flags say everything, and what is missing is named', async ({ folder }) => {
  const app = join(folder, 'my-app');
  const chosen = { folder: app, template: 'chat', framework: 'vue' };
  expect(await choose([app], { template: 'chat', framework: 'vue' }, undefined)).toEqual(chosen);
  expect(await choose([app], { template: 'photo' }, undefined)).toMatchObject({ framework: 'vanilla' });
  await expect(choose([], { template: 'photo' }, undefined)).rejects.toThrow(
    'Add a folder: npm create tabserve my-app',
  );
  await expect(choose([app], {}, undefined)).rejects.toThrow('Add --template: one of photo, camera, chat, ');
  await expect(choose([app, 'other'], { template: 'photo' }, undefined)).rejects.toThrow('these are several');
});

test('an unknown template or framework is refused, and those that there are are named', async ({ folder }) => {
  const app = join(folder, 'my-app');
  await expect(choose([app], { template: 'chatt' }, undefined)).rejects.toThrow(
    'chatt is no template; probably chat is meant. The templates are photo, camera, chat, transcription, search, torchserve.',
  );
  await expect(choose([app], { template: 'photo', framework: 'angular' }, undefined)).rejects.toThrow(
    'angular is no framework. The frameworks are vanilla, react, vue, svelte.',
  );
  await expect(choose([app], { template: 'photo' }, async () => '9')).rejects.toMatchObject({ code: 'invalid-input' });
});

test('on a terminal, a number, a name or nothing answers', async ({ folder }) => {
  const app = join(folder, 'my-app');
  const asked: string[] = [];
  const answers = ['3', 'svelte'];
  const ask = async (question: string): Promise<string> => {
    asked.push(question.trim().split('\n').at(-1)!);
    return answers.shift() ?? '';
  };
  expect(await choose([app], {}, ask)).toMatchObject({ template: 'chat', framework: 'svelte' });
  expect(asked).toEqual(['Template (1):', 'Framework (1):']);
  // Nobody is asked what a flag has said.
  asked.length = 0;
  expect(await choose([app], { framework: 'react' }, ask)).toMatchObject({ template: 'photo', framework: 'react' });
  expect(asked).toEqual(['Template (1):']);
  expect(await choose([app], {}, ask)).toMatchObject({ template: 'photo', framework: 'vanilla' });
});
