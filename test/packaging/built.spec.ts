import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { addStandalone, copyOrt, install, node, sizes } from './app.ts';
import { expect, expectSeven, expectWasmOnly, test } from './fixtures.ts';
import { serve } from './server.ts';

interface App {
  readonly title: string;
  readonly app: string;
  readonly without?: readonly string[];
  readonly build?: readonly [script: string, ...args: string[]];
  /** Folders to serve. */
  readonly served: readonly string[];
  /** All engines are in one script. */
  readonly inlined?: boolean;
  /** Threads where two are asked for and the page is isolated. */
  readonly threads: number;
}

const VITE = ['node_modules/vite/bin/vite.js', 'build'] as const;

const APPS: readonly App[] = [
  { title: 'Vite', app: 'vite', build: VITE, served: ['dist'], threads: 2 },
  { title: 'Vite without any config', app: 'vite', without: ['vite.config.ts'], build: VITE, served: ['dist'], inlined: true, threads: 1 },
  { title: 'webpack', app: 'webpack', build: ['build.js'], served: ['dist', 'public'], threads: 2 },
  { title: 'no bundler', app: 'plain', served: ['.', 'public'], threads: 2 },
];

for (const { title, app, without = [], build, served, inlined = false, threads } of APPS) {
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
      expectWasmOnly(site, { inlined });
    });
  });
}
