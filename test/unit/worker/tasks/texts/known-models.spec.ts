import { expect, test } from '@playwright/test';
import type { Tensor } from '../../../../../src/contract/tensors.ts';
import { knownModel } from '../../../../../src/worker/tasks/texts/known-models.ts';
import { createTestHandler, TextFeatureExtractor } from '../../../../../src/worker.ts';
import { readFileSync } from 'node:fs';

/**
 * `pooling_mode` in `1_Pooling/config.json` of each repository, or of the one that it was converted from; `query` in
 * the model's card.
 */
const CARDS = {
  'bge-small-en-v1.5': ['cls', 'Represent this sentence for searching relevant passages: '],
  'bge-base-en': ['cls', 'Represent this sentence for searching relevant passages: '],
  'bge-small-zh-v1.5': ['cls', '为这个句子生成表示以用于检索相关文章：'],
  'bge-m3': ['cls'],
  'mxbai-embed-large-v1': ['cls', 'Represent this sentence for searching relevant passages: '],
  'snowflake-arctic-embed-m-v2.0': ['cls', 'query: '],
  'snowflake-arctic-embed-m-v1.5': ['cls', 'Represent this sentence for searching relevant passages: '],
  'gte-small': ['mean'],
  'gte-base-en-v1.5': ['cls'],
  'multilingual-e5-small': ['mean', 'query: '],
  'e5-base-v2': ['mean', 'query: '],
  'nomic-embed-text-v1.5': ['mean'],
  'jina-embeddings-v2-base-de': ['mean'],
  'all-MiniLM-L6-v2': ['mean'],
  'paraphrase-multilingual-MiniLM-L12-v2': ['mean'],
  'all-mpnet-base-v2': ['mean'],
  'Qwen3-Embedding-0.6B-ONNX': [
    'last-token',
    'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
  ],
} as const;

test('the pooling and the prompt of a query are those of the cards', () => {
  for (const [name, [pooling, query]] of Object.entries(CARDS)) {
    const known = knownModel(name, {});
    expect([known?.pooling, known?.prompts?.['query']], name).toEqual([pooling, query]);
    expect(knownModel('my-model', { _name_or_path: `someone/${name}` }), name).toEqual(known);
  }
  expect(knownModel('nomic-embed-text-v1', {})!.prompts!['search_query']).toBe('search_query: ');
});

test('other models are not known: their cards say something else, or nobody has read them', () => {
  // The last ones pool the last token, or are no models of vectors.
  const others = [
    'my-bert',
    'e5-mistral-7b-instruct',
    'gte-Qwen2-1.5B-instruct',
    'bge-reranker-base',
    'bge-en-icl',
    '',
  ];
  for (const name of others) expect(knownModel(name, { _name_or_path: 3 }), name).toBeUndefined();
  expect(knownModel('x', undefined)).toBeUndefined();
});

test('the form usage: the vector, and how many tokens the model has read', async () => {
  const opened = await createTestHandler(TextFeatureExtractor, {
    inputs: [{ name: 'input_ids', dtype: 'int64', dims: ['batch', 'length'] }],
    outputs: ({ input_ids }) => ({
      last_hidden_state: tokens([...(input_ids!.data as BigInt64Array)].flatMap((id) => [Number(id), 1])),
    }),
    files: { 'tokenizer.json': readFileSync(new URL('../../../../docs/tokenizer.json', import.meta.url), 'utf8') },
  });
  const vector = await opened.predict('good film');
  // The tokenizer adds [CLS] and [SEP] to the two words.
  expect(await opened.predict('good film', { params: { result: 'usage' } })).toEqual({
    embedding: vector,
    usage: { promptTokens: 4 },
  });
});

const tokens = (values: number[]): Tensor => ({
  dtype: 'float32',
  dims: [1, values.length / 2, 2],
  data: Float32Array.from(values),
});

test('a repository without modules.json pools as its card says, and the config wins; an unknown one warns', async () => {
  const vector = async (from: string, handler: object = {}) => {
    const warnings: unknown[] = [];
    const { warn } = console;
    console.warn = (message: unknown) => void warnings.push(message);
    const opened = await createTestHandler(TextFeatureExtractor, {
      inputs: [{ name: 'input_ids', dtype: 'int64', dims: ['batch', 'length'] }],
      outputs: ({ input_ids }) => ({
        last_hidden_state: tokens([...(input_ids!.data as BigInt64Array)].flatMap((id) => [Number(id), 1])),
      }),
      files: {
        'tokenizer.json': readFileSync(new URL('../../../../docs/tokenizer.json', import.meta.url), 'utf8'),
        'config.json': JSON.stringify({ _name_or_path: from }),
      },
      config: { handler: { normalize: false, ...handler } },
    });
    console.warn = warn;
    return { first: ((await opened.predict('good film')) as Float32Array)[0], warnings };
  };
  const cls = await vector('BAAI/bge-small-en-v1.5');
  const mean = await vector('intfloat/e5-small-v2');
  const unknown = await vector('me/my-bert');
  expect(cls.first).not.toBe(mean.first);
  expect(cls.first).toBe((await vector('me/my-bert', { pooling: 'cls' })).first);
  expect(mean.first).toBe(unknown.first);
  expect((await vector('BAAI/bge-small-en-v1.5', { pooling: 'mean' })).first).toBe(mean.first);
  expect([cls.warnings, mean.warnings]).toEqual([[], []]);
  expect(unknown.warnings).toEqual([expect.stringMatching(/^handler\.pooling: nothing in the repository says/)]);
});
