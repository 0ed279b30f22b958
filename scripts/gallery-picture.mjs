/**
 * Takes the pictures of the gallery for README.md, light and dark, of the built gallery:
 * `npm run gallery && node scripts/gallery-picture.mjs`. They wait until the first page has its own answer.
 */
import { chromium } from '@playwright/test';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { preview, runnerImport } from 'vite';

const FOLDER = fileURLToPath(new URL('../docs/', import.meta.url));

const { module } = await runnerImport(new URL('./chromium.ts', import.meta.url).pathname);
const server = await preview({ preview: { port: 0 } });
const browser = await chromium.launch({ ...(module.chromiumPath && { executablePath: module.chromiumPath }) });
for (const colorScheme of /** @type {const} */ (['light', 'dark'])) {
  const page = await browser.newPage({ viewport: { width: 1280, height: 780 }, colorScheme });
  await page.goto(server.resolvedUrls.local[0]);
  await page.getByText('Kill the worker, and see what happens.').waitFor({ timeout: 60_000 });
  await page.waitForLoadState('networkidle');
  await sharp(await page.screenshot())
    .webp({ quality: 80 })
    .toFile(`${FOLDER}gallery-${colorScheme}.webp`);
  await page.close();
}
await browser.close();
await server.close();
