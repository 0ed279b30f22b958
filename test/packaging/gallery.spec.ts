import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { test as base, expect, type Page } from '@playwright/test';
import { temporary } from './app.ts';
import { POLICY, serve } from './server.ts';

/** The built gallery, as a host with a strict Content-Security-Policy would serve it. */
const test = base.extend<{ complaints: string[] }, { gallery: string }>({
  gallery: [
    async ({}, use) => {
      const folder = temporary();
      execFileSync('npx', ['vite', 'build', '--outDir', folder, '--logLevel', 'error'], { stdio: 'inherit' });
      const site = await serve([folder], { isolated: true, policy: `${POLICY}; img-src 'self' blob:` });
      await use(`${site.origin}/`);
      await site[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
    { scope: 'worker', timeout: 120_000 },
  ],
  complaints: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await use(complaints);
  },
});

const headline = (page: Page) => page.locator('.top-name');

test('digits: samples, a drawing, a file that is none, and the backend switch', async ({ page, gallery, complaints }) => {
  await page.goto(gallery);
  await page.getByRole('button', { name: 'eight, from MNIST' }).click();
  await expect(headline(page)).toHaveText('eight');
  const bars = await page.getByRole('list', { name: 'Likeliest classes' }).getByRole('listitem').allTextContents();
  expect(bars[0]).toContain('eight');
  expect(bars).toHaveLength(5);
  await expect(page.locator('#timings')).toContainText(/Inference\s*\d/);
  await expect(page.locator('#backend')).toContainText('WebGPU has no adapter here.');

  const pad = (await page.getByRole('img', { name: /Draw a digit here/ }).boundingBox())!;
  const at = (x: number, y: number): [number, number] => [pad.x + pad.width * x, pad.y + pad.height * y];
  await page.getByRole('button', { name: 'Clear' }).click();
  await page.mouse.move(...at(0.5, 0.2));
  await page.mouse.down();
  await page.mouse.move(...at(0.5, 0.8), { steps: 12 });
  await page.mouse.up();
  await expect(headline(page)).toHaveText('one');

  await page.locator('#chooser').setInputFiles({ name: 'notes.png', mimeType: 'image/png', buffer: Buffer.from('no image') });
  await expect(page.locator('#note')).toContainText('image-decode');
  await page.getByRole('button', { name: 'three, drawn' }).click();
  await expect(headline(page)).toHaveText('three');

  await page.getByRole('radio', { name: 'WebGPU' }).check();
  await expect(page.locator('main')).toContainText('no-backend');
  await page.getByRole('radio', { name: 'WASM' }).check();
  await page.getByRole('button', { name: 'seven, drawn' }).click();
  await expect(headline(page)).toHaveText('seven');
  expect(complaints).toEqual([]);
});

test('text orientation', async ({ page, gallery, complaints }) => {
  await page.goto(gallery);
  await page.getByRole('link', { name: 'Text orientation' }).click();
  await page.getByRole('button', { name: 'platform sign, upside down' }).click();
  await expect(headline(page)).toContainText('upside down', { timeout: 30_000 });
  expect(complaints).toEqual([]);
});

test('with the keyboard alone, on a phone', async ({ page, gallery, complaints }) => {
  await page.setViewportSize({ width: 360, height: 740 });
  await page.goto(gallery);
  const sample = page.getByRole('button', { name: 'nine, from MNIST' });
  for (let i = 0; i < 40 && !(await sample.evaluate((element) => element === document.activeElement)); i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await expect(headline(page)).toHaveText('nine');
  expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).toBe(true);
  expect(complaints).toEqual([]);
});
