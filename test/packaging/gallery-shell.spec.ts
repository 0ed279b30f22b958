import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import axe from 'axe-core';
import { expect, HOST, test } from './gallery-fixtures.ts';
import { serve } from './server.ts';

declare global {
  interface Window {
    /** Sum of the layout shifts that no input caused. */
    shifted: number;
    axe: typeof axe;
  }
}

const SLOW = { timeout: 60_000 };
/**
 * What the page may have before a click, in bytes compressed by gzip; 60 of it are the card of Chat, 70 the pages Speech
 * and Voices, 220 the end of a worker whose step over a model's files does not end, 930 the recorded first frame,
 * 100 what says which sound files a worker decodes.
 */
const BEFORE_A_CLICK = 68_850;
const PAGES = [
  'Objects',
  'Background',
  'People',
  'Cut-out',
  'Likeness',
  'Upscaling',
  'Text',
  'Language',
  'Digits',
  'Orientation',
  'Speech',
  'Voices',
  'Chat',
  'Writing',
  'Reasons',
  'Backends',
  'Any model',
  'Serving',
  'Fetch',
  'Docs',
];

test('the first page: code to copy, a worker that is killed and replaced, uploads that are counted, and what it weighs', async ({
  page,
  context,
  built,
  complaints,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.addInitScript(() => {
    window.shifted = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as unknown as { value: number; hadRecentInput: boolean }[])
        if (!entry.hadRecentInput) window.shifted += entry.value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await using site = await serve([built], HOST);
  await page.goto(`${site.origin}/`);
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Run your models on your visitors’ devices');
  const kill = page.getByRole('button', { name: 'Kill the worker' });
  await expect(kill).toBeEnabled(SLOW);
  const read = (what: string) => page.locator(`[data-readout="${what}"]`);
  await expect(read('backend')).toHaveText('tfjs/wasm');
  await expect(read('latency')).toHaveText(/^[\d.,]+ ms$/);
  await expect(read('uploaded')).toHaveText('0 bytes');

  // The page's own requests, to its end: the sample's photos, its model, and the worker with the engine are its media.
  await page.getByRole('contentinfo').scrollIntoViewIfNeeded();
  await page.waitForFunction(() => [...document.images].every(({ complete }) => complete));
  const own = await page.evaluate(() =>
    performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname),
  );
  const worker = own.find((path) => path.includes('/sample.worker-'))!;
  // The browser counts what a worker's script imports among the page's requests.
  const media = new Set([worker, ...importsOf(worker, site.sent)]);
  const counted = ['/', ...own].filter((path) => !media.has(path) && !path.startsWith('/models/selfie/'));
  expect(counted.some((path) => path.endsWith('.css'))).toBe(true);
  expect(counted.some((path) => path.includes('/segmenter-'))).toBe(true);
  const weight = counted.reduce((sum, path) => sum + gzipSync(site.sent.get(path)!).length, 0);
  expect(weight, counted.join('\n')).toBeLessThanOrEqual(BEFORE_A_CLICK);
  expect(await page.evaluate(() => window.shifted)).toBeLessThanOrEqual(0.02);
  expect(await page.evaluate(async () => (await navigator.serviceWorker.getRegistrations()).length)).toBe(0);

  const [before] = page.workers();
  await kill.click();
  await expect(page.locator('.told strong')).toHaveText(/^Healed in [\d,]+ ms, 0 requests lost\.$/, SLOW);
  await expect(read('lost')).toHaveText('0');
  expect(page.workers()).toHaveLength(1);
  expect(page.workers()[0]).not.toBe(before);

  // What the strip says is counted: a request with a body changes it, from the page and from the worker.
  await expect(read('uploaded')).toHaveText('0 bytes');
  await page.evaluate(() => fetch('./', { method: 'POST', body: '12345' }));
  await expect(read('uploaded')).toHaveText('5 bytes');
  await page.workers()[0]!.evaluate(() => {
    const request = new XMLHttpRequest();
    request.open('POST', new URL('/', location.href));
    request.send(new Uint8Array(10));
  });
  await expect(read('uploaded')).toHaveText('15 bytes');
  // Vite's development server has a WebSocket of its own, whose messages are not the page's. The app's are.
  await page.evaluate(() => {
    const send = (protocol: string): void =>
      WebSocket.prototype.send.call(Object.create(WebSocket.prototype, { protocol: { value: protocol } }), '12345');
    for (const protocol of ['vite-hmr', 'vite-ping', '']) {
      // It is counted, and then refused, because nothing is connected.
      try {
        send(protocol);
      } catch {}
    }
  });
  await expect(read('uploaded')).toHaveText('20 bytes');

  await page.getByRole('button', { name: 'Copy' }).first().click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    readFileSync(new URL('../readme/first.ts', import.meta.url), 'utf8').trimEnd(),
  );
  expect(complaints).toEqual([]);
});

