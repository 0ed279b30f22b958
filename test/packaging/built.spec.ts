import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets, install, node, sizes } from './app.ts';
import { expect, expectSeven, expectWasmOnly, FULL_ONLY, gpuScripts, test } from './fixtures.ts';
import { serve } from './server.ts';

interface App {
  readonly title: string;
  readonly app: string;
  readonly without?: readonly string[];
  readonly build?: readonly [script: string, ...args: string[]];
  /** Folders to serve. */
  readonly served: readonly string[];
  /** The scripts of its workers, if they are not split. */
  readonly workers?: RegExp;
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
    // Vite's default format for workers is one script.
    workers: /\.worker-[\w-]+\.js$/,
  },
  { title: 'webpack', app: 'webpack', build: ['build.js'], served: ['dist', 'public'] },
  { title: 'no bundler', app: 'plain', served: ['.', 'public'] },
];

for (const { title, app, without = [], build, served, workers } of APPS) {
  test.describe(title, () => {
    test.describe.configure({ mode: 'default' });
    /** Empty until the app is installed. */
    let folder = '';
    const folders = (): string[] => served.map((name) => join(folder, name));

    test.beforeAll(async ({ tarball }) => {
      folder = await install(tarball, app, { without });
      if (build) await node(folder, ...build);
      else await copyAssets(folder, 'tabserve');
    });
    test.afterAll(() => folder && rmSync(folder, { recursive: true, force: true }));

    test('built-in worker and one of its own, under a strict policy', async ({ open, complaints }) => {
      await using site = await serve(folders());
      expectSeven(await open(site.origin));
      expect(complaints).toEqual([]);
      expectWasmOnly(site, workers);
    });

    test('worker and engine from a folder of the app, with threads', async ({ open, complaints, full }) => {
      test.skip(!full && title !== 'no bundler', FULL_ONLY);
      await copyAssets(folder, 'public/copied');
      await using site = await serve([...folders(), join(folder, 'public')], { isolated: true });
      const shown = await open(`${site.origin}/?threads=2&assets=/copied/`);
      expectSeven(shown);
      expect(shown.backends.map(({ threads }) => threads)).toEqual([2, 2]);
      expect(complaints).toEqual([]);
      expectWasmOnly(site, workers);
      expect([...site.sent.keys()].filter((path) => path.endsWith('.wasm'))).toEqual([
        '/copied/ort-wasm-simd-threaded.wasm',
      ]);
      expect([...site.sent.keys()]).toContain('/copied/worker.js');
    });

    test('threads on an isolated page', async ({ open, complaints, full }) => {
      test.skip(!full && title !== 'Vite', FULL_ONLY);
      await using site = await serve([...folders(), join(folder, 'public')], { isolated: true });
      const shown = await open(`${site.origin}/?threads=2`);
      expectSeven(shown);
      expect(shown.backends.map(({ threads }) => threads)).toEqual([2, 2]);
      expect(complaints).toEqual([]);
    });
  });
}

test('no bundler: a worker decodes MP3, with a script that is loaded for it, under a strict policy', async ({
  tarball,
  page,
  complaints,
}) => {
  const folder = await install(tarball, 'plain');
  try {
    await copyAssets(folder, 'tabserve');
    await using site = await serve([folder, join(folder, 'public'), 'test']);
    await page.goto(site.origin);
    const sounds = await page.evaluate(async () => {
      const script = '/tabserve/tabserve.js';
      const { load } = (await import(script)) as typeof import('../../src/index.js');
      const classifier = await load<'audio_classifier'>('/models/tasks/sound-whisper/', { backends: ['onnx/wasm'] });
      const sound = await (await fetch('/goldens/sounds/tone.mp3')).blob();
      const found = await classifier.predict(sound);
      await classifier.dispose();
      return found;
    });
    expect(sounds[0]!.score).toBeGreaterThan(0);
    expect(complaints).toEqual([]);
    expect([...site.sent.keys()]).toContain('/tabserve/mediabunny.js');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const SMALL: readonly (Pick<App, 'title' | 'app' | 'served'> & Required<Pick<App, 'build'>>)[] = [
  { title: 'Vite', app: 'vite-small', build: VITE, served: ['dist'] },
  { title: "Vite's plugin", app: 'vite', build: [...VITE, '-c', 'vite.engines.config.ts'], served: ['dist'] },
  { title: 'webpack', app: 'webpack-small', build: ['build.js'], served: ['dist', 'public'] },
];

for (const { title, app, build, served } of SMALL) {
  test(`${title}, one engine named: the files of the others are not built`, async ({
    tarball,
    open,
    complaints,
    full,
  }) => {
    // The plugin's build is also tested below, without any of the engines' files.
    test.skip(!full && app !== 'vite-small', FULL_ONLY);
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

test("Vite's plugin, with the engines' files in a folder: the build has none of them @full", async ({
  tarball,
  open,
  complaints,
}) => {
  const folder = await install(tarball, 'vite');
  try {
    await node(folder, ...VITE, '-c', 'vite.engines.config.ts', '--mode', 'assets');
    expect(Object.keys(sizes(join(folder, 'dist'))).filter((file) => /\.(wasm|mjs)$/.test(file))).toEqual([]);
    expect(gpuScripts(join(folder, 'dist'))).toEqual([]);
    await copyAssets(folder, 'dist/ort');
    await using site = await serve([join(folder, 'dist')], { isolated: true });
    const shown = await open(`${site.origin}/?threads=2`);
    expectSeven(shown);
    expect(shown.backends.map(({ threads }) => threads)).toEqual([2, 2]);
    expect(complaints).toEqual([]);
    expectWasmOnly(site);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
