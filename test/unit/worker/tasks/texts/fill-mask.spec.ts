// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { FillMask, type FilledMask } from '../../../../../src/worker/tasks/texts/fill-mask.ts';
import { openTask } from '../../handlers/task-models.ts';

test('rows of a batch answer as they do alone; what has no mask, or no such word, fails alone', async () => {
  await using model = await openTask(new FillMask(), 'fill-mask-bert');
  const texts = ['The cat sat on the [MASK].', 'Tell me a [MASK] about the sea, please. What is [MASK]?', 'No mask'];
  const [first, second, none] = (await model.ask(texts, { topK: 2 })) as FilledMask[][][];
  for (const [index, answer] of [first, second].entries()) {
    const [alone] = (await model.ask([texts[index]!], { topK: 2 })) as FilledMask[][][];
    const near = (one: FilledMask): object => ({ ...one, score: expect.closeTo(one.score, 5) });
    expect(answer).toEqual(alone!.map((best) => best.map(near)));
  }
  expect(first!.map(({ length }) => length)).toEqual([2]);
  expect(second!.map(({ length }) => length)).toEqual([2, 2]);
  expect(none).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('has no [MASK]') });
});

test('targets are the only candidates, each of them one token', async () => {
  await using model = await openTask(new FillMask(), 'fill-mask-bert', { targets: ['the', 'and'] });
  const [answer] = (await model.ask(['[MASK] cat'])) as FilledMask[][][];
  expect(answer![0]!.map(({ label }) => label).toSorted()).toEqual(['and', 'the']);
  const [all] = (await model.ask(['[MASK] cat'], { targets: ['the'], topK: 1 })) as FilledMask[][][];
  expect(all![0]).toEqual([answer![0]!.find(({ label }) => label === 'the')]);
  const [failed] = await model.ask(['[MASK] cat'], { targets: ['lighthouses'] });
  expect(failed).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('"lighthouses"') });
});

test('a model of another task, which says less of each token, is refused at load', async () => {
  await expect(openTask(new FillMask(), 'tokens-bert')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('a number for each token of the vocabulary'),
  });
});
