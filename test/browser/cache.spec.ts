import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

// Each test begins with an empty cache.
test.use({ reuseTab: false });

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

async function open(page: Page): Promise<void> {
  await page.goto('/test/browser/pages/cache.html');
  await page.waitForFunction(() => 'cacheTest' in window);
}

for (const store of ['cache-api', 'opfs', 'opfs-sync', 'memory'] as const) {
  test(`the store ${store} does what every store must do, in a worker @once${store === 'opfs' || store === 'opfs-sync' ? '' : ' @full'}`, async ({
    page,
  }) => {
    await open(page);
    expect(await page.evaluate((store) => window.cacheTest.testStoreInWorker(store), store)).toEqual({});
  });
}

for (const store of ['cache-api', 'opfs'] as const) {
  test(`the store ${store} does what every store must do, on the page @once${store === 'opfs' ? ' @full' : ''}`, async ({
    page,
  }) => {
    await open(page);
    expect(await page.evaluate((store) => window.cacheTest.testStore(store), store)).toEqual({});
  });

  test(`what a tab has stored with ${store} is there for the next one, and a crash in the middle leaves nothing that is served @once`, async ({
    page,
    context,
  }) => {
    await open(page);
    await page.evaluate(async (store) => {
      const entries = new window.cacheTest.CacheEntries(window.cacheTest.STORES[store]());
      await entries.save('url a', 'a', new Blob(['whole']), { etag: '"1"' });
      // The tab is closed while this one is written.
      void entries.save('url b', 'b', new Blob([new Uint8Array(50_000_000)]));
    }, store);
    await page.close();
    const next = await context.newPage();
    await open(next);
    const found = await next.evaluate(async (store) => {
      const entries = new window.cacheTest.CacheEntries(window.cacheTest.STORES[store]());
      const [a, b] = await Promise.all(
        ['url a', 'url b'].map(async (key) => {
          const entry = await entries.find(key);
          return entry && (await entries.open(entry));
        }),
      );
      return { a: await a?.blob?.text(), etag: a?.entry.etag, b: b?.blob?.size };
    }, store);
    expect(found).toMatchObject({ a: 'whole', etag: '"1"' });
    // A fast disk may have been done with it.
    expect([undefined, 50_000_000]).toContain(found.b);
  });
}

test('opfs: the files are listed while a tab is writing one @once', async ({ page }) => {
  await open(page);
  const listed = await page.evaluate(async () => {
    const entries = new window.cacheTest.CacheEntries(window.cacheTest.STORES.opfs());
    await entries.save('url a', 'a', new Blob(['whole']));
    const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('tabserve');
    await (await folder.getFileHandle('b.json', { create: true })).createWritable();
    return (await entries.list()).map(({ url }) => url);
  });
  expect(listed).toEqual(['a']);
});

