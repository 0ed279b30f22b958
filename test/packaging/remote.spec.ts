import { expect, test } from '@playwright/test';
import { startServer } from '../browser/everywhere.ts';

test('a tab has its model on `tabserve serve`: the answers of its own WASM @full', async ({ page, baseURL }) => {
  const server = await startServer(baseURL!, ['/models/digits/']);
  try {
    await page.goto('/test/browser/pages/tabserve.html');
    await page.waitForFunction(() => 'tabserve' in window);
    const seen = await page.evaluate(async (url) => {
      const { load } = window.tabserve;
      const far = await load('/models/digits/', { backends: ['remote'], remote: { url } });
      const near = await load('/models/digits/', { backends: ['wasm'] });
      const photo = await (await fetch('/models/digits/samples/digit-4.png')).blob();
      const answers = await Promise.all([far, near].map((client) => client.predict(photo)));
      return { backends: [far, near].map(({ backend }) => backend!.name), answers };
    }, server.url);
    expect(seen.backends).toEqual(['remote', 'wasm']);
    const [far, near] = seen.answers as { label: string; score: number }[][];
    expect(near![0]!.label).toBe('four');
    expect(far!.map(({ label }) => label)).toEqual(near!.map(({ label }) => label));
    for (const [at, { score }] of near!.entries()) expect(Math.abs(far![at]!.score - score)).toBeLessThan(1e-5);
  } finally {
    await server.stop();
  }
});
