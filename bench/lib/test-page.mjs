/** Chromium on WASM, with the page of the browser tests, for benchmarks that need what it has. */
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { chromium } from '@playwright/test';
import { runnerImport } from 'vite';

/**
 * Starts a browser, and the server of the browser tests.
 * @param {readonly string[]} [args] more arguments of the browser
 * @returns {Promise<{ browser: import('@playwright/test').Browser, goto(page: import('@playwright/test').Page, name:
 *   string): Promise<void>, close(): Promise<void> }>} `goto` opens the tests' page, and waits until it has a global of
 *   this name
 */
export async function openTestPages(args = []) {
  const { module } = await runnerImport(fileURLToPath(new URL('../../scripts/chromium.ts', import.meta.url)), {
    configFile: false,
    logLevel: 'error',
  });
  const { chromiumArgs, chromiumPath } = module;
  const port = 4100 + (process.pid % 900);
  const server = spawn(process.execPath, [fileURLToPath(new URL('../../test/server.mjs', import.meta.url))], {
    env: { ...process.env, PORT: String(port) },
    stdio: 'ignore',
  });
  const browser = await chromium.launch({
    args: [...chromiumArgs.wasm, ...args],
    ...(chromiumPath && { executablePath: chromiumPath }),
  });
  const url = `http://127.0.0.1:${port}/test/browser/pages/tabserve.html`;
  return {
    browser,
    async goto(page, name) {
      // The server builds its pages first.
      for (let tries = 0; ; tries++) {
        const opened = await page.goto(url).then(
          () => page.waitForFunction((wanted) => wanted in window, name),
          () => undefined,
        );
        if (opened) return;
        if (tries === 60) throw new Error(`${url} did not answer within 60 s.`);
        await new Promise((resolve) => setTimeout(resolve, 1000));
      }
    },
    async close() {
      await browser.close();
      server.kill();
    },
  };
}
