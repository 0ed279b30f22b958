import { DEVTOOLS_ONLY, expect, test } from './fixtures.ts';
import type { Page } from '@playwright/test';

// What is left is counted in a process of its own.
test.use({ reuseTab: false });

test.skip(({ browserName }) => browserName !== 'chromium', DEVTOOLS_ONLY);

/** After dispose nothing is left: no client, no worker, no port, no Blob. */

const MODEL = '/test/models/affine_fixed.onnx';

/** How many objects of a class are reachable on the page, after garbage collection. */
async function count(page: Page, prototype: string): Promise<number> {
  const session = await page.context().newCDPSession(page);
  try {
    await session.send('HeapProfiler.collectGarbage');
    const { result } = await session.send('Runtime.evaluate', { expression: prototype, objectGroup: 'leaks' });
    const { objects } = await session.send('Runtime.queryObjects', { prototypeObjectId: result.objectId! });
    const { result: length } = await session.send('Runtime.callFunctionOn', {
      objectId: objects.objectId!,
      functionDeclaration: 'function () { return this.length; }',
    });
    await session.send('Runtime.releaseObjectGroup', { objectGroup: 'leaks' });
    return length.value as number;
  } finally {
    await session.detach();
  }
}

/** What one life of a client leaves on the page, by class. */
const CLASSES = ['Worker.prototype', 'MessagePort.prototype', 'Blob.prototype', 'clientPrototype'] as const;

async function counts(page: Page): Promise<Record<string, number>> {
  const found: Record<string, number> = {};
  for (const name of CLASSES) found[name] = await count(page, name);
  return found;
}

test('nothing of a client is reachable after dispose, nor of a worker that was replaced @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const live = async (): Promise<void> =>
    await page.evaluate(
      async ({ model, backend }) => {
        const client = window.tabserve.connect(window.workers.faulty, { model, backends: [backend], maxRuns: 3 });
        Object.assign(window, { clientPrototype: Object.getPrototypeOf(client) });
        client.on('recover', () => client.backend);
        await client.initialize({ onProgress: () => client.backend });
        const input = () => ({ data: new Float32Array([1, 2, 3, 4]), dims: [4] }) as never;
        // A worker that dies, one that is replaced because it is worn, requests that abort, time out and fail.
        await client.predict(input(), window.fault('close', 'inference', 1));
        const controller = new AbortController();
        const aborted = client.predict(input(), { signal: controller.signal }).catch(() => {});
        controller.abort();
        await aborted;
        await client.predict(input(), { timeout: 60_000 });
        await client.predict(5 as never).catch(() => {});
        for (let run = 0; run < 4; run++) await client.predict(input());
        await client.describe();
        await client.dispose();
      },
      { model: MODEL, backend },
    );
  // The first life makes what stays for good: the engine's modules, the cached probe.
  await live();
  const before = await counts(page);
  for (let life = 0; life < 3; life++) await live();
  await expect.poll(async () => await counts(page), { timeout: 30_000 }).toEqual(before);
  expect(before['clientPrototype']).toBe(0);
  expect(page.workers()).toHaveLength(0);
});

test('a client that is disposed of while it loads leaves nothing @once', async ({ open }) => {
  const page = await open();
  await page.evaluate(async (model) => {
    for (const wait of [0, 20, 200]) {
      const client = window.tabserve.connect(window.workers.faulty, { model, backends: ['wasm'] });
      Object.assign(window, { clientPrototype: Object.getPrototypeOf(client) });
      const initializing = client.initialize().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, wait));
      await client.dispose();
      await initializing;
    }
  }, MODEL);
  await expect.poll(async () => await count(page, 'clientPrototype')).toBe(0);
  await expect.poll(async () => await count(page, 'Worker.prototype')).toBe(0);
  await expect.poll(() => page.workers().length).toBe(0);
});
