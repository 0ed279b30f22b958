// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Classification } from '../../../../../src/worker/outputs/classification.ts';
import { TextReranker, type RankedText } from '../../../../../src/worker/tasks/texts/text-reranker.ts';
import { ZeroShotTextClassifier } from '../../../../../src/worker/tasks/texts/zero-shot-text-classifier.ts';
import { openTask } from '../../handlers/task-models.ts';

test('more labels than a run has rows: each has the score that it has alone, in every row of a batch', async () => {
  await using model = await openTask(new ZeroShotTextClassifier(), 'zero-shot-xlm-roberta', { multiLabel: true });
  const labels = Array.from({ length: 20 }, (_, at) => `the ${at} cat`);
  const texts = ['Tell me a story about the sea', 'The dog lay by the door, and the cat sat on the mat.'];
  const answers = (await model.ask(texts, { labels })) as Classification[];
  for (const [index, answer] of answers.entries())
    for (const { label, score } of answer.filter((_, at) => at % 7 === 0)) {
      const [[alone]] = (await model.ask([texts[index]!], { labels: [label] })) as [Classification];
      expect(alone).toEqual({ label, score: expect.closeTo(score, 5) });
    }
});

test('without labels, or without the place of a label, a row fails', async () => {
  await using model = await openTask(new ZeroShotTextClassifier(), 'zero-shot-bert');
  expect(await model.ask(['a'])).toMatchObject([
    { code: 'invalid-input', message: expect.stringMatching(/^labels: there are none/) },
  ]);
  const params = { labels: ['a'], hypothesisTemplate: 'None' };
  expect(await model.ask(['a'], params)).toMatchObject([
    { code: 'invalid-input', message: expect.stringMatching(/has no \{\}/) },
  ]);
  const pair = { text: 'a', textPair: 'b' };
  expect(await model.ask([pair, 'a'], { labels: ['a'] })).toMatchObject([{ code: 'invalid-input' }, [{ label: 'a' }]]);
});

test('rows of a reranker have any number of texts; what is no query with texts fails alone', async () => {
  await using model = await openTask(new TextReranker(), 'rerank-bert');
  const texts = Array.from({ length: 18 }, (_, at) => `the cat ${at}`);
  const inputs = [
    { query: 'cat', texts },
    { query: 'cat' },
    { query: 'dog', texts: ['the cat 3'] },
    { query: 1, texts },
  ];
  const [all, none, one, wrong] = (await model.ask(inputs)) as RankedText[][];
  expect(all!.map(({ index }) => index).toSorted((a, b) => a - b)).toEqual([...texts.keys()]);
  expect(all!.every(({ score }, at) => at === 0 || all![at - 1]!.score >= score)).toBe(true);
  expect(one).toEqual([{ index: 0, score: expect.any(Number) }]);
  expect([none, wrong]).toMatchObject([{ code: 'invalid-input' }, { code: 'invalid-input' }]);
  expect(await model.ask([{ query: 'cat', texts, text: 1 }])).toMatchObject([
    { message: expect.stringMatching(/unknown key "text"/) },
  ]);
});

test('a reranker refuses a model that returns a number for each token, though its graph does not say so', async () => {
  await using model = await openTask(new TextReranker(), 'answer-bert');
  await expect(model.ask([{ query: 'a cat', texts: ['the sea', 'a dog'] }])).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('one number for each pair of texts'),
  });
});