test('the first page shows a recorded frame until the model is there', async ({ page, gallery, complaints }) => {
  await withoutModels(page);
  await page.goto(gallery);
  await expect(page.getByText('A recorded frame; the model').first()).toBeVisible();
  // The person is there, and what is behind her is not.
  const opacity = async (x: number, y: number): Promise<number> =>
    await page.locator('.live-picture > canvas').evaluate(
      (canvas: HTMLCanvasElement, [x, y]) => {
        // Of a copy: a canvas that is read often is no longer the GPU's.
        const pixel = new OffscreenCanvas(1, 1).getContext('2d')!;
        pixel.drawImage(canvas, -Math.floor(x! * canvas.width), -Math.floor(y! * canvas.height));
        return pixel.getImageData(0, 0, 1, 1).data[3]!;
      },
      [x, y],
    );
  await expect.poll(async () => await opacity(0.5, 0.35)).toBe(255);
  expect(await opacity(0.03, 0.1)).toBeLessThan(30);
  await expect(page.locator('[data-readout="backend"]'), 'no model has answered').toHaveText('–');
  expect(complaints).toEqual([]);
});

test('the first page stands still for visitors who want less motion', async ({ page, gallery, complaints }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(gallery);
  await expect(page.getByRole('button', { name: 'Play' })).toBeVisible(SLOW);
  await expect(page.locator('[data-readout="backend"]')).toHaveText('tfjs/wasm');
  await expect(page.getByRole('button', { name: 'Kill the worker' })).toBeDisabled();
  await page.getByRole('button', { name: 'Play' }).click();
  await expect(page.getByRole('button', { name: 'Kill the worker' })).toBeEnabled();
  await page.getByRole('button', { name: 'Pause' }).click();
  await expect(page.getByRole('button', { name: 'Play' })).toBeFocused();
  expect(complaints).toEqual([]);
});

test('navigation: Back returns, focus goes to the heading; docs and model cards are pages', async ({
  page,
  gallery,
  complaints,
}) => {
  await withoutModels(page);
  await page.goto(`${gallery}#/nothing`);
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText('Run your models on your visitors’ devices');
  const nav = page.getByRole('navigation', { name: 'Pages' });
  await expect(nav.getByRole('link')).toHaveText(PAGES);
  for (const title of PAGES.slice(-2)) await nav.getByRole('link', { name: title }).click();
  await page.goBack();
  await expect(heading).toHaveText('Fetch');
  await page.goForward();
  await expect(heading).toHaveText('TabServe');

  await page.getByRole('navigation', { name: 'Documents' }).getByRole('link', { name: 'Healing' }).click();
  await expect(heading).toHaveText('Healing');
  await expect(heading).toBeFocused();
  await expect(nav.locator('[aria-current]')).toHaveText('Docs');
  await page.getByRole('link', { name: 'TabServe', exact: true }).first().click();
  await page.getByRole('link', { name: 'What was compared' }).click();
  await expect(page.getByRole('heading', { name: 'Exactness' })).toBeInViewport();

  await nav.getByRole('link', { name: 'Background' }).click();
  await page.getByRole('link', { name: 'Model card' }).click();
  await expect(heading).toHaveText('Model card: selfie, a person segmenter');
  await expect(page.getByRole('rowheader', { name: 'Input' })).toBeVisible();
  await page.getByRole('link', { name: 'Skip to the content' }).focus();
  await page.keyboard.press('Enter');
  await expect(heading).toBeFocused();
  expect(complaints).toEqual([]);
});

test('who leaves a page before its code has arrived stays where they went', async ({ page, gallery, complaints }) => {
  await withoutModels(page);
  await page.clock.install();
  await page.route('**/reading*.js', () => {});
  await page.goto(`${gallery}#/fetch`);
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toHaveText('Fetch');
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Docs' }).click();
  await page.goBack();
  await expect(page.locator('#demos [aria-current]')).toHaveText('Fetch');
  await page.clock.runFor(1000);
  await expect(heading).toHaveText('Fetch');
  await expect(page.getByText('Loading the page…')).toHaveCount(0);
  expect(complaints).toEqual([]);
});

