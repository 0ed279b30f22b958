// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../src/worker.ts';
import { InstanceSegmenter, type Instance } from '../../../../src/worker/handlers/instance-segmenter.ts';
import { runMask } from '../../../../src/worker/outputs/runs.ts';
import { compose, resize, toTensor } from '../../../../src/worker/transforms/index.ts';

class Small extends InstanceSegmenter {
  override imageProcessing = compose(resize([2, 4]), toTensor());
}

const photo = { data: new Uint8Array(4 * 2 * 3), dims: [2, 4, 3] };
const labels = { files: { 'index_to_name.json': new Blob(['{"0": "cat", "1": "dog"}']) } };

/** Three queries: a cat on the left, a dog on the right, and nothing. */
const logits = [
  [
    [9, 0, 0],
    [0, 8, 0],
    [0, 0, 9],
  ],
];
const half = (low: number, high: number): number[][] => [
  [low, low, high, high],
  [low, low, high, high],
];
const pred_masks = [[half(5, -5), half(-5, 5), half(9, 9)]];

test('each pixel belongs to the likeliest query; masks are runs in the photo’s pixels, best first', async () => {
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks }, ...labels });
  const [instances] = (await handler.handle([photo])) as Instance[][];
  expect(instances!.map(({ label, box, mask }) => ({ label, box, mask }))).toEqual([
    {
      label: 'cat',
      box: { xmin: 0, ymin: 0, xmax: 2, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(0, 2, 4, 2) },
    },
    {
      label: 'dog',
      box: { xmin: 2, ymin: 0, xmax: 4, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(2, 2, 6, 2) },
    },
  ]);
  expect(instances![0]!.score).toBeGreaterThan(instances![1]!.score);
});

test('thresholds of the class, and of what others leave of a mask', async () => {
  const covered = [[half(5, -5), half(5, 5), half(9, 9)]];
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks: covered }, ...labels });
  const find = async (params: Record<string, number>): Promise<string[]> => {
    const [instances] = (await handler.handle([photo, photo], { params })) as Instance[][];
    return instances!.map(({ label }) => label);
  };
  // The cat takes half of the dog's pixels.
  expect(await find({})).toEqual(['cat']);
  expect(await find({ overlapThreshold: 0.4 })).toEqual(['cat', 'dog']);
  expect(await find({ overlapThreshold: 0.4, scoreThreshold: 0.9995 })).toEqual(['cat']);
  expect(await find({ scoreThreshold: 1 })).toEqual([]);
});

test('a model without these outputs, with dims that do not fit, or with other labels', async () => {
  await expect(createTestHandler(Small, { outputs: { logits } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('logits and pred_masks, but the model has logits. Export the model'),
  });
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks: [[half(1, 2)]] }, ...labels });
  await expect(handler.handle([photo])).rejects.toMatchObject({ code: 'inference-failed' });
  const three = { files: { 'index_to_name.json': new Blob(['{"0": "a", "1": "b", "2": "c"}']) } };
  await expect(createTestHandler(Small, { outputs: { logits, pred_masks }, ...three })).rejects.toMatchObject({
    code: 'model-config',
  });
});

test('runs of a mask do not end with a row, unless the mask does', () => {
  const inside = new Set([1, 2, 3, 7, 8]);
  expect(runMask(3, 3, (index) => inside.has(index))).toEqual({
    mask: { width: 3, height: 3, runs: Uint32Array.of(1, 3, 7, 2) },
    box: { xmin: 0, ymin: 0, xmax: 3, ymax: 3 },
  });
  expect(runMask(2, 2, () => false)).toBeUndefined();
});
