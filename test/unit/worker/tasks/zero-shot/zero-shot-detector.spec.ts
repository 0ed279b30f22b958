// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Detections } from '../../../../../src/worker/outputs/boxes/detection.ts';
import { ZeroShotObjectDetector } from '../../../../../src/worker/tasks/zero-shot/zero-shot-object-detector.ts';
import { openTask } from '../../handlers/task-models.ts';

const photo = (seed: number) => ({
  data: Uint8Array.from({ length: 40 * 30 * 3 }, (_, at) => (at * seed) % 256),
  dims: [30, 40, 3],
});
const STEPS = { imageProcessing: [{ resize: { size: [32, 32] } }, 'toTensor'] };

test('rows of a batch have the detections that each has alone, and a label those that it has alone', async () => {
  await using model = await openTask(new ZeroShotObjectDetector(), 'find-owl-vit', STEPS);
  const params = { labels: ['a cat', 'the sea'], scoreThreshold: 0.3 };
  const near = (found: Detections) =>
    found.map(({ label, score, box }) => ({
      label,
      score: expect.closeTo(score, 5),
      box: Object.fromEntries(Object.entries(box).map(([side, value]) => [side, expect.closeTo(value, 3)])),
    }));
  const together = (await model.ask([photo(3), photo(7)], params)) as Detections[];
  expect(together[0]!.length).toBeGreaterThan(3);
  for (const [index, seed] of [3, 7].entries()) {
    const [alone] = (await model.ask([photo(seed)], params)) as Detections[];
    expect(alone).toEqual(near(together[index]!));
    const [cats] = (await model.ask([photo(seed)], { ...params, labels: ['a cat'] })) as Detections[];
    expect(cats).toEqual(near(together[index]!.filter(({ label }) => label === 'a cat')));
  }
});

test('without labels, or without an image, a row fails', async () => {
  await using model = await openTask(new ZeroShotObjectDetector(), 'find-owl-vit', STEPS);
  expect(await model.ask([photo(3)])).toMatchObject([
    { code: 'invalid-input', message: expect.stringMatching(/^labels: there are none/) },
  ]);
  const answers = await model.ask(['no image', photo(3)], { labels: ['a'], scoreThreshold: 0 });
  expect(answers).toMatchObject([{ code: 'invalid-input' }, expect.arrayContaining([])]);
});

test('columns that are not the texts, other outputs, and a decoder are refused', async () => {
  await using tokens = await openTask(new ZeroShotObjectDetector(), 'find-grounding-dino', {
    imageProcessing: [{ resize: { size: [48, 62] } }, 'toTensor'],
  });
  await expect(tokens.ask([photo(3)], { labels: ['cat'] })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('Set handler.columns'),
  });
  const open = (repository: string, config: object) =>
    openTask(new ZeroShotObjectDetector(), repository, { ...STEPS, ...config });
  await expect(open('images-clip', {})).rejects.toMatchObject({ message: expect.stringContaining('"pred_boxes"') });
  await expect(open('find-owl-vit', { decoder: 'detr' })).rejects.toMatchObject({ code: 'model-config' });
  await expect(open('detect-yolos', {})).rejects.toMatchObject({
    message: expect.stringContaining('inputs for images and for texts'),
  });
});
