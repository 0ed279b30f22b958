/**
 * Measures the gallery's first page, built and served by `vite preview`:
 * `npm run gallery && node bench/first-page.mjs`. Quiet machine: LCP at most 1.0 s, CLS at most 0.02.
 */
import { chromium } from '@playwright/test';
import { preview, runnerImport } from 'vite';

const { module } = await runnerImport(new URL('../scripts/chromium.ts', import.meta.url).pathname);
const server = await preview({ preview: { port: 0 } });
const browser = await chromium.launch({ ...(module.chromiumPath && { executablePath: module.chromiumPath }) });
for (let run = 0; run < 5; run++) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.addInitScript(() => {
    globalThis.measured = { lcp: 0, cls: 0 };
    new PerformanceObserver((list) => (globalThis.measured.lcp = list.getEntries().at(-1).startTime)).observe({
      type: 'largest-contentful-paint',
      buffered: true,
    });
    new PerformanceObserver((list) => {
      for (const { value } of list.getEntries()) globalThis.measured.cls += value;
    }).observe({ type: 'layout-shift', buffered: true });
  });
  await page.goto(server.resolvedUrls.local[0]);
  await page.getByText('Kill the worker, and see what happens.').waitFor({ timeout: 60_000 });
  const { lcp, cls } = await page.evaluate(() => globalThis.measured);
  console.log(`LCP ${(lcp / 1000).toFixed(2)} s, CLS ${cls.toFixed(4)}`);
  await page.close();
}
await browser.close();
await server.close();
