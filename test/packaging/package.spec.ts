import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tabserve, type VitePlugin } from '../../src/tools/vite/vite.ts';
import { install, list, node, sizes, temporary, unpack } from './app.ts';
import { expect, FULL_ONLY, test } from './fixtures.ts';

const bin = (path: string): string => fileURLToPath(new URL(`../../node_modules/${path}`, import.meta.url));

test('publint finds nothing', async ({ tarball }) => {
  expect(await node('.', bin('publint/src/cli.js'), 'run', tarball, '--strict')).toContain('All good!');
});

test('the tarball holds the build, the license and nothing of ours besides', async ({ tarball }) => {
  const files = await list(tarball);
  expect(files).toEqual(
    expect.arrayContaining([
      'CHANGELOG.md',
      'LICENSE',
      'package.json',
      'docs/handlers.md',
      'docs/methods/client-predict.md',
      'docs/skill/SKILL.md',
      'docs/tasks/segment.md',
      'docs/model-config.schema.json',
      'dist/index.d.ts',
      'dist/standalone/tabserve.js',
      'dist/standalone/NOTICE.txt',
    ]),
  );
  expect(
    files.filter(
      (file) =>
        !/^(dist\/.*\.(js|d\.ts)|dist\/standalone\/NOTICE\.txt|docs\/(((tasks|methods)\/)?[a-z-]+\.md|skill\/SKILL\.md|model-config\.schema\.json|grafana\.json)|CHANGELOG\.md|LICENSE|README\.md|package\.json)$/.test(
          file,
        ),
    ),
  ).toEqual([]);
});

