import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';

/**
 * What torch-model-archiver makes of `tiny-archive`: `test/models/archives/make.py`. The folder itself is tested
 * against PyTorch in `classifier.spec.ts`.
 */
const ARCHIVES = fileURLToPath(new URL('../models/archives/', import.meta.url));

/** Answers for one image, by the names of `models`. */
async function answers(page: Page, models: readonly string[]): Promise<unknown[]> {
  return await page.evaluate(async (models) => {
    const answers = [];
    for (const name of models) {
      const input = document.getElementById(name) as HTMLInputElement | null;
      const client = await window.tabserve.load(input ? input.files! : name, { backends: ['onnx/wasm'] });
      answers.push(await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] }));
      await client.dispose();
    }
    return answers;
  }, models);
}

test('one archive, two servers: as torch-model-archiver packs it, from a URL and from what the visitor picks @once', async ({
  open,
  browserName,
}) => {
  const page = await open();
  await page.evaluate(() => {
    document.body.insertAdjacentHTML(
      'beforeend',
      '<input type="file" id="file"><input type="file" id="files" multiple><input type="file" id="folder" webkitdirectory>',
    );
  });
  const [expected] = await answers(page, ['/test/models/tiny-archive/']);
  expect(expected).toHaveLength(3);
  // Its other forms are loaded from URLs in `confined.spec.ts`.
  const urls = ['tiny.mar', 'tiny'].map((name) => `/test/models/archives/${name}`);
  expect(await answers(page, urls)).toEqual([expected, expected]);
  await page.setInputFiles('#file', `${ARCHIVES}tiny.tar.gz`);
  expect(await answers(page, ['file'])).toEqual([expected]);
  await page.setInputFiles('#file', {
    name: 'tiny (1).zip',
    mimeType: 'application/zip',
    buffer: readFileSync(`${ARCHIVES}tiny.mar`),
  });
  expect(await answers(page, ['file'])).toEqual([expected]);
  // WebDriver cannot pick a folder in Firefox.
  if (browserName === 'firefox') return;
  await page.setInputFiles('#folder', `${ARCHIVES}tiny`);
  expect(await answers(page, ['folder'])).toEqual([expected]);
});

test('a packed archive is downloaded once, whatever happens to the worker @once', async ({ open }) => {
  const page = await open();
  const downloads: string[] = [];
  page.on('request', (request) => request.url().endsWith('.mar') && downloads.push(request.url()));
  const { progress, before, after } = await page.evaluate(async () => {
    const progress: unknown[] = [];
    const client = window.tabserve.connect(window.workers.faulty, {
      model: '/test/models/archives/tiny.mar',
      backends: ['onnx/wasm'],
    });
    await client.initialize({ onProgress: ({ file, loaded, total }) => progress.push({ file, loaded, total }) });
    const image = { data: new Float32Array(3 * 64).fill(0.5), dims: [3, 8, 8] };
    const before = await client.predict(image);
    const recovered = new Promise((resolve) => client.on('recover', resolve));
    const after = await client.predict(image, window.fault('crash', 'inference', 1));
    await recovered;
    await client.dispose();
    return { progress, before, after };
  });
  expect(after).toEqual(before);
  expect(downloads).toHaveLength(1);
  const { size } = { size: readFileSync(`${ARCHIVES}tiny.mar`).length };
  expect(progress).toContainEqual({ file: 'tiny.mar', loaded: size, total: size });
});

test('a Python handler is refused, before its model is opened; a worker of the app’s own serves it @once', async ({
  open,
}) => {
  const page = await open();
  const result = await page.evaluate(async () => {
    const model = (name: string) => ({ model: `/test/models/archives/${name}.mar`, backends: ['onnx/wasm'] as const });
    const refused = [];
    for (const name of ['python-handler', 'python-file']) {
      const { model: url, ...options } = model(name);
      refused.push(await window.failure(window.tabserve.load(url, options)));
    }
    const named = await window.tabserve.load(model('python-handler').model, {
      handler: 'base_handler',
      backends: ['onnx/wasm'],
    });
    const own = window.tabserve.connect(window.workers.shouting, {
      ...model('python-handler'),
      config: { handler: { imageProcessing: [{ resize: [8, 8] }, 'toTensor'] } },
    });
    await own.initialize();
    const backends = [named.backend?.name, own.backend?.name];
    await Promise.all([named.dispose(), own.dispose()]);
    return { refused, backends };
  });
  for (const [index, name] of ['my_handler:entry', 'my_handler.py'].entries())
    expect(result.refused[index]).toMatchObject({
      code: 'unknown-handler',
      stage: 'load',
      message: expect.stringContaining(`"${name}"`),
    });
  expect(result.backends).toEqual(['wasm', 'wasm']);
});
