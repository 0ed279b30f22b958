// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Entity } from '../../../../../src/worker/tasks/texts/entities.ts';
import { TokenClassifier } from '../../../../../src/worker/tasks/texts/token-classifier.ts';
import { openTask } from '../../handlers/task-models.ts';

const TEXT = 'Marie Curie 👩🏽‍🔬 was born in Warsaw. ';

test('rows of a batch answer as they do alone, each with its windows; a pair, and what is no text, fail alone', async () => {
  await using model = await openTask(new TokenClassifier(), 'tokens-bert', { aggregationStrategy: 'simple' });
  const texts = [TEXT, { text: 'a', textPair: 'b' }, TEXT.repeat(12), 7, '', 'The cat sat on the mat.'];
  const params = { stride: 8 };
  const answers = (await model.ask(texts, params)) as Entity[][];
  for (const index of [0, 2, 4, 5]) {
    const [alone] = (await model.ask([texts[index]], params)) as Entity[][];
    const near = (one: Entity): object => ({ ...one, score: expect.closeTo(one.score, 5) });
    expect(answers[index]).toEqual(alone!.map(near));
  }
  expect(answers[4]).toEqual([]);
  expect(answers[1]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('textPair') });
  expect(answers[3]).toMatchObject({ code: 'invalid-input' });
});

test('entities stand where they say, also behind emoji; windows reach the end of a text', async () => {
  await using model = await openTask(new TokenClassifier(), 'tokens-xlm-roberta', { aggregationStrategy: 'simple' });
  const text = TEXT.repeat(12);
  const [cut, whole] = await Promise.all(
    [{ ignoreLabels: [] }, { ignoreLabels: [], stride: 0 }].map(async (params) => (await model.ask([text], params))[0]),
  );
  const endOf = (entities: unknown): number => (entities as Entity[]).at(-1)!.end;
  expect(endOf(cut)).toBeLessThan(text.length / 2);
  expect(endOf(whole)).toBe(text.length);
  for (const { word, start, end } of whole as Entity[])
    expect(word.replaceAll(' ', '')).toBe(text.slice(start, end).replaceAll(' ', ''));
});

test('stride needs tokens that are joined, and room in a window', async () => {
  await using model = await openTask(new TokenClassifier(), 'tokens-bert');
  const [none, wide] = [{ stride: 4 }, { stride: 9, maxLength: 11, aggregationStrategy: 'max' }];
  expect((await model.ask([TEXT], none))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('aggregationStrategy none'),
  });
  expect((await model.ask([TEXT.repeat(4)], wide))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('room for 9 tokens'),
  });
});

test('labels must be as many as the model has', async () => {
  await expect(openTask(new TokenClassifier(), 'tokens-bert', { labels: ['O', 'B-PER'] })).rejects.toMatchObject({
    code: 'model-config',
  });
  await expect(openTask(new TokenClassifier(), 'classify-bert')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('[rows, tokens, labels]'),
  });
});