/** A server of a model and of ONNX Runtime's files. It counts what it sends. */
async function serve(): Promise<{ origin: string; server: Server; sent: string[] }> {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://localhost');
    const folder = pathname.startsWith('/ort/') ? 'node_modules/onnxruntime-web/dist' : 'test/models';
    void readFile(join(ROOT, folder, pathname.slice(pathname.lastIndexOf('/') + 1))).then(
      (bytes) => {
        sent.push(pathname);
        response.setHeader('Access-Control-Allow-Origin', '*');
        response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
        response.setHeader('Last-Modified', 'Sun, 01 Nov 2026 00:00:00 GMT');
        // The browser's own cache asks the server, too.
        response.setHeader('Cache-Control', 'no-cache');
        if (pathname.endsWith('.wasm')) response.setHeader('Content-Type', 'application/wasm');
        response.end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, sent };
}

/** Loads the model, and returns the warnings, the last progress and a prediction's size. */
async function load(
  page: Page,
  origin: string,
  integrity?: Record<string, string>,
): Promise<{ warnings: string[]; loaded: number; rows: number }> {
  return await page.evaluate(
    async ({ origin, integrity }) => {
      const warnings: string[] = [];
      let loaded = 0;
      const client = window.tabserve.connect({
        model: `${origin}/models/affine_fixed.onnx`,
        handler: 'base_handler',
        backends: ['onnx/wasm'],
        assets: `${origin}/ort/`,
        config: { engine: { threads: 1 } },
        ...(integrity && { integrity }),
      });
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize({ onProgress: ({ overall }) => (loaded = overall.loaded) });
      const answer = await client.handle([{ dtype: 'float32', dims: [1, 4], data: Float32Array.of(1, 2, 3, 4) }]);
      // What is not stored yet, `dispose` drops.
      while ((await window.tabserve.cache.estimate()).files < 2) await new Promise(requestAnimationFrame);
      await client.dispose();
      return { warnings, loaded, rows: answer.length };
    },
    { origin, integrity },
  );
}

test('the next visit loads model and engine from the cache, also with the server gone, until they are deleted @once', async ({
  open,
}) => {
  const { origin, server, sent } = await serve();
  const [model, engine] = ['/models/affine_fixed.onnx', '/ort/ort-wasm-simd-threaded.wasm'];
  const first = await load(await open(), origin);
  expect(sent.toSorted()).toEqual([model, engine]);
  const second = await load(await open(), origin);
  // The model has no hash, so its server is asked; the engine is that of this version for ever.
  expect(sent).toEqual([...sent.slice(0, 2), model]);
  expect(second).toEqual({ ...first, warnings: [] });

  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  const page = await open();
  const third = await load(page, origin);
  expect(third).toEqual({ ...first, warnings: [expect.stringContaining('Cached files are used')] });

  const { listed, estimate, deleted, left } = await page.evaluate(async (origin) => {
    const { cache } = window.tabserve;
    const listed = await cache.list();
    const estimate = await cache.estimate();
    const deleted = await cache.delete(`${origin}/models/`);
    return {
      listed: listed.map(({ url, store }) => ({ url, store })),
      estimate,
      deleted,
      left: (await cache.list()).length,
    };
  }, origin);
  expect(listed.map(({ url }) => url).toSorted()).toEqual([origin + model, origin + engine]);
  expect(new Set(listed.map(({ store }) => store))).toEqual(new Set(['cache-api']));
  expect(estimate).toEqual({ files: 2, bytes: first.loaded, quota: expect.any(Number) });
  expect([deleted, left]).toEqual([1, 1]);
  await expect(load(page, origin)).rejects.toThrow('affine_fixed.onnx');
});

test('two tabs that load one model at once download it once @once', async ({ open, context }) => {
  const { origin, server, sent } = await serve();
  try {
    const hash = createHash('sha256')
      .update(await readFile(join(ROOT, 'test/models/affine_fixed.onnx')))
      .digest('hex');
    const integrity = { 'affine_fixed.onnx': hash };
    const other = await context.newPage();
    await other.goto('/test/browser/pages/tabserve.html');
    await other.waitForFunction(() => 'tabserve' in window);
    const page = await open();
    const [a, b] = await Promise.all([load(page, origin, integrity), load(other, origin, integrity)]);
    expect(b).toEqual(a);
    expect(sent.toSorted()).toEqual(['/models/affine_fixed.onnx', '/ort/ort-wasm-simd-threaded.wasm']);
  } finally {
    server.close();
  }
});

test('a model answers while its files are stored: a store that does not answer costs a warning @once @full', async ({
  open,
}) => {
  const page = await open();
  const { atFirst, rows, warning } = await page.evaluate(async () => {
    const warnings: string[] = [];
    const client = window.tabserve.connect(window.workers.hungStore, {
      model: '/test/models/affine_fixed.onnx',
      backends: ['onnx/wasm'],
    });
    const warned = new Promise<string>((resolve) => client.on('warn', ({ message }) => resolve(message)));
    client.on('warn', ({ message }) => warnings.push(message));
    await client.initialize();
    const answer = await client.handle([{ data: Float32Array.of(1, 2, 3, 4), dims: [4] }]);
    return { atFirst: [...warnings], rows: answer.length, warning: await warned };
  });
  expect([atFirst, rows]).toEqual([[], 1]);
  expect(warning).toMatch(/^Files cannot be cached: The cache did not answer within 1\d{4} ms\.$/);
});
