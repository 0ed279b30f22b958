import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { copyAssets, install } from './app.ts';
import { expect, test } from './fixtures.ts';
import { serve } from './server.ts';

type TabServe = typeof import('../../src/index.ts');

/** A page without a bundler finds the package's modules by an import map. */
const PAGE = `<script type="importmap">
  { "imports": { "npm": "/node_modules/tabserve/dist/index.js", "comlink": "/node_modules/comlink/dist/esm/comlink.mjs" } }
</script>`;

test('the package of npm and the standalone build in one page recognize the errors of each other', async ({
  tarball,
  page,
}) => {
  const folder = await install(tarball, 'plain');
  try {
    await copyAssets(folder, 'tabserve');
    await using site = await serve([folder, join(folder, 'public')], { policy: '' });
    await page.route('**/both.html', (route) => route.fulfill({ contentType: 'text/html', body: PAGE }));
    await page.goto(`${site.origin}/both.html`);
    const seen = await page.evaluate(async () => {
      const [npm, standalone] = (await Promise.all(['npm', '/tabserve/tabserve.js'].map((name) => import(name)))) as [
        TabServe,
        TabServe,
      ];
      const options = { handler: 'image_classifier', backends: ['onnx/wasm'] } as const;
      const client = await standalone.load('/models/digits/', options);
      const row = (await client.handle([new Blob(['no image'])]))[0] as unknown;
      await client.dispose();
      // An app that loads another model with npm's copy gives it up because of that failure.
      const wrapped: unknown = await npm
        .load('/models/digits/', { ...options, signal: AbortSignal.abort(row) })
        .catch((error: unknown) => error);
      const own: unknown = await npm
        .load('/models/digits/', { ...options, signal: AbortSignal.abort() })
        .catch((error: unknown) => error);
      const classesOf = (error: unknown): readonly boolean[] =>
        [npm, standalone].flatMap(({ TabServeError, PredictionError }) => [
          error instanceof TabServeError,
          error instanceof PredictionError,
        ]);
      return {
        areCopies: npm.TabServeError !== standalone.TabServeError,
        row: classesOf(row),
        isSame: wrapped === row,
        own: classesOf(own),
        other: classesOf(new Error('no error of TabServe')),
      };
    });
    expect(seen).toEqual({
      areCopies: true,
      row: [true, true, true, true],
      isSame: true,
      own: [true, false, true, false],
      other: [false, false, false, false],
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
