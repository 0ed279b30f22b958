/**
 * Transforms on a GPU: the same bytes as on the CPU, nothing that stays behind, and what a request through the client
 * makes of it.
 */
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Page } from '@playwright/test';
import type { Border } from '../../src/worker/transforms/crop-kernel.ts';
import type * as Gpu from './pages/gpu.ts';
import { expect, test } from './fixtures.ts';

// The page changes what classes of the browser say.
test.use({ reuseTab: false });

declare const gpu: typeof Gpu.gpu;

test.skip(({ backend }) => backend !== 'webgpu', 'only WebGPU transforms images on the GPU');

async function openGpu(page: Page): Promise<void> {
  await page.goto('/test/browser/pages/gpu.html');
  await page.waitForFunction(() => 'gpu' in window);
}

test('random sizes, steps and sources: no byte differs from the CPU’s', async ({ page, full }) => {
  test.setTimeout(full ? 600_000 : 90_000);
  await openGpu(page);
  const { run, differing } = await page.evaluate((count) => gpu.compareCases(1, count), full ? 200 : 24);
  expect(differing).toEqual([]);
  expect(run).toBe(full ? 200 : 24);
});

test('crops: no number differs from the CPU’s, and they are OpenCV’s and scipy’s', async ({ page }) => {
  await openGpu(page);
  const goldens = JSON.parse(
    gunzipSync(readFileSync(new URL('../goldens/people/crops.json.gz', import.meta.url))).toString(),
  ) as readonly (Readonly<Record<Border, string>> & { readonly crop: readonly number[] })[];
  const cases = goldens.flatMap(({ crop, ...golden }) => {
    const [x, y, width, height, angle, columns, rows] = crop as [
      number,
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    const region = { x, y, width, height, angle };
    return (['replicate', 'zero', 'cut'] as const).map((border) => ({
      region,
      columns,
      rows,
      border,
      expected: [...Buffer.from(golden[border], 'base64')],
    }));
  });
  const { fromCpu, fromExpected, all } = await page.evaluate((given) => gpu.compareCrops(given, 131, 97), cases);
  expect(fromCpu).toEqual({ most: 0, count: 0 });
  // OpenCV computes in float32, and scipy in float64: as on the CPU, `crop-region.spec.ts`.
  expect(fromExpected.most).toBeLessThanOrEqual(1);
  expect(fromExpected.count / all).toBeLessThan(0.001);
});

test('what is not needed any more is destroyed, and a GPU that cannot do it leaves the image to the CPU', async ({
  page,
}) => {
  await openGpu(page);
  const found = await page.evaluate(async () => {
    const { device, live } = await gpu.openDevice();
    const cpu = gpu.compileTransforms(gpu.parseTransforms([{ resize: [20, 30] }, { toTensor: {} }]));
    const transforms = gpu.compileGpuTransforms(device, cpu);
    const opened = async (side: number) => await gpu.openImage(gpu.picture(side, side, false), side, side, 'bitmap');
    const counts: number[] = [];
    // The same size again and again, then another one each time; two rows at a time.
    for (const side of [40, 40, 40, 41, 42, 43]) {
      const rows = await Promise.all([transforms.run(await opened(side)), transforms.run(await opened(side))]);
      rows.forEach((row) => row!.release());
      counts.push(live());
    }
    const closed = await createImageBitmap(new ImageData(40, 40));
    const image = await gpu.decodeImage(closed);
    closed.close();
    const failure = await transforms.run(image).then(
      () => 'none',
      (error: Error) => error.name,
    );
    const clear = await createImageBitmap(new ImageData(40, 40));
    const transparent = await transforms.run(await gpu.decodeImage(clear));
    const gray = await transforms.run({
      ...(await opened(40)),
      bitmap: undefined,
      width: 40,
      height: 40,
      read: () => ({ format: 'L', width: 40, height: 40, stride: 40, data: new Uint8Array(1600) }),
    });
    transforms.dispose();
    const left = live();
    device.destroy();
    const lost = await transforms.run(await opened(40)).then(
      () => 'none',
      () => 'an error',
    );
    return { counts, failure, transparent, gray, left, lost };
  });
  expect(new Set(found.counts).size).toBe(1);
  expect(found).toMatchObject({ failure: 'InvalidStateError', transparent: undefined, gray: undefined, left: 0 });
  expect(found.lost).toBe('an error');
});

test('a classifier: bitmaps go to the model by the GPU, with the same answers, where nobody reads their tensors', async ({
  page,
}) => {
  await openGpu(page);
  const found = await page.evaluate(async () => {
    const { classify, classifyOnCpu, copies, warnings, lose } = await gpu.openClassifiers();
    const bitmapOf = async (alpha: number): Promise<ImageBitmap> => {
      const data = gpu.picture(600, 500, false);
      data[4 * 150_000 + 3] = alpha;
      return await createImageBitmap(new ImageData(data, 600, 500));
    };
    const [opaque, transparent] = [await bitmapOf(255), await bitmapOf(128)];
    // The CPU reads bitmaps so fast that it would win on a GPU in software.
    const { copyTo } = VideoFrame.prototype;
    VideoFrame.prototype.copyTo = async function slowly(...args) {
      for (const start = performance.now(); performance.now() < start + 500;);
      return await copyTo.apply(this, args);
    };
    const first = await classify(opaque);
    // The trial: one for the bytes, three for the time.
    while (copies() < 4) await new Promise((resolve) => setTimeout(resolve, 50));
    let told = await classify(opaque);
    while (told.trial.length === 0) told = await classify(opaque);
    const answers = {
      first,
      told,
      onGpu: await classify(opaque),
      overridden: await classifyOnCpu(opaque),
      batch: await classify(opaque, opaque),
    };
    const clear = [await classify(transparent), await classifyOnCpu(transparent)] as const;
    lose();
    const lost = await classify(opaque).then(
      () => 'none',
      (error: { code: string }) => error.code,
    );
    return { ...answers, clear, warnings, lost };
  });
  const { scores } = found.first;
  expect(found.first.copied).toBe(0);
  expect(found.told.trial.map(({ name, labels }) => [name, labels])).toEqual(
    ['cpu', 'gpu'].map((on) => ['ImageTransformTime', { images: 'bitmaps of 0.25 MiP', chosen: 'gpu', on }]),
  );
  expect(found.onGpu).toMatchObject({ copied: 1, scores });
  expect(found.overridden).toMatchObject({ copied: 0, scores });
  expect(found.batch).toMatchObject({ copied: 0, scores: [...scores, ...scores] });
  expect(found.clear[0].scores).toEqual(found.clear[1].scores);
  expect(found.clear[0].scores).not.toEqual(scores);
  expect(found.warnings).toEqual([]);
  expect(found.lost).toBe('device-lost');
});

test('a model of landmarks: of a frame that the GPU has copied once, it cuts several crops @full', async ({ page }) => {
  await openGpu(page);
  const found = await page.evaluate(async () => {
    const { run, runOnCpu, copies, warnings } = await gpu.openLandmarks();
    const frameOf = async (): Promise<ImageBitmap> =>
      await createImageBitmap(new ImageData(gpu.picture(600, 500, false), 600, 500));
    // As above.
    const { copyTo } = VideoFrame.prototype;
    VideoFrame.prototype.copyTo = async function slowly(...args) {
      for (const start = performance.now(); performance.now() < start + 500;);
      return await copyTo.apply(this, args);
    };
    const regions = [0.1, -0.4, 2].map((angle) => ({ x: 300, y: 200, width: 90 + 10 * angle, height: 80, angle }));
    const first = await run(await frameOf(), regions);
    // The trial has four frames: one for the bytes, three for the time.
    while (copies() < 4) await new Promise((resolve) => setTimeout(resolve, 50));
    let told = await run(await frameOf(), regions);
    while (told.trial.length === 0) told = await run(await frameOf(), regions);
    const onGpu = await run(await frameOf(), regions);
    return { first, told, onGpu, onCpu: await runOnCpu(await frameOf(), regions), warnings };
  });
  const { numbers } = found.onCpu;
  expect(new Set(numbers.map(String)).size).toBe(3);
  expect(found.told.trial.map(({ labels }) => labels)).toEqual(
    ['cpu', 'gpu'].map((on) => ({ images: 'crops of bitmaps of 0.25 MiP', chosen: 'gpu', on })),
  );
  expect(found.first.numbers).toEqual(numbers);
  expect(found.onGpu).toMatchObject({ copied: 1, numbers });
  expect(found.onCpu.copied).toBe(0);
  expect(found.warnings).toEqual([]);
});

test('a GPU that makes other bytes transforms nothing, and the developer is told @full', async ({ page }) => {
  await openGpu(page);
  const warnings = await page.evaluate(async () => {
    const { classify, copies, warnings } = await gpu.openClassifiers(true);
    const bitmap = await createImageBitmap(new ImageData(gpu.picture(600, 500, false), 600, 500));
    await classify(bitmap);
    while (warnings.length === 0) await new Promise((resolve) => setTimeout(resolve, 50));
    const before = copies();
    await classify(bitmap);
    return [...warnings, copies() - before];
  });
  expect(warnings).toEqual(['Images are transformed on the CPU. The GPU transforms them differently.', 0]);
});

test('1080p on this GPU, as a bitmap and as pixels, beside the CPU', async ({ page, full }) => {
  test.skip(!full, 'a measurement: npm run test:full prints it');
  await openGpu(page);
  const times = await page.evaluate(async () => {
    const { device } = await gpu.openDevice();
    const steps = [
      { resize: 256 },
      { centerCrop: 224 },
      { toTensor: {} },
      { normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } },
    ];
    const cpu = gpu.compileTransforms(gpu.parseTransforms(steps));
    const transforms = gpu.compileGpuTransforms(device, cpu);
    const found: Record<string, unknown> = {};
    for (const source of ['bitmap', 'RGBX'] as const) {
      const image = await gpu.openImage(gpu.picture(1920, 1080, false), 1920, 1080, source);
      const trial = await gpu.compare(() => image, cpu, transforms, device);
      // Many at once: the time of one, without the wait for an answer.
      const many = 50;
      const started = performance.now();
      const rows = await Promise.all(Array.from({ length: many }, () => transforms.run(image)));
      await device.queue.onSubmittedWorkDone();
      found[source] = { ...trial, throughput: (performance.now() - started) / many };
      rows.forEach((row) => row!.release());
    }
    const { vendor, architecture, isFallbackAdapter } = device.adapterInfo;
    return { ...found, adapter: `${vendor} ${architecture}${isFallbackAdapter ? ', software' : ''}` };
  });
  console.log(JSON.stringify(times, null, 2));
  expect(times).toMatchObject({ bitmap: { isEqual: true }, RGBX: { isEqual: true } });
});
