import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { chromiumArgs, chromiumPath } from '../../scripts/chromium.ts';
import { expect, test } from '../packaging/fixtures.ts';
import { serve } from '../packaging/server.ts';
import { freshApp, npm } from './fresh-app.ts';

/** The apps of `examples/`, installed and built as their README says. */
test.use({
  launchOptions: {
    args: [...chromiumArgs.wasm, '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
    ...(chromiumPath && { executablePath: chromiumPath }),
  },
});

const sample = (path: string): string => fileURLToPath(new URL(`../../public/models/${path}`, import.meta.url));
const digit = sample('digits/samples/drawn-7.png');

const pick = async (page: Page, file: string): Promise<void> => await page.locator('input').setInputFiles(file);

const EXAMPLES: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  plain: async (page) => {
    await expect(page.locator('output')).toHaveText('Ready, on wasm.', { timeout: 60_000 });
    await pick(page, digit);
    await expect(page.locator('output')).toHaveText('seven: 94 %');
  },
  kserve: async (page) => {
    // No KServe runs here.
    await expect(page.locator('output')).toHaveText('This device answers.', { timeout: 60_000 });
    await pick(page, digit);
    await expect(page.locator('output')).toHaveText(/^seven: 0\.94\d*, by the device$/);
  },
  camera: async (page) => {
    await page.locator('button').click();
    await expect(page.locator('output')).toHaveText(/^wasm: \d+ ms, frame ([2-9]|\d\d+), \d+ skipped$/, {
      timeout: 60_000,
    });
  },
};

for (const [name, check] of Object.entries(EXAMPLES)) {
  test(`examples/${name}`, async ({ tarball, page, complaints }) => {
    const folder = await freshApp(tarball, name, 'examples');
    try {
      await npm(folder, 'run', 'build');
      await using site = await serve([name === 'plain' ? folder : `${folder}/dist`, `${folder}/public`], {
        policy: '',
      });
      await page.goto(site.origin);
      await check(page);
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}
