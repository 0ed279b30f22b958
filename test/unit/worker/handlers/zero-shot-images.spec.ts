// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Classification } from '../../../../src/worker/outputs/classification.ts';
import { ImageClassifier } from '../../../../src/worker/handlers/image-classifier.ts';
import { ZeroShotImageClassifier } from '../../../../src/worker/handlers/zero-shot-image-classifier.ts';
import { openTask } from './task-models.ts';

const photo = (seed: number) => ({
  data: Uint8Array.from({ length: 40 * 30 * 3 }, (_, at) => (at * seed) % 256),
  dims: [30, 40, 3],
});
const STEPS = { imageProcessing: [{ resize: { size: [32, 32] } }, 'toTensor'] };

test('rows of a batch have the scores that each has alone; labels of one text have one score', async () => {
  await using model = await openTask(new ZeroShotImageClassifier(), 'images-clip', STEPS);
  const params = { labels: ['a cat', 'the sea', 'a cat', 'x'.repeat(2000)] };
  const together = (await model.ask([photo(3), photo(7)], params)) as Classification[];
  for (const [index, seed] of [3, 7].entries()) {
    const [alone] = (await model.ask([photo(seed)], params)) as Classification[];
    expect(alone).toEqual(together[index]!.map(({ label, score }) => ({ label, score: expect.closeTo(score, 5) })));
  }
  const cats = together[0]!.filter(({ label }) => label === 'a cat');
  expect(cats.map(({ score }) => score)).toEqual([cats[0]!.score, cats[0]!.score]);
  expect(together[0]).not.toEqual(together[1]);
});

test('a label that is too long is truncated, with a warning', async () => {
  const told: string[] = [];
  const { warn } = console;
  console.warn = (message: string) => told.push(message);
  try {
    await using model = await openTask(new ZeroShotImageClassifier(), 'images-clip', STEPS);
    await model.ask([photo(3)], { labels: ['a cat', 'the sea'] });
    expect(told).toEqual([]);
    await model.ask([photo(3)], { labels: ['a cat', 'x'.repeat(2000)] });
  } finally {
    console.warn = warn;
  }
  expect(told).toEqual([expect.stringMatching(/label has more tokens than the limit of \d+, and was truncated/)]);
});

test('without labels, without the place of a label, or without an image, a row fails', async () => {
  await using model = await openTask(new ZeroShotImageClassifier(), 'images-clip', STEPS);
  expect(await model.ask([photo(3)])).toMatchObject([{ code: 'invalid-input', message: /^labels: there are none/ }]);
  const params = { labels: ['a'], hypothesisTemplate: 'None' };
  expect(await model.ask([photo(3)], params)).toMatchObject([{ code: 'invalid-input', message: /has no \{\}/ }]);
  const answers = await model.ask(['no image', photo(3)], { labels: ['a'] });
  expect(answers).toMatchObject([{ code: 'invalid-input' }, [{ label: 'a', score: 1 }]]);
});

test('a model of images alone, and a classifier with a model of both, say what is missing', async () => {
  await expect(openTask(new ZeroShotImageClassifier(), 'image-vit', STEPS)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/no output "logits_per_image".*it has "logits"/),
  });
  const outputName = { ...STEPS, outputName: 'logits' };
  await expect(openTask(new ZeroShotImageClassifier(), 'image-vit', outputName)).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('inputs for images and for texts'),
  });
  await expect(openTask(new ImageClassifier(), 'images-clip', STEPS)).rejects.toMatchObject({ code: 'model-config' });
});
