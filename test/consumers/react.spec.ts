import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { temporary } from '../packaging/app.ts';
import { expect, test } from '../packaging/fixtures.ts';
import { serve } from '../packaging/server.ts';
import { createApp } from './created-app.ts';
import { freshApp, npm, startServer } from './fresh-app.ts';

/** The hook in Vite's dev server: an edit of the component, which fast refresh puts in place, keeps the one worker. */

const photo = fileURLToPath(new URL('../../public/models/digits/samples/drawn-7.png', import.meta.url));

for (const version of ['19.3.1', '18.3.1']) {
  test(`React ${version}: fast refresh leaves one worker and one download`, async ({ tarball, page, complaints }) => {
    const folder = temporary();
    const app = join(folder, 'my-app');
    const counts = { loads: 0, workers: 0, downloads: 0 };
    page.on('load', () => counts.loads++);
    page.on('worker', () => counts.workers++);
    page.on('request', (request) => void (request.url().endsWith('/digits/digits.onnx') && counts.downloads++));
    // In one write: of two that follow at once, Vite's watcher may see only the first.
    const edit = (changes: Readonly<Record<string, string>>, name = 'App.tsx'): void => {
      const file = join(app, 'src', name);
      let text = readFileSync(file, 'utf8');
      for (const [from, to] of Object.entries(changes)) {
        expect(text).toContain(from);
        text = text.replace(from, to);
      }
      writeFileSync(file, text);
    };
    const seven = ['seven94 %', 'one3 %', 'two1 %'];
    try {
      const versions = { react: version, 'react-dom': version };
      await createApp(app, tarball, { template: 'photo', framework: 'react' }, versions);
      await using site = await startServer(app, ['vite/bin/vite.js', '--host', '127.0.0.1', '--port', '0']);
      await page.goto(site.origin);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(seven, { timeout: 60_000 });
      const before = { ...counts };
      expect(before).toMatchObject({ loads: 1, downloads: 1 });

      // The state is kept.
      edit({ 'Choose a photo': 'A picture' });
      await expect(page.locator('label')).toHaveText(/A picture/);
      await expect(page.locator('li')).toHaveText(seven);
      // One more hook: React mounts the component anew.
      edit({
        'useState<Error>();': 'useState<Error>();\n  const [words] = useState("Any picture");',
        'A picture': '{words}',
      });
      await expect(page.locator('label')).toHaveText(/Any picture/);
      await expect(page.locator('li')).toHaveCount(0);
      await page.locator('input').setInputFiles([]);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(seven);
      expect(counts).toEqual(before);

      // Other options are another client.
      const labels = "labels: ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9']";
      edit(
        { "handler: 'image_classifier'": `handler: 'image_classifier', config: { handler: { ${labels} } }` },
        'model.ts',
      );
      // With the former options, a photo would go to the client that is disposed of.
      edit({ '{words}': '{words}, in digits' });
      await expect(page.locator('label')).toHaveText(/in digits/);
      await page.locator('input').setInputFiles([]);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(['794 %', '13 %', '21 %'], { timeout: 60_000 });
      await expect.poll(() => counts.workers).toBe(2 * before.workers);
      await expect.poll(() => page.workers().length).toBe(before.workers);
      expect(complaints.filter((text) => !text.includes('404'))).toEqual([]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test('Next.js renders the hook on the server, and the browser goes on from there', async ({ tarball, page }) => {
  const folder = await freshApp(tarball, 'next');
  try {
    await npm(folder, 'run', 'build');
    const html = readFileSync(join(folder, 'out/hook.html'), 'utf8');
    expect(html).toContain('<p id="eager">loading</p>');
    await using site = await serve([join(folder, 'out'), join(folder, 'public')], { policy: '' });
    await page.goto(`${site.origin}/hook.html`);
    await expect(page.locator('#eager')).toHaveText('ready', { timeout: 60_000 });
    await expect(page.locator('#suspense')).toHaveText('ready');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
