import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

async function open(page: Page): Promise<void> {
  await page.goto('/test/browser/pages/cache.html');
  await page.waitForFunction(() => 'cacheTest' in window);
}

for (const store of ['cache-api', 'opfs', 'opfs-sync', 'memory'] as const) {
  test(`the store ${store} does what every store must do, in a worker @once`, async ({ page }) => {
    await open(page);
    expect(await page.evaluate((store) => window.cacheTest.testStoreInWorker(store), store)).toEqual({});
  });
}

for (const store of ['cache-api', 'opfs'] as const) {
  test(`the store ${store} does what every store must do, on the page @once`, async ({ page }) => {
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
      const [a, b] = await Promise.all([entries.find('url a'), entries.find('url b')]);
      return { a: await a?.blob?.text(), etag: a?.entry.etag, b: b?.blob?.size };
    }, store);
    expect(found).toMatchObject({ a: 'whole', etag: '"1"' });
    // A fast disk may have been done with it.
    expect([undefined, 50_000_000]).toContain(found.b);
  });
}
