// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Session } from '../../../../../src/contract/tensors.ts';
import type { Classification } from '../../../../../src/worker/outputs/classification.ts';
import { ImageClassifier } from '../../../../../src/worker/tasks/pictures/image-classifier.ts';
import { ZeroShotImageClassifier } from '../../../../../src/worker/tasks/zero-shot/zero-shot-image-classifier.ts';
import { openTask } from '../../handlers/task-models.ts';

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

for (const name of ['images-clip', 'images-siglip', 'images-siglip2', 'images-chinese-clip'])
  test(`labels are read once, and the scores are those of a model that reads them again: ${name}`, async () => {
    const config = { ...STEPS, ...(name.startsWith('images-siglip') && { activation: 'sigmoid', padTo: 64 }) };
    const params = { labels: ['a cat', 'the sea', 'a street at night', 'many people'] };
    await using model = await openTask(new ZeroShotImageClassifier(), name, config);
    const texts = countTexts(model.session);
    await model.ask([photo(3)], params);
    const later = (await model.ask([photo(7), photo(11)], params)) as Classification[];
    expect(texts).toEqual([4, 1]);

    await using none = await openTask(new ZeroShotImageClassifier(), name, { ...config, maxStateBytes: 0 });
    const again = countTexts(none.session);
    await none.ask([photo(3)], params);
    const expected = (await none.ask([photo(7), photo(11)], params)) as Classification[];
    expect(again).toEqual([4, 4]);
    expect(later).toEqual(
      expected.map((row) => row.map(({ label, score }) => ({ label, score: expect.closeTo(score, 5) }))),
    );
    // Other labels, and another order, are read. Beside two, the first time, another text.
    const pair = { labels: ['a cat', 'the sea'] };
    const both = [await model.ask([photo(3)], pair), await model.ask([photo(7)], pair)] as Classification[][];
    await model.ask([photo(3)], { labels: params.labels.toReversed() });
    await model.ask([photo(3)], { labels: ['a cat'] });
    await model.ask([photo(3)], { labels: ['a cat'] });
    expect(texts).toEqual([4, 1, 3, 1, 4, 1, 1]);
    const pairs = [await none.ask([photo(3)], pair), await none.ask([photo(7)], pair)] as Classification[][];
    expect(again).toEqual([4, 4, 2, 2]);
    for (const [at, [row]] of both.entries())
      expect(row).toEqual(pairs[at]![0]!.map(({ label, score }) => ({ label, score: expect.closeTo(score, 5) })));
  });

/** Returns the number of texts that each run of a model reads, as they come. */
function countTexts(session: Session): readonly number[] {
  const counts: number[] = [];
  const run = session.run.bind(session);
  session.run = async (feeds, options) => {
    counts.push(feeds['input_ids']!.dims[0]!);
    return await run(feeds, options);
  };
  return counts;
}

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
  expect(await model.ask([photo(3)])).toMatchObject([
    { code: 'invalid-input', message: expect.stringMatching(/^labels: there are none/) },
  ]);
  const params = { labels: ['a'], hypothesisTemplate: 'None' };
  expect(await model.ask([photo(3)], params)).toMatchObject([
    { code: 'invalid-input', message: expect.stringMatching(/has no \{\}/) },
  ]);
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