test('the package unpacks to at most 10 MB, in at most 1,700 files', async ({ tarball }) => {
  const folder = temporary();
  try {
    await unpack(tarball, folder);
    const files = Object.values(sizes(folder));
    expect(files.length).toBeLessThanOrEqual(1_700);
    expect(files.reduce((sum, size) => sum + size)).toBeLessThanOrEqual(10_000_000);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('no file names a path of the machine that has built it', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const dist = `${root}dist/`;
  const named = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.(js|ts)$/.test(file) && readFileSync(dist + file, 'utf8').includes(root),
  );
  expect(named).toEqual([]);
});

/** The oldest and the newest that we support, and one between them. */
const COMPILERS = { '5.4': 'typescript-5.4', '5.9': 'typescript-5.9', '7': 'typescript' };

for (const [version, compiler] of Object.entries(COMPILERS)) {
  for (const resolution of ['bundler', 'nodenext']) {
    test(`types: TypeScript ${version}, moduleResolution ${resolution}, lib ES2022 and DOM, the declarations checked too${version === '5.9' ? ' @full' : ''}`, async ({
      tarball,
      full,
    }) => {
      // The oldest compiler resolves in one way, the newest in the other.
      test.skip(!full && resolution !== { '5.4': 'nodenext', '7': 'bundler' }[version], FULL_ONLY);
      const { version: installed } = JSON.parse(readFileSync(bin(`${compiler}/package.json`), 'utf8')) as {
        version: string;
      };
      expect(installed).toMatch(new RegExp(`^${version}\\.`));
      const folder = await install(tarball, 'types');
      try {
        const files = await node(
          folder,
          bin(`${compiler}/bin/tsc`),
          '-p',
          `tsconfig.${resolution}.json`,
          '--listFiles',
        );
        expect(files).toContain('tabserve/dist/worker/engines/tfjs-cpu.d.ts');
        expect(files, 'declarations of an engine').not.toMatch(/onnxruntime|@tensorflow/);
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    });
  }
}

test('under Node: imports without a browser, and a handler runs with a stub for its model', async ({ tarball }) => {
  const folder = await install(tarball, 'node');
  try {
    expect(JSON.parse(await node(folder, 'main.js'))).toEqual([
      { label: 'two', score: expect.closeTo(0.665, 3) },
      { label: 'one', score: expect.closeTo(0.245, 3) },
      { label: 'zero', score: expect.closeTo(0.09, 3) },
    ]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('npx tabserve: packs an archive, checks it, and describes its model @full', async ({ tarball }) => {
  const folder = await install(tarball, 'node');
  const digits = (name: string): string =>
    fileURLToPath(new URL(`../../public/models/digits/${name}`, import.meta.url));
  const tabserve = 'node_modules/tabserve/dist/tools/cli/main.js';
  try {
    const made = await node(
      folder,
      tabserve,
      'archive',
      '--model-name',
      'digits',
      '--serialized-file',
      digits('digits.onnx'),
      '--handler',
      'image_classifier',
      '-c',
      digits('model-config.yaml'),
      '--extra-files',
      digits('index_to_name.json'),
      '--golden',
      'seed:1',
      '--check',
    );
    expect(made).toMatch(/digits\.onnx: opens under Node; 1 golden example reproduced/);
    expect(await node(folder, tabserve, 'archive', '--check', 'digits.mar')).toContain('image_classifier');
    expect(await node(folder, tabserve, 'inspect', digits('digits.onnx'))).toContain('ai.onnx 12');
    await expect(node(folder, tabserve, 'archive', '--model-file', 'net.py')).rejects.toThrow(/torch\.onnx\.export/);
    await expect(node(folder, tabserve, 'archive', '--serialised-file', 'a.onnx')).rejects.toThrow(
      '--serialised-file is no flag; probably --serialized-file is meant.',
    );
    await expect(node(folder, tabserve, 'inspct')).rejects.toThrow('inspct is no command; probably inspect is meant.');
    // A parser is the app's to install.
    await expect(node(folder, tabserve, 'migrate', 'main.js')).rejects.toThrow('npm i -D oxc-parser');
    await expect(node(folder, tabserve, 'check', 'digits.mar')).rejects.toThrow(
      'check is no command. The commands are archive, inspect, optimize, test, serve, bench, copy, migrate, report.',
    );
    await expect(node(folder, tabserve, 'archive', '--check')).rejects.toThrow('--check takes an archive');
    expect(await node(folder, tabserve, '--version')).toMatch(/^\d+\.\d+\.\d+$/m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("Vite's plugin bundles what the modules for the browser import, before the first request", () => {
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
  const imported = readdirSync(dist, { recursive: true, encoding: 'utf8' })
    .filter(
      (file) =>
        file.endsWith('.js') && !/^(tools|server\/node|page\/frameworks|standalone|built-in)\/|\bnode\.js$/.test(file),
    )
    .flatMap((file) => [
      ...readFileSync(dist + file, 'utf8').matchAll(/(?:\bfrom|\bimport\(|^import) ?'([\w@][^'\n]*)'/gm),
    ])
    .map(([, name]) => `tabserve > ${name}`);
  const { optimizeDeps } = (tabserve() as { config: (user: object) => { optimizeDeps: object } } & VitePlugin).config(
    {},
  );
  expect(optimizeDeps).toEqual({ exclude: ['tabserve'], include: [...new Set(imported)].sort() });
});

test('only its own entry imports a framework, and nothing imports that entry', () => {
  const dist = fileURLToPath(new URL('../../dist/', import.meta.url));
  const importers = (what: RegExp): string[] =>
    readdirSync(dist, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(js|d\.ts)$/.test(file) && what.test(readFileSync(dist + file, 'utf8')))
      .sort();
  for (const name of ['react', 'vue', 'svelte']) {
    const framework = new RegExp(`(from|import\\() ?['"]${name}(/[\\w-]+)?['"]`);
    const own = importers(framework).filter((file) => file !== `page/frameworks/${name}.d.ts`);
    expect(own, name).toEqual([`page/frameworks/${name}.js`]);
    expect(importers(new RegExp(`['"][./]+/page/frameworks/${name}\\.js['"]`))).toEqual([`${name}.d.ts`, `${name}.js`]);
  }
  expect(readFileSync(`${dist}react.js`, 'utf8')).toMatch(/^'use client';\n/);
});
