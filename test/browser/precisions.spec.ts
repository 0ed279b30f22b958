import type { Page } from '@playwright/test';
import type { Precision } from '../../src/contract/precisions.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

/**
 * A repository with its model in three precisions (`test/models/hugging-face/precisions.py`): each backend gets its
 * own, and no other is downloaded.
 */
const { color, scores } = readGoldens<{
  readonly color: readonly number[];
  readonly scores: Readonly<Record<'fp32' | 'fp16' | 'q8', Readonly<Record<string, number>>>>;
}>('../models/hugging-face/precisions/expected.json');

/** The paths of the model's files that are asked for from now on. */
function modelRequests(page: Page): string[] {
  const asked: string[] = [];
  page.on('request', (request) => {
    const [, path] = /\/precisions\/(.*\.onnx.*)$/.exec(request.url()) ?? [];
    if (path !== undefined) asked.push(path);
  });
  return asked;
}

/** Loads the model and classifies the photo. */
async function classify(page: Page, backends: readonly ('wasm' | 'webgl' | 'webgpu')[], dtype?: Precision) {
  return await page.evaluate(
    async ({ backends, dtype, color }) => {
      const totals: (number | undefined)[] = [];
      const client = await window.tabserve.load('/test/models/hugging-face/precisions/', {
        handler: 'image_classifier',
        backends,
        cache: 'none',
        ...(dtype && { config: { engine: { dtype } } }),
        onProgress: ({ overall }) => totals.push(overall.loaded, overall.total),
      });
      const photo = new ImageData(
        new Uint8ClampedArray(256).map((_, at) => color[at % 4] ?? 255),
        8,
        8,
      );
      const answer = await client.predict(photo);
      const { backend } = client;
      const log = client.diagnose();
      await client.dispose();
      return { answer, backend, log, half: /"fp16":true/.test(log), end: totals.slice(-2) };
    },
    { backends, dtype, color: [...color] },
  );
}

function expectScores(answer: readonly { label: string; score: number }[], wanted: Readonly<Record<string, number>>) {
  expect(answer.length).toBe(4);
  for (const { label, score } of answer) expect(score, label).toBeCloseTo(wanted[label]!, 4);
}

test('WASM gets 8 bits, or what is chosen, with its external data; one that is missing is named @once', async ({
  open,
}) => {
  const page = await open();
  const asked = modelRequests(page);
  const usual = await classify(page, ['wasm']);
  expect(usual.backend).toMatchObject({ name: 'wasm', precision: 'q8' });
  expect(usual.log).toContain('onnx/wasm gets onnx/model_quantized.onnx (q8).');
  expect(usual.end[0]).toBe(usual.end[1]);
  expectScores(usual.answer, scores.q8);
  expect(asked.splice(0)).toEqual(['onnx/model_quantized.onnx']);
  const half = await classify(page, ['wasm'], 'fp16');
  expect(half.backend).toMatchObject({ name: 'wasm', precision: 'fp16' });
  expectScores(half.answer, scores.fp16);
  expect(asked.splice(0)).toEqual(['onnx/model_fp16.onnx', 'onnx/model_fp16.onnx_data']);
  await expect(classify(page, ['wasm'], 'bnb4')).rejects.toThrow(/onnx\/model_bnb4\.onnx, model_bnb4\.onnx/);
  // Playwright may tell of a request after the page has its answer.
  await expect.poll(() => asked).toEqual(['onnx/model_bnb4.onnx', 'model_bnb4.onnx']);
});

test('a GPU gets another precision than WASM, and is compared with WASM on its own file', async ({ open, backend }) => {
  test.skip(backend === 'wasm', 'it has no GPU');
  const page = await open();
  const asked = modelRequests(page);
  const answer = await classify(page, [backend, 'wasm']);
  const precision = backend === 'webgpu' && answer.half ? 'fp16' : 'fp32';
  expect(answer.backend, answer.log).toMatchObject({
    name: backend,
    precision,
    proof: 'reference',
  });
  expectScores(answer.answer, scores[precision]);
  const files = precision === 'fp16' ? ['onnx/model_fp16.onnx', 'onnx/model_fp16.onnx_data'] : ['onnx/model.onnx'];
  expect(asked).toEqual(files);
  // A precision that the GPU cannot run is not downloaded, and the next backend takes it.
  const chosen = await classify(page, ['webgl', 'wasm'], 'q8');
  expect(chosen.backend).toMatchObject({
    name: 'wasm',
    precision: 'q8',
    skipped: [
      { name: 'webgl', reason: expect.stringContaining('WebGL has neither half precision nor quantized weights') },
    ],
  });
  expect(asked).toEqual([...files, 'onnx/model_quantized.onnx']);
});