test('the address of a document that does not exist says so, and leads to the list', async ({
  page,
  gallery,
  complaints,
}) => {
  const heading = page.getByRole('heading', { level: 1 });
  for (const id of ['docs/nothing', 'models/<b>nothing']) {
    await page.goto(`${gallery}#/${id}`);
    await expect(heading).toHaveText('No such document');
    await expect(page).toHaveTitle('No such document · TabServe');
    await expect(page.getByText(`There is no document “${id}”.`)).toBeVisible();
  }
  await page.getByRole('link', { name: 'list of documents' }).click();
  await expect(heading).toHaveText('TabServe');
  await expect(page.getByRole('navigation', { name: 'Documents' }).locator('[aria-current]')).toHaveText('TabServe');
  expect(complaints).toEqual([]);
});

test('every page has an address and a title, and focus goes to its heading; axe finds nothing on a phone and on a screen, by day and by night', async ({
  page,
  gallery,
  full,
}) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await withoutModels(page);
  await page.goto(gallery);
  const heading = page.getByRole('heading', { level: 1 });
  await expect(heading).toBeVisible();
  await check(page, 'the first page', looks(0, full));
  const nav = page.getByRole('navigation', { name: 'Pages' });
  for (const [at, title] of PAGES.entries()) {
    await nav.getByRole('link', { name: title }).click();
    await expect(heading).toHaveText(title === 'Docs' ? 'TabServe' : title);
    await expect(heading).toBeFocused();
    await expect(nav.locator('[aria-current="page"]')).toHaveText(title);
    await expect(page).toHaveTitle(/ · TabServe$/);
    await check(page, title, looks(at, full));
  }
  await page.goto(`${gallery}#/models/selfie`);
  await expect(heading).toContainText('selfie');
  await check(page, 'a model card', looks(1, full));
});

test('axe finds nothing on pages with a result @full', async ({ page, gallery, full }) => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.goto(gallery);
  await expect(page.locator('[data-readout="backend"]')).toHaveText('tfjs/wasm', SLOW);
  await check(page, 'the first page', looks(1, full));
  await page.goto(`${gallery}#/language`);
  await expect(page.locator('.top-name')).toHaveText('Portuguese', SLOW);
  await check(page, 'Language', looks(0, full));
});

/** Opens no model: its files never arrive. */
async function withoutModels(page: Page): Promise<void> {
  await page.context().route(/\/models\/.*\.(json|yaml|onnx|bin|safetensors)$/, () => {});
}

/** Sizes and colors of the page. */
const LOOKS = [
  { width: 390, height: 844, colorScheme: 'dark' },
  { width: 1280, height: 800, colorScheme: 'light' },
  { width: 390, height: 844, colorScheme: 'light' },
  { width: 1280, height: 800, colorScheme: 'dark' },
] as const;

/** Returns the looks of a page: `npm test` has one of the first two, in turns. */
function looks(at: number, full: boolean): readonly (typeof LOOKS)[number][] {
  return full ? LOOKS : [LOOKS[at % 2]!];
}

/** Runs every rule of axe on the page as it is. */
async function check(page: Page, name: string, all: readonly (typeof LOOKS)[number][]): Promise<void> {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe.source);
  for (const { width, height, colorScheme } of all) {
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme });
    const violations = await page.evaluate(async () => {
      const found = await window.axe.run(document, {
        resultTypes: ['violations'],
      });
      return found.violations.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id}: ${target.join(' ')}: ${failureSummary}`),
      );
    });
    expect.soft(violations, `${name}, ${width} × ${height}, ${colorScheme}`).toEqual([]);
  }
}

/** Returns the paths of the scripts that a built script imports, and those that these import. */
function importsOf(script: string, sent: ReadonlyMap<string, Buffer>, found = new Set<string>()): ReadonlySet<string> {
  for (const [, file] of sent
    .get(script)!
    .toString()
    .matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) {
    const path = `/assets/${file}`;
    if (found.has(path)) continue;
    found.add(path);
    importsOf(path, sent, found);
  }
  return found;
}
