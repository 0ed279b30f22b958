import { test as base, expect, type Browser, type Page } from '@playwright/test';
import { firefoxPath, NO_FIREFOX } from '../../scripts/firefox.ts';
import type * as Tabserve from '../../src/index.ts';
import type * as Serving from '../../src/serving.ts';
import type { CandidateName } from '../../src/contract/backends.ts';
import type { Stage } from '../../src/contract/stages.ts';
import type { Tensors } from '../../src/contract/tensors.ts';
import { startDisplay, tolerate } from './firefox.ts';
import type { GoldenTensor } from './goldens.ts';
import type { Gate, workers } from './pages/tabserve.ts';
import type { Bare } from './workers/bare-engine.ts';
import type { Fault } from './workers/faulty.worker.ts';
import type { Remote } from 'comlink';

export interface BackendOptions {
  backend: 'wasm' | 'webgl' | 'webgpu';
  /** Whether `npm run test:full` runs, which has what takes minutes on a GPU that is computed in software. */
  full: boolean;
  /**
   * Whether the test runs in the tab that the tests before it had, which halves a short one; `'emptied'`: and finds no
   * stored file there. A test that looks at memory or tabs, or adds an init script, needs a context of its own:
   * `test.use({ reuseTab: false })`.
   */
  reuseTab: boolean | 'emptied';
}

/** The reason for a skip in `npm test`. */
export const FULL_ONLY = 'slow on a GPU that is computed in software: npm run test:full runs it';

const NO_WEBGL = 'Firefox has no WebGL here: on Linux it needs a display, which Xvfb (apt-get install xvfb) can be';

/** The reason for a skip in Firefox. */
export const DEVTOOLS_ONLY = 'measured with Chromium’s DevTools';

/** What `pages/tabserve.html` puts on its window. */
interface TestWindow {
  tabserve: typeof Tabserve;
  ModelServer: typeof Serving.ModelServer;
  workers: typeof workers;
  /** How to ask `workers.faulty` for a fault, this many times. */
  fault(kind: Fault['kind'], stage: Fault['stage'], times: number): { params: { fault: Fault } };
  /** The ids of the faults that have happened. */
  faultsSeen(): Promise<string[]>;
  /** How to hold a request of `workers.gated`. */
  gate(stage: Stage): Promise<Gate>;
  engine(candidate: CandidateName): Promise<Remote<Bare>>;
  tensors(feeds: GoldenFeeds): Tensors;
  disposal(): Promise<{ inside: string; after: string }>;
  /** The same numbers in 0..1 for the same seed. */
  random(seed: number): () => number;
  /** An error as data: what a test compares. */
  failure(work: Promise<unknown> | (() => unknown)): Promise<Failure>;
}

/** Tensors with their values, as data that can be passed to a page. */
export type GoldenFeeds = Readonly<Record<string, GoldenTensor>>;

export interface Failure {
  name: string;
  code: string;
  stage: string | undefined;
  message: string;
  cause: string | undefined;
}

declare global {
  interface Window extends TestWindow {}
}

/**
 * Ends a document and its workers, and removes what would change the next test: listeners and routes, also those of its
 * context, and verdicts. Files stay in the cache.
 */
async function leave(page: Page): Promise<void> {
  const context = page.context();
  page.removeAllListeners();
  context.removeAllListeners('request');
  for (const routed of [page, context]) await routed.unrouteAll({ behavior: 'ignoreErrors' });
  // Of the same origin and as isolated: another page would get another process.
  await page.goto('/test/browser/pages/blank.html');
  await page.evaluate(async () => {
    for (const { name } of await indexedDB.databases())
      await new Promise((resolve) => (indexedDB.deleteDatabase(name!).onsuccess = resolve));
  });
}

/** Deletes every stored file. */
async function empty(page: Page): Promise<void> {
  await page.goto('/test/browser/pages/blank.html');
  await page.evaluate(async () => {
    for (const name of await caches.keys()) await caches.delete(name);
    const folder = await navigator.storage.getDirectory();
    const names = await Array.fromAsync((folder as unknown as { keys(): AsyncIterable<string> }).keys());
    // A worker that has just ended may still hold one.
    for (const name of names)
      for (let left = 50; left > 0; left--)
        try {
          await folder.removeEntry(name, { recursive: true });
          break;
        } catch (error) {
          if (left === 1) throw error;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
  });
}

/**
 * Opens the tab that tests share. A page in the same process holds the engine's module, so that a worker finds what V8
 * has compiled for the workers before.
 */
async function openLastingTab(browser: Browser, backend: BackendOptions['backend']): Promise<Page> {
  const context = await browser.newContext();
  await (await context.newPage()).goto(`/test/browser/pages/compiled.html?${backend}`);
  return await context.newPage();
}

/** A test on one backend; `open` opens the page that has `window.tabserve`. */
export const test = base.extend<
  BackendOptions & { open: (search?: string) => Promise<Page>; installed: void },
  { display: string | undefined; reused: { tab?: Page } }
>({
  backend: ['wasm', { option: true }],
  full: [false, { option: true }],
  reuseTab: [true, { option: true }],
  /** A display for Firefox; undefined if none is needed. */
  display: [
    async ({ browserName }, use) => {
      const display = browserName === 'firefox' ? await startDisplay() : undefined;
      await use(display?.name);
      display?.end();
    },
    { scope: 'worker' },
  ],
  launchOptions: [
    async ({ launchOptions, display }, use) =>
      await use(
        display === undefined ? launchOptions : { ...launchOptions, env: { ...process.env, DISPLAY: display } },
      ),
    { scope: 'worker' },
  ],
  browser: [
    async ({ browser, browserName }, use) => {
      if (browserName === 'firefox') tolerate(browser);
      await use(browser);
    },
    { scope: 'worker' },
  ],
  /** The tab of the tests with `reuseTab`, once there is one. It ends with the browser. */
  reused: [async ({}, use) => await use({}), { scope: 'worker' }],
  page: async ({ browser, browserName, reused, reuseTab, backend }, use) => {
    // In Firefox, Playwright still lists a worker that has ended with its document.
    const isReused = reuseTab && browserName !== 'firefox';
    const page = isReused
      ? (reused.tab ??= await openLastingTab(browser, backend))
      : await (await browser.newContext()).newPage();
    if (isReused && reuseTab === 'emptied') await empty(page);
    await use(page);
    await (isReused ? leave(page) : page.context().close());
  },
  context: async ({ page }, use) => await use(page.context()),
  /** Skips what needs a browser that is not installed. */
  installed: [
    async ({ browserName }, use, info) => {
      info.skip(browserName === 'firefox' && firefoxPath === undefined, NO_FIREFOX);
      await use();
    },
    { auto: true },
  ],
  open: async ({ page, backend, browserName }, use, info) => {
    await use(async (search = '') => {
      await page.goto(`/test/browser/pages/tabserve.html${search}`);
      await page.waitForFunction(() => 'tabserve' in window);
      if (browserName === 'firefox' && backend === 'webgl')
        info.skip(!(await page.evaluate(() => new OffscreenCanvas(1, 1).getContext('webgl2') !== null)), NO_WEBGL);
      return page;
    });
  },
});

export { expect };
