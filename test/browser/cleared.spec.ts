// The site's data are cleared (`Clear-Site-Data`, as at a logout) at awkward moments: every promise settles. A worker
// that is lost afterwards is in healing.spec.ts.
import type { BrowserContext, Page } from '@playwright/test';
import type { Client } from '../../src/index.ts';
import { expect, test as base } from './fixtures.ts';
import { predictionServer } from './prediction-server.ts';

/** What is cleared, as the header says it. */
const KINDS = ['storage', 'cache', '*'] as const;

/** Numbers in a vector of the model of likeness. */
const VECTOR = 1792;

/** A profile on disk: in a context of Playwright's own, as in a private window, Chromium keeps cached files in memory. */
const test = base.extend<{ profile: BrowserContext }>({
  profile: async ({ playwright, launchOptions, baseURL }, use, info) => {
    const options = { ...launchOptions, ...(baseURL !== undefined && { baseURL }) };
    const context = await playwright.chromium.launchPersistentContext(info.outputPath('profile'), options);
    await use(context);
    await context.close();
  },
});

async function openIn(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  return page;
}

test('while a model loads, from the network or from the cache: it opens, and answers @once @full', async ({
  profile,
}) => {
  test.slow();
  const page = await openIn(profile);
  for (const kind of KINDS) {
    // What the turn before has stored.
    await page.evaluate(() => fetch('/test/server.mjs?clear=*'));
    let release = (): void => {};
    const arrived = new Promise<void>((asked) =>
      profile.route('**/likeness/model.onnx', async (route) => {
        const released = new Promise<void>((resolve) => (release = resolve));
        asked();
        await released;
        await route.continue();
      }),
    );
    const load = (): Promise<number> =>
      page.evaluate(async () => {
        const client = await window.tabserve.load('/models/likeness/', { backends: ['wasm'] });
        const input = { data: new Uint8Array(64 * 64 * 3), dims: [64, 64, 3] } as never;
        const { length } = (await client.predict(input)) as unknown as ArrayLike<number>;
        await client.dispose();
        return length;
      });
    const first = load();
    await arrived;
    await page.evaluate((kind) => fetch(`/test/server.mjs?clear=${kind}`), kind);
    release();
    expect(await first, kind).toBe(VECTOR);
    await profile.unroute('**/likeness/model.onnx');
    // From the cache, where it was not cleared too early, and cleared at once.
    const [again] = await Promise.all([load(), page.evaluate((kind) => fetch(`/test/server.mjs?clear=${kind}`), kind)]);
    expect(again, kind).toBe(VECTOR);
  }
});

test('while a stream writes: it goes on to its end, and the worker answers afterwards @once @full', async ({
  profile,
}) => {
  const page = await openIn(profile);
  const seen = await page.evaluate(async (kinds) => {
    const client = window.tabserve.connect(window.workers.streaming, {
      model: '/test/models/affine_fixed.onnx',
      backends: ['wasm'],
    });
    await client.initialize();
    const input = { data: new Float32Array(4), dims: [4] } as never;
    const numbers: unknown[][] = [];
    for (const kind of kinds) {
      const own: unknown[] = [];
      for await (const item of client.stream(input, { params: { parts: 6 } } as never) as AsyncIterable<unknown>) {
        own.push(typeof item === 'number' ? item : (item as { number: number }).number);
        if (own.length === 2) await fetch(`/test/server.mjs?clear=${kind}`);
      }
      numbers.push(own);
    }
    const after = await client.predict(input, { params: { parts: 2 } } as never);
    await client.dispose();
    return { numbers, after };
  }, KINDS);
  expect(seen).toEqual({ numbers: KINDS.map(() => [1, 2, 3, 4, 5, 6, 6]), after: 2 });
});

declare global {
  interface Window {
    /** The client of a tab that shares its model. */
    ofTab: Client;
  }
}

for (const kind of KINDS)
  test(`with tabs that share a model (${kind}): all are answered, also when the tab with the worker is closed @once @full`, async ({
    profile,
  }) => {
    const open = async (): Promise<Page> => {
      const page = await openIn(profile);
      await page.evaluate(async () => {
        window.ofTab = await window.tabserve.load('/models/digits/', { backends: ['wasm'], share: true });
      });
      return page;
    };
    const ask = (page: Page): Promise<string> =>
      page.evaluate(async () => {
        const photo = await (await fetch('/models/digits/samples/digit-4.png')).blob();
        return await window.ofTab.predict(photo).then(
          (found) => (found as unknown as { label: string }[])[0]!.label,
          (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
        );
      });
    const pages = [await open(), await open(), await open()];
    const [host, ...guests] = pages as [Page, Page, Page];
    expect(await Promise.all(pages.map(ask))).toEqual(['four', 'four', 'four']);
    const during = pages.map(ask);
    await guests[0]!.evaluate((kind) => fetch(`/test/server.mjs?clear=${kind}`), kind);
    expect(await Promise.all(during)).toEqual(['four', 'four', 'four']);
    expect(await Promise.all(pages.map(ask))).toEqual(['four', 'four', 'four']);
    const late = await open();
    expect(await ask(late)).toBe('four');
    await host.close();
    expect(await Promise.all([...guests, late].map(ask))).toEqual(['four', 'four', 'four']);
  });

test('a service worker is removed with the data: what is device-only fails, and still does not leave @once @full', async ({
  profile,
  baseURL,
}) => {
  await using site = await predictionServer(baseURL!);
  const page = await profile.newPage();
  await page.goto(`${site.origin}/test/browser/pages/predictions.html`);
  await page.waitForFunction(() => 'predictions' in window);
  await page.evaluate(() => window.predictions.register(1));
  await page.evaluate(() => window.predictions.host(['private']));
  const ask = (): Promise<string> =>
    page.evaluate(() =>
      window.predictions.ask('/predictions/private', 'x').then(
        ({ said }) => said,
        (error: { code: string }) => error.code,
      ),
    );
  expect(await ask()).toBe('200 by device, because: device-only');
  const during = [ask(), ask(), ask()];
  // The service worker that passes on the response is ended by it.
  await page.evaluate(async () => void (await fetch('/test/server.mjs?clear=storage').catch(() => {})));
  await expect
    .poll(() => page.evaluate(async () => (await navigator.serviceWorker.getRegistration()) === undefined))
    .toBe(true);
  for (const one of await Promise.all(during)) expect(one).toMatch(/^200 by device|^503 by none|^worker-lost$/);
  for (let turn = 0; turn < 3; turn++) expect(await ask()).toMatch(/^200 by device|^503 by none|^worker-lost$/);
  expect(site.got).toEqual([]);
  // The app registers its service worker again.
  await page.evaluate(() => window.predictions.register(2));
  expect(await ask()).toMatch(/^200 by device|^503 by none/);
  expect(site.got).toEqual([]);
});
