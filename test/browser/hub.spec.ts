import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext } from '@playwright/test';
import { MadeUpHub, type HubFile } from '../hub.ts';
import { expect, test, type Failure } from './fixtures.ts';

const FOLDER = fileURLToPath(new URL('../models/hugging-face/vit/', import.meta.url));
const file = (path: string, isLarge = false): HubFile => ({ bytes: readFileSync(join(FOLDER, path)), isLarge });
const VIT = {
  'config.json': file('config.json'),
  'preprocessor_config.json': file('preprocessor_config.json'),
  'onnx/model.onnx': file('onnx/model.onnx', true),
};
const MODEL_URL = 'https://huggingface.co/org/vit/resolve/main/onnx/model.onnx';

declare const onBytes: () => void;

interface Loaded {
  readonly failure?: Failure;
  readonly labels?: readonly string[];
  /** What the browser's console says. */
  readonly complaints: readonly string[];
}

/** Loads a model in a new tab, and waits until its files are stored. */
async function load(context: BrowserContext, address: string, arrived = () => {}): Promise<Loaded> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
  await page.exposeFunction('onBytes', arrived);
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  const result = await page.evaluate(
    async ([address, model]) => {
      const { load, cache } = window.tabserve;
      const client = await load(address!, {
        handler: 'image_classifier',
        backends: ['onnx/wasm'],
        onProgress: ({ file, loaded }) => void (file === 'onnx/model.onnx' && loaded > 0 && onBytes()),
      }).catch(async (error: unknown) => await window.failure(Promise.reject(error)));
      if ('code' in client) return { failure: client };
      const labels = await client.predict(new ImageData(16, 16));
      while (!(await cache.list()).some(({ url }) => url === model))
        await new Promise((resolve) => requestAnimationFrame(resolve));
      await client.dispose();
      return { labels: labels.map(({ label }) => label) };
    },
    [address, MODEL_URL],
  );
  await page.close();
  return { ...result, complaints };
}

test('a repository of a made-up hub: a broken download continues, a later visit asks for the list, and none without a connection @once', async ({
  browser,
  launchOptions,
  baseURL,
  browserName,
}) => {
  test.skip(browserName !== 'chromium', 'The addresses of the Hub lead to this machine by an option of Chromium');
  const hub = await MadeUpHub.start({ repositories: { 'org/vit': VIT }, isSecure: true });
  const own = await browser.browserType().launch({
    ...launchOptions,
    args: [
      ...launchOptions.args!,
      `--host-resolver-rules=MAP huggingface.co:443 127.0.0.1:${hub.port},MAP *.hf.co:443 127.0.0.1:${hub.port}`,
      '--ignore-certificate-errors',
    ],
  });
  try {
    const context = await own.newContext({ baseURL: baseURL! });
    let resolve = (): void => {};
    const arrived = new Promise<void>((done) => (resolve = done));
    hub.plan(/^\/xet-bridge-us/, { kind: 'cut', at: 0.4, arrived });
    const first = await load(context, 'hf:org/vit', resolve);
    expect(first.failure).toBeUndefined();
    // The connection that broke is all that the console has: no file was missing.
    expect(first.complaints.filter((line) => !/ERR_CONTENT_LENGTH_MISMATCH|ERR_CONNECTION/.test(line))).toEqual([]);
    const signed = hub.asked.filter(({ url }) => url.host === 'cas-bridge.xethub.hf.co');
    const from = Number(/^bytes=(\d+)-$/.exec(signed.at(-1)!.headers.get('range')!)?.[1]);
    expect(from).toBeGreaterThan(0);
    expect(signed.map(({ method }) => method)).toEqual(['GET', 'GET']);
    expect(new Set(signed.map(({ url }) => url.search)).size).toBe(2);

    const before = hub.paths.length;
    expect((await load(context, 'https://huggingface.co/org/vit')).labels).toEqual(first.labels);
    expect(hub.paths.slice(before)).toEqual(['/api/models/org/vit/revision/main']);
    expect((await load(context, 'hf:org/other')).failure).toMatchObject({
      code: 'model-not-found',
      message: expect.stringContaining('no public model org/other'),
    });
    hub.stop();
    expect((await load(context, 'https://hf.co/org/vit')).labels).toEqual(first.labels);
  } finally {
    hub.stop();
    await own.close();
  }
});
