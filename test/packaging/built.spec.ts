import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { addStandalone, copyOrt, install, node, sizes } from './app.ts';
import { expect, expectSeven, expectWasmOnly, gpuScripts, test } from './fixtures.ts';
import { serve } from './server.ts';

interface App {
  readonly title: string;
  readonly app: string;
  readonly without?: readonly string[];
  readonly build?: readonly [script: string, ...args: string[]];
  /** Folders to serve. */
  readonly served: readonly string[];
}

const VITE = ['node_modules/vite/bin/vite.js', 'build'] as const;

const APPS: readonly App[] = [
  { title: 'Vite', app: 'vite', build: VITE, served: ['dist'] },
  {
    title: 'Vite without any config',
    app: 'vite',
    without: ['vite.config.ts'],
    build: VITE,
    served: ['dist'],
  },
  { title: 'webpack', app: 'webpack', build: ['build.js'], served: ['dist', 'public'] },
  { title: 'no bundler', app: 'plain', served: ['.', 'public'] },
];

for (const { title, app, without = [], build, served } of APPS) {
  test.describe(title, () => {
    test.describe.configure({ mode: 'default' });
    let folder: string;
    const folders = (): string[] => served.map((name) => join(folder, name));

    test.beforeAll(async ({ tarball }) => {
      folder = await install(tarball, app, { without });
      if (build) await node(folder, ...build);
      else addStandalone(folder);
    });
    test.afterAll(() => rmSync(folder, { recursive: true, force: true }));

    test('built-in worker and one of its own, under a strict policy', async ({ open, complaints }) => {
      await using site = await serve(folders());
      expectSeven(await open(site.origin));
      expect(complaints).toEqual([]);
      expectWasmOnly(site);
    });

    test('the engine from a folder of the app', async ({ open, complaints }) => {
      copyOrt(folder, 'public/ort');
      await using site = await serve([...folders(), join(folder, 'public')]);
      expectSeven(await open(`${site.origin}/?assets=/ort/`));
      expect(complaints).toEqual([]);
      expectWasmOnly(site);
      expect([...site.sent.keys()].filter((path) => path.endsWith('.wasm'))).toEqual([
        '/ort/ort-wasm-simd-threaded.wasm',
      ]);
    });

    test('threads on an isolated page', async ({ open, complaints }) => {
      copyOrt(folder, 'public/ort');
      await using site = await serve([...folders(), join(folder, 'public')], { isolated: true });
      for (const query of ['?threads=2', '?threads=2&assets=/ort/']) {
        const shown = await open(`${site.origin}/${query}`);
        expectSeven(shown);
        expect(
          shown.backends.map((backend) => backend.threads),
          query,
        ).toEqual([2, 2]);
      }
      expect(complaints).toEqual([]);
    });
  });
}

const SMALL: readonly (Pick<App, 'title' | 'app' | 'served'> & Required<Pick<App, 'build'>>)[] = [
  { title: 'Vite', app: 'vite-small', build: VITE, served: ['dist'] },
  { title: 'webpack', app: 'webpack-small', build: ['build.js'], served: ['dist', 'public'] },
];

for (const { title, app, build, served } of SMALL) {
  test(`${title}, one engine named: the files of the others are not built`, async ({ tarball, open, complaints }) => {
    const folder = await install(tarball, app);
    try {
      await node(folder, ...build);
      const emitted = sizes(join(folder, 'dist'));
      expect(Object.values(emitted).filter((size) => size > 1_000_000).length, JSON.stringify(emitted, null, 2)).toBe(
        1,
      );
      for (const [file, size] of Object.entries(emitted)) expect(size, file).toBeLessThan(25 * 1024 * 1024);
      expect(gpuScripts(join(folder, 'dist'))).toEqual([]);
      await using site = await serve(served.map((name) => join(folder, name)));
      expectSeven(await open(site.origin));
      expect(complaints).toEqual([]);
      expectWasmOnly(site);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
