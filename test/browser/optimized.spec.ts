import { readFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import type { Precision } from '../../src/contract/precisions.ts';
import { type BackendOptions, expect, FULL_ONLY, test } from './fixtures.ts';

/**
 * An archive with its model in three precisions (`test/models/optimized`): the smallest that is right runs.
 */
async function classify(page: Page, backend: BackendOptions['backend'], dtype?: Precision) {
  const asked: string[] = [];
  page.on('request', (request) => {
    const [, path] = /\/optimized\/(model.*\.onnx)$/.exec(request.url()) ?? [];
    if (path !== undefined) asked.push(path);
  });
  const answer = await page.evaluate(
    async ({ backend, dtype }) => {
      const client = await window.tabserve.load('/test/models/optimized/', {
        handler: 'image_classifier',
        backends: [backend],
        cache: 'none',
        ...(dtype && { config: { engine: { dtype } } }),
      });
      const photo = new ImageData(
        new Uint8ClampedArray(256).map((_, at) => (at % 4 === 3 ? 255 : (at * 37) % 256)),
        8,
        8,
      );
      const scores = await client.predict(photo);
      const { backend: used } = client;
      const log = client.diagnose();
      const info = await client.describe();
      await client.dispose();
      return { scores, used, log, info: JSON.stringify(info) };
    },
    { backend, dtype },
  );
  page.removeAllListeners('request');
  return { ...answer, asked };
}

test('the smallest weights that are right run, and no other file is downloaded', async ({ open, backend, full }) => {
  test.skip(backend === 'webgl', 'ONNX Runtime WebGL has float32 weights alone');
  test.skip(backend === 'webgpu' && !full, FULL_ONLY);
  const page = await open();
  const largest = await classify(page, backend, 'fp32');
  expect(largest).toMatchObject({
    used: { name: backend, engine: 'onnx', precision: 'fp32', proof: 'golden' },
    asked: ['model.onnx'],
  });
  const small = await classify(page, backend);
  expect(small, small.log).toMatchObject({
    used: { precision: 'int8-weights', proof: 'golden' },
    asked: ['model-int8.onnx'],
  });
  // The golden example says that 8 bits differ, on this backend too: by their labels alone they would not be known to
  // be right.
  expect(small.used!.largestError).toBeGreaterThan(1e-3);
  expect(small.scores[0]!.label).toBe(largest.scores[0]!.label);
  // The same archive without its word that labels are enough.
  await page.route('**/optimized/tabserve.json', async (route) => {
    const text = await (await route.fetch()).text();
    await route.fulfill({ contentType: 'application/json', body: text.replace(/,\s*"agreement": "labels"/, '') });
  });
  await page.evaluate(() => window.tabserve.clearVerdicts());
  const half = await classify(page, backend);
  expect(half, half.log).toMatchObject({
    used: {
      precision: 'float16-weights',
      proof: 'golden',
      skipped: [
        {
          name: backend,
          precision: 'int8-weights',
          reason: expect.stringMatching(/^It computes wrongly: on golden\.safetensors, output "logits" is off by /),
        },
      ],
    },
    asked: ['model-int8.onnx', 'model-float16.onnx'],
  });
  expect(half.log).toMatch(new RegExp(`onnx/${backend} does not run the model in int8-weights: It computes wrongly`));
  for (const { label, score } of half.scores)
    expect(largest.scores.find((one) => one.label === label)?.score ?? 0).toBeCloseTo(score, 2);
  // The next visit downloads what is right at once.
  const again = await classify(page, backend);
  expect(again, again.log).toMatchObject({
    used: {
      precision: 'float16-weights',
      skipped: [
        {
          name: backend,
          precision: 'int8-weights',
          reason: expect.stringMatching(/^At an earlier visit: It computes wrongly: on golden\.safetensors/),
        },
      ],
    },
    asked: ['model-float16.onnx'],
  });
  await page.unrouteAll();
});

test('smaller weights that are damaged are skipped, with the reason; they are asked for again at the next visit @once @full', async ({
  open,
}) => {
  const page = await open();
  const damaged = (await readFile(new URL('../models/optimized/model-int8.onnx', import.meta.url))).subarray(0, 900);
  await page.route('**/optimized/model-int8.onnx', (route) => route.fulfill({ body: damaged }));
  for (const _ of [1, 2])
    expect(await classify(page, 'wasm')).toMatchObject({
      used: {
        precision: 'float16-weights',
        proof: 'golden',
        skipped: [
          {
            name: 'wasm',
            precision: 'int8-weights',
            reason: expect.stringMatching(/^model-int8\.onnx has 900 bytes and is not an ONNX model/),
          },
        ],
      },
      asked: ['model-int8.onnx', 'model-float16.onnx'],
    });
  // The same, found by the hash that tabserve.json expects.
  await page.route('**/optimized/tabserve.json', async (route) => {
    const json = (await (await route.fetch()).json()) as object;
    await route.fulfill({ json: { ...json, files: { 'model-int8.onnx': { bytes: 900, sha256: '0'.repeat(64) } } } });
  });
  const hashed = await classify(page, 'wasm');
  expect(hashed, hashed.log).toMatchObject({
    used: {
      precision: 'float16-weights',
      skipped: [{ precision: 'int8-weights', reason: expect.stringMatching(/model-int8\.onnx has the SHA-256 /) }],
    },
  });
  await page.unrouteAll();
});
