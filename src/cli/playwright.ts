import type { Browser, BrowserType } from '@playwright/test';
import { messageOf, TabServeError } from '../contract/errors.js';
import { chromiums, withGpu } from '../testing/browser.js';

/** The packages of Playwright that can launch a browser. */
const PACKAGES = ['@playwright/test', 'playwright', 'playwright-core'];

/** Launches an installed Chromium. @param path of its executable; without it, it is looked for. @throws `unsupported` if Playwright or Chromium is missing */
export async function launchChromium(path: string | undefined): Promise<Browser> {
  const chromium = await loadPlaywright();
  const failures: string[] = [];
  for (const options of chromiums(chromium, path)) {
    const name = options.executablePath ?? options.channel ?? "Playwright's own";
    try {
      return await chromium.launch(withGpu(options));
    } catch (error) {
      const [why = ''] = messageOf(error)
        .replace(/^browserType\.launch: /, '')
        .split('\n');
      failures.push(`${name}: ${why}`);
    }
  }
  throw new TabServeError(
    'unsupported',
    `No Chromium could be started. Install one: npx playwright install chromium. Or name one: --browser PATH, or the environment variable CHROMIUM_PATH.\n${failures.join('\n')}`,
  );
}

async function loadPlaywright(): Promise<BrowserType> {
  for (const name of PACKAGES) {
    try {
      return ((await import(name)) as { chromium: BrowserType }).chromium;
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    }
  }
  throw new TabServeError(
    'unsupported',
    'Playwright is not installed, and tabserve test drives the browser with it. Install it: npm install --save-dev @playwright/test',
  );
}
