import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '../packaging/fixtures.ts';
import { serve } from '../packaging/server.ts';
import { freshApp, npm, startServer } from './fresh-app.ts';

/** The hook in Vite's dev server: an edit of the component, which fast refresh puts in place, keeps the one worker. */

const photo = fileURLToPath(new URL('../../public/models/nanodet/samples/party.jpg', import.meta.url));

for (const version of ['19.3.1', '18.3.1']) {
  test(`React ${version}: fast refresh leaves one worker and one download`, async ({ tarball, page, complaints }) => {
    const folder = await freshApp(tarball, 'vite-react', 'examples', { react: version, 'react-dom': version });
    const counts = { loads: 0, workers: 0, downloads: 0 };
    page.on('load', () => counts.loads++);
    page.on('worker', () => counts.workers++);
    page.on('request', (request) => void (request.url().endsWith('/nanodet/model.onnx') && counts.downloads++));
    const edit = (from: string, to: string): void => {
      const file = join(folder, 'src/App.tsx');
      const text = readFileSync(file, 'utf8');
      expect(text).toContain(from);
      writeFileSync(file, text.replace(from, to));
    };
    const party = ['person: 67 %', 'person: 67 %', 'wine glass: 55 %'];
    try {
      await using site = await startServer(folder, ['vite/bin/vite.js', '--host', '127.0.0.1', '--port', '0']);
      await page.goto(site.origin);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(party, { timeout: 60_000 });
      const before = { ...counts };
      expect(before).toMatchObject({ loads: 1, downloads: 1 });

      // The state is kept.
      edit('A photo', 'A picture');
      await expect(page.locator('label')).toHaveText(/A picture/);
      await expect(page.locator('li')).toHaveText(party);
      // One more hook: React mounts the component anew.
      edit('useState<string>();', 'useState<string>();\n  const [words] = useState("Any picture");');
      edit('A picture', '{words}');
      await expect(page.locator('label')).toHaveText(/Any picture/);
      await expect(page.locator('li')).toHaveCount(0);
      await page.locator('input').setInputFiles([]);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(party);
      expect(counts).toEqual(before);

      // Other options are another client.
      edit("handler: 'object_detector'", "handler: 'object_detector', config: { handler: { maxDetections: 1 } }");
      // With the former options, a photo would go to the client that is disposed of.
      edit('{words}', '{words}, one object');
      await expect(page.locator('label')).toHaveText(/one object/);
      await page.locator('input').setInputFiles([]);
      await page.locator('input').setInputFiles(photo);
      await expect(page.locator('li')).toHaveText(party.slice(0, 1), { timeout: 60_000 });
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
