import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@playwright/test';
import axe from 'axe-core';
import { once } from './once.ts';
import { serve } from './server.ts';

const LOOKS = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

test('the site: links lead somewhere, pages have their Markdown, nothing of another origin, axe finds nothing @full', async ({
  browser,
}) => {
  test.setTimeout(1_200_000);
  const folder = await once('site', async (into) => {
    await promisify(execFile)('npx', ['vitepress', 'build', 'scripts/site', '--outDir', into]);
  });
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const pages = files.filter((name) => name.endsWith('.html') && name !== '404.html');
  expect(pages.length).toBeGreaterThan(60);
  for (const name of pages) {
    const html = readFileSync(join(folder, name), 'utf8');
    if (name !== 'index.html') expect(files).toContain(name.replace('.html', '.md'));
    for (const [, href] of html.matchAll(/<a [^>]*href="(\/(?!gallery\/)[^"]*)"/g)) {
      const [path, anchor] = href!.split('#') as [string, string?];
      const target = join(folder, path.endsWith('/') ? `${path}index.html` : path);
      expect(existsSync(target), `${name} links ${href}`).toBe(true);
      if (anchor) expect(readFileSync(target, 'utf8'), `${name} links ${href}`).toContain(`id="${anchor}"`);
    }
  }

  await using site = await serve([folder], { policy: '' });
  const context = await browser.newContext();
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  page.on('request', (request) => {
    if (!request.url().startsWith(site.origin)) complaints.push(request.url());
  });
  for (const path of pages)
    for (const { width, colorScheme } of LOOKS) {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      await page.goto(`${site.origin}/${path}`);
      await expect(page.getByRole('main')).toBeVisible();
      await page.evaluate(axe.source);
      const { violations, overflow } = await page.evaluate(async () => ({
        violations: (await window.axe.run()).violations.flatMap(({ id, nodes }) =>
          nodes.map(({ target }) => `${id}: ${target.join(' ')}`),
        ),
        overflow: document.documentElement.scrollWidth - innerWidth,
      }));
      expect
        .soft({ violations, overflow }, `${path}, ${width}, ${colorScheme}`)
        .toEqual({ violations: [], overflow: 0 });
    }
  // Search is on the device.
  await page.setViewportSize({ width: 1280, height: 900 });
  await page.getByRole('button', { name: 'Search' }).click();
  await page.getByRole('searchbox').fill('promptable_segmenter');
  await expect(page.locator('.result').first()).toContainText('segment', { ignoreCase: true });
  expect(complaints).toEqual([]);
  await context.close();
});
