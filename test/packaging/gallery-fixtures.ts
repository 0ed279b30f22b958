import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { test as base, expect, type BrowserContext } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.ts';
import { once } from './once.ts';
import { POLICY, serve } from './server.ts';

/** As a host with a strict Content-Security-Policy serves the gallery. */
export const HOST = { isolated: true, policy: `${POLICY}; img-src 'self' blob:` };

/** A test of the built gallery. `built` is its folder; `gallery` is where it is served; `complaints` is what the page and its workers complained of; `full`, whether
 * `npm run test:full` runs. */
export const test = base.extend<
  { complaints: string[]; full: boolean },
  { built: string; gallery: string; visits: BrowserContext }
>({
  full: [false, { option: true }],
  // A camera that shows a green test picture, to pages that may use one.
  launchOptions: [
    {
      args: [...chromiumArgs.wasm, '--use-fake-device-for-media-stream', '--process-per-site'],
      ...(chromiumPath && { executablePath: chromiumPath }),
    },
    { scope: 'worker' },
  ],
  built: [
    async ({}, use) =>
      await use(
        await once('gallery', async (folder) => {
          await promisify(execFile)('npx', ['vite', 'build', '--outDir', folder, '--logLevel', 'error']);
        }),
      ),
    { scope: 'worker', timeout: 180_000 },
  ],
  gallery: [
    async ({ built }, use) => {
      const site = await serve([built], HOST);
      await use(`${site.origin}/`);
      await site[Symbol.asyncDispose]();
    },
    { scope: 'worker' },
  ],
  /**
   * The context of all tests: later ones have the gallery's files in the cache. A page in it holds the engine's module,
   * with what V8 has compiled of it.
   */
  visits: [
    async ({ browser, built, gallery }, use) => {
      const context = await browser.newContext();
      const holder = await context.newPage();
      await holder.goto(`${gallery}nothing.txt`);
      const engine = readdirSync(`${built}/assets`).find((name) => /^ort-wasm-simd-threaded-[^.]+\.wasm$/.test(name))!;
      await holder.evaluate(async (url) => {
        Object.assign(window, { module: await WebAssembly.compileStreaming(fetch(url)) });
      }, `${gallery}assets/${engine}`);
      await use(context);
      await context.close();
    },
    { scope: 'worker' },
  ],
  context: async ({ visits }, use) => {
    await use(visits);
    await visits.clearPermissions();
    await visits.unrouteAll({ behavior: 'ignoreErrors' });
    await visits.setOffline(false);
  },
  page: async ({ context }, use) => {
    const page = await context.newPage();
    await use(page);
    await page.close();
  },
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on('console', (message) => {
      // Chromium says so of a frame in a worker that the page kills, as a crash would.
      if (message.text().startsWith('A VideoFrame was garbage collected')) return;
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    await use(complaints);
  },
});

export { expect };
