// The samples of docs that need a build: configs of Vite, and an app that loads the worker from a folder of its own.
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { copyAssets, install, node, sizes } from './app.ts';
import { expect, test } from './fixtures.ts';
import { serve } from './server.ts';

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const VITE = ['node_modules/vite/bin/vite.js', 'build'] as const;
const PAGE =
  '<!doctype html><img src="/models/digits/samples/drawn-3.png" alt=""><script type="module" src="/copied.ts"></script>';

test('copied.ts with vite.config.ts, vite-offline.config.ts and vite-service-worker.config.ts @full', async ({
  tarball,
  page,
}) => {
  const folder = await install(tarball, 'vite');
  try {
    symlinkSync(root('node_modules/vite-plugin-pwa'), join(folder, 'node_modules/vite-plugin-pwa'), 'dir');
    writeFileSync(join(folder, 'index.html'), PAGE);
    copyFileSync(root('test/readme/copied.ts'), join(folder, 'copied.ts'));
    await copyAssets(folder, 'public/tabserve');

    copyFileSync(root('test/types/vite.config.ts'), join(folder, 'vite.config.ts'));
    await node(folder, ...VITE);
    const built = Object.keys(sizes(join(folder, 'dist/assets')));
    expect(built).toContainEqual(expect.stringMatching(/^onnx-wasm-.*\.js$/));
    expect(built).toContainEqual(expect.stringMatching(/^onnx-webgpu-.*\.js$/));
    expect(built.filter((name) => /tfjs|webgl/.test(name))).toEqual([]);
    await using site = await serve([join(folder, 'dist')], { policy: '' });
    const lines: Promise<unknown>[] = [];
    page.on('console', (message) => message.type() === 'log' && lines.push(message.args()[0]!.jsonValue()));
    await page.goto(site.origin);
    await expect.poll(() => lines.length, { timeout: 60_000 }).toBe(1);
    expect(((await lines[0]) as readonly { label: string }[])[0]!.label).toBe('three');
    expect([...site.sent.keys()]).toContain('/tabserve/worker.js');

    copyFileSync(root('test/types/vite-offline.config.ts'), join(folder, 'vite.config.ts'));
    await node(folder, ...VITE);
    const worker = readFileSync(join(folder, 'dist/sw.js'), 'utf8');
    const listed = Array.from(worker.matchAll(/url:"([^"]+)"/g), ([, url]) => url!);
    expect(listed).toContain('index.html');
    expect(listed.filter((url) => /\.wasm$|\.onnx$|^models\//.test(url))).toEqual([]);

    copyFileSync(root('test/types/vite-service-worker.config.ts'), join(folder, 'vite.config.ts'));
    copyFileSync(root('test/readme/fetch.sw.ts'), join(folder, 'sw.ts'));
    await node(folder, ...VITE);
    expect(readFileSync(join(folder, 'dist/sw.js'), 'utf8')).toContain('device-first');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
