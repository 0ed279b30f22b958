// `/v1/rerank` over a client whose answers the test makes. The bodies are those of Jina's and Cohere's documentation.
import { expect, test } from '@playwright/test';
import { failureOf, faked } from '../../support/openai-client.ts';

const RERANKER = {
  modelName: 'ranker',
  handler: 'text_reranker',
  takes: 'text',
  makes: 'ranking',
  resultForms: [],
} as const;
const ranked = [
  { index: 1, score: 0.9 },
  { index: 0, score: 0.1 },
];

test('texts come best first, with their scores', async () => {
  const { client, openai } = await faked(() => ranked, [], RERANKER);
  const ask = (body: object): Promise<unknown> => openai.post('/rerank', { body: { model: 'ranker', ...body } });
  const answer = await ask({ query: 'a?', documents: ['b', { text: 'a' }], top_n: 2, return_documents: true });
  expect(answer).toMatchObject({
    model: 'ranker',
    results: [
      { index: 1, relevance_score: 0.9, document: { text: 'a' } },
      { index: 0, relevance_score: 0.1, document: { text: 'b' } },
    ],
  });
  expect(client.asked[0]).toMatchObject({
    input: { query: 'a?', texts: ['b', 'a'] },
    options: { params: { topK: 2 } },
  });
  const fields = { query: 'a', documents: ['b'] };
  expect(await ask(fields)).toMatchObject({ results: [{ index: 1 }, { index: 0 }] });
  for (const [wrong, code] of [
    [{ query: 1 }, 'invalid_value'],
    [{ documents: [] }, 'invalid_value'],
    [{ documents: Array(1001).fill('a') }, 'array_above_max_length'],
    [{ top_n: 0 }, 'invalid_value'],
    [{ return_documents: 1 }, 'invalid_value'],
    [{ max_chunks_per_doc: 1 }, 'unknown_parameter'],
  ] as const) {
    const [param] = Object.keys(wrong);
    expect
      .soft(await failureOf(ask({ ...fields, ...wrong })))
      .toMatchObject([400, 'invalid_request_error', param, code, expect.stringContaining(param!)]);
  }
  expect(await failureOf(ask({ ...fields, documents: ['a', 1] }))).toMatchObject({ 2: 'documents[1]' });
});

test('a model that ranks nothing is refused before it runs', async () => {
  const { client, openai } = await faked();
  const asked = openai.post('/rerank', { body: { model: 'writer', query: 'a', documents: ['b'] } });
  expect(await failureOf(asked)).toMatchObject({ 0: 400, 2: 'model', 4: expect.stringContaining('ranks no texts') });
  expect(client.asked).toEqual([]);
});
