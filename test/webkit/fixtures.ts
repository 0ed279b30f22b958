import { test as base } from '@playwright/test';
import { NO_WEBKIT, webkit } from '../../scripts/webkit.ts';
import { startWebkit, type WebkitBrowser, type WebkitPage } from './driver.ts';

/** A test in WebKitGTK, on WASM: it has no WebGPU, and no WebGL in workers. */
export const test = base.extend<
  {
    readonly backend: 'wasm';
    /** Whether `npm run webkit` or `npm run test:full` runs. */
    readonly full: boolean;
    /** The browser's tab. Its document, and with it the workers, end with the test. */
    readonly webkitPage: WebkitPage;
    /** Opens the page that has `window.tabserve`. */
    readonly open: () => Promise<WebkitPage>;
  },
  { readonly webkitBrowser: WebkitBrowser | undefined }
>({
  full: [false, { option: true }],
  backend: async ({}, use) => await use('wasm'),
  webkitBrowser: [
    async ({}, use, { project }) => {
      const started = webkit && (await startWebkit(project.use.baseURL!));
      await use(started);
      await started?.end();
    },
    { scope: 'worker', timeout: 60_000 },
  ],
  webkitPage: async ({ webkitBrowser }, use, info) => {
    info.skip(!webkitBrowser, NO_WEBKIT);
    const { page } = webkitBrowser!;
    await use(page);
    await page.close();
  },
  open: async ({ webkitPage: page }, use) => {
    await use(async () => {
      await page.goto('/test/browser/pages/tabserve.html');
      await page.waitForFunction(() => 'tabserve' in window);
      return page;
    });
  },
});

export { expect } from '@playwright/test';
