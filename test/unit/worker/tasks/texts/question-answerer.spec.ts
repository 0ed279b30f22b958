// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import type { Answer } from '../../../../../src/worker/tasks/texts/answers.ts';
import { QuestionAnswerer } from '../../../../../src/worker/tasks/texts/question-answerer.ts';
import { openTask } from '../../handlers/task-models.ts';

const QUESTION = 'Where was Marie Curie born?';
const CONTEXT = '👩🏽‍🔬 Marie Curie was born in Warsaw and worked in Paris. ';

test('rows of a batch answer as they do alone, each with its windows; what is no question fails alone', async () => {
  await using model = await openTask(new QuestionAnswerer(), 'answer-bert');
  const rows = [
    { question: QUESTION, context: CONTEXT },
    { question: QUESTION, context: '' },
    { question: QUESTION, context: CONTEXT.repeat(20) },
    CONTEXT,
    { question: 'Why?', context: 'The cat sat on the mat.', topK: 2 },
    { question: 'Why?', context: 'The cat sat on the mat.' },
  ];
  const params = { topK: 3, maxLength: 60, stride: 20 };
  const answers = (await model.ask(rows, params)) as Answer[][];
  for (const index of [0, 2, 5]) {
    const [alone] = (await model.ask([rows[index]], params)) as Answer[][];
    const near = (one: Answer): object => ({ ...one, score: expect.closeTo(one.score, 5) });
    expect(answers[index]).toEqual(alone!.map(near));
    const { context } = rows[index] as { context: string };
    for (const { answer, start, end } of answers[index]!) expect(context.slice(start, end)).toBe(answer);
  }
  const wanted = 'Expected { question, context }';
  for (const index of [1, 3])
    expect(answers[index]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining(wanted) });
  expect(answers[4]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('topK') });
});

test('params: how many, how long, whole words, and none', async () => {
  await using model = await openTask(new QuestionAnswerer(), 'answer-roberta');
  const ask = async (params: object): Promise<readonly Answer[]> =>
    (await model.ask([{ question: QUESTION, context: CONTEXT }], { ...params }))[0] as Answer[];
  expect(await ask({})).toHaveLength(1);
  const many = await ask({ topK: 5 });
  expect(many).toHaveLength(5);
  expect(many.map(({ score }) => score)).toEqual(many.map(({ score }) => score).toSorted((a, b) => b - a));
  for (const { answer } of await ask({ topK: 5, maxAnswerLength: 1, alignToWords: false }))
    expect(answer.trim()).not.toContain(' ');
  const all = await ask({ topK: 1000, handleImpossibleAnswer: true });
  expect(all).toContainEqual(expect.objectContaining({ answer: '', start: 0, end: 0 }));
  expect(many).not.toContainEqual(expect.objectContaining({ answer: '', start: 0 }));
});

test('a question that leaves no room for the context fails, and says so', async () => {
  await using model = await openTask(new QuestionAnswerer(), 'answer-bert');
  const [failed] = await model.ask([{ question: QUESTION.repeat(9), context: CONTEXT.repeat(9) }], { maxLength: 40 });
  expect(failed).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('shorten the other text') });
});

test('a model of another task is refused', async () => {
  await expect(openTask(new QuestionAnswerer(), 'classify-bert')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('start_logits and end_logits'),
  });
});
