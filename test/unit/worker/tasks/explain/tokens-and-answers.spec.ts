import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { AnswerExplanation, TokenExplanation } from '../../../../../src/worker/outputs/explanation.ts';
import { QuestionAnswerer } from '../../../../../src/worker/tasks/texts/question-answerer.ts';
import { TokenClassifier } from '../../../../../src/worker/tasks/texts/token-classifier.ts';
import { openTask } from '../../handlers/task-models.ts';

/** By NumPy and ONNX Runtime in Python: `test/models/explain/make.py`. */
const goldens = JSON.parse(
  readFileSync(new URL('../../../../models/explain/goldens.json', import.meta.url), 'utf8'),
) as {
  readonly tokens: readonly (TokenExplanation & { readonly input: string; readonly options: object })[];
  readonly answers: readonly (AnswerExplanation & { readonly input: object })[];
};

/** Numbers are those of float32 computations. */
function near(value: object): unknown {
  return JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'number' && !Number.isInteger(one) ? expect.closeTo(one, 4) : one,
  );
}

/** As `config.json` of `tokens-bert` has them. */
const labels = ['O', 'B-PER', 'I-PER', 'B-LOC', 'I-LOC', 'ORG'];

const explain = { kind: 'explain' } as const;

test('the label of a word: the words that support it, as Python finds them', async () => {
  await using model = await openTask(new TokenClassifier(), 'tokens-bert', { labels });
  expect(goldens.tokens).toHaveLength(3);
  for (const { input, options, index, label, score, word, start, end, words } of goldens.tokens) {
    const [found] = await model.ask([input], { ...options }, explain);
    expect(found, input).toEqual(near({ index, label, score, word, start, end, method: 'leave-one-out', words }));
  }
});

test('the start and the end of an answer: the words that support each, as Python finds them', async () => {
  await using model = await openTask(new QuestionAnswerer(), 'answer-bert');
  expect(goldens.answers).toHaveLength(2);
  for (const { input, answer, start, end, startScore, endScore, words } of goldens.answers) {
    const [found] = await model.ask([input], {}, explain);
    expect(found, JSON.stringify(input)).toEqual(
      near({ answer, start, end, method: 'leave-one-out', startScore, endScore, words }),
    );
  }
});

test('a batch: each row as alone; what cannot be explained fails alone, and says why', async () => {
  await using tokens = await openTask(new TokenClassifier(), 'tokens-bert', { labels });
  const [golden] = goldens.tokens;
  const text = golden!.input;
  const found = await tokens.ask([text, ' … '.trim(), '', 7], {}, explain);
  expect(found[0]).toMatchObject(near({ word: golden!.word, score: golden!.score }) as Record<string, unknown>);
  expect(found[1]).toMatchObject({
    word: '…',
    start: 0,
    end: 1,
    words: [{ weight: (found[1] as TokenExplanation).score }],
  });
  expect(found[2]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('has no word') });
  expect(found[3]).toMatchObject({ code: 'invalid-input' });
  const fails = async (input: unknown, params: object): Promise<unknown> =>
    (await tokens.ask([input], { ...params }, explain))[0];
  expect(await fails(text, { position: 11 })).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('no word at 11'),
  });
  expect(await fails(text, { target: 'B-PERS' })).toMatchObject({
    message: expect.stringContaining('"B-PER" is meant'),
  });
  // Behind the tokens that the model takes.
  expect(await fails(`${text} `.repeat(20), { position: text.length * 19 })).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('Set stride'),
  });
  await using answers = await openTask(new QuestionAnswerer(), 'answer-bert');
  const [first] = goldens.answers;
  const rows = await answers.ask([first!.input, 'no question'], {}, explain);
  expect(rows[0]).toMatchObject({ answer: first!.answer });
  expect(rows[1]).toMatchObject({ code: 'invalid-input' });
});

test('a word that only a later window has is explained there', async () => {
  await using model = await openTask(new TokenClassifier(), 'tokens-bert', { aggregationStrategy: 'simple' });
  const text = `${'The cat sat on the mat. '.repeat(6)}Warsaw`;
  const position = text.indexOf('Warsaw');
  const [found] = (await model.ask([text], { stride: 8, maxLength: 24, position }, explain)) as [TokenExplanation];
  expect(found).toMatchObject({ word: 'Warsaw', start: position, end: text.length });
  expect(found.words.at(-1)).toMatchObject({ word: 'Warsaw', weight: found.score });
});
