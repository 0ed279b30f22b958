/**
 * Repositories of texts, against sentence-transformers (`test/models/sentences/make.py`), and each against the archive
 * that `npx tabserve archive` makes of it.
 */
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../../src/contract/archive.ts';
import { createArchive } from '../../../../../src/tools/cli/archive.ts';
import { locate } from '../../../../../src/tools/cli/local-archive.ts';
import {
  createTestHandler,
  TextFeatureExtractor,
  TextHandler,
  type Embedding,
  type TestHandler,
} from '../../../../../src/worker.ts';
import { loadHandler } from '../../../../../src/worker/handlers/registry.ts';
import { fetchArchive } from '../../../../../src/worker/models/archive.ts';
import { fetchModel } from '../../../../../src/worker/models/model-files.ts';

type Files = Readonly<Record<string, unknown>>;

const read = (path: string): Buffer => readFileSync(new URL(`../../../../models/sentences/${path}`, import.meta.url));
const json = (path: string): unknown => JSON.parse(read(path).toString());

const repositories = json('repositories.json') as Readonly<Record<string, { files: Files; vector: number[] }>>;
const ids = json('ids.json') as Readonly<Record<'short' | 'long' | 'nmt', number[]>>;
const SHORT = 'the population of london';
const words = ['time', 'people', 'world', 'london', 'year', 'good', 'work'];
const LONG = `${Array.from({ length: 300 }, (_, index) => words[index % 7]).join(' ')} the end of it`;

const BASE: Files = {
  'config.json': json('config.json'),
  'tokenizer.json': json('tokenizer.json'),
  'tokenizer_config.json': json('tokenizer_config.json'),
  'onnx/model.onnx': read('onnx/model.onnx'),
};
const MEAN: Files = {
  'modules.json': repositories['mean']!.files['modules.json'],
  '1_Pooling/config.json': repositories['mean']!.files['1_Pooling/config.json'],
};

/** The model: the hidden state of a token by its id and its place. */
function hidden(id: number, place: number): number[] {
  return Array.from({ length: 8 }, (_, index) => {
    const step = index + 1;
    return Math.fround(Math.sin(id * 0.37 * step + (place + 1) * 0.11 * step));
  });
}

/** Writes a repository: text is base64, bytes are bytes, anything else is JSON. */
function write(files: Files): string {
  const root = join(mkdtempSync(join(tmpdir(), 'tabserve-')), 'repository');
  for (const [path, file] of Object.entries({ ...BASE, ...files })) {
    if (file === undefined) continue;
    mkdirSync(dirname(join(root, path)), { recursive: true });
    const bytes =
      file instanceof Uint8Array ? file : typeof file === 'string' ? Buffer.from(file, 'base64') : undefined;
    writeFileSync(join(root, path), bytes ?? JSON.stringify(file));
  }
  return root;
}

async function open<H extends TextHandler<never>>(
  path: string,
  Class: new () => H,
  handler: string,
  names = ['input_ids', 'attention_mask', 'token_type_ids'],
): Promise<TestHandler<H>> {
  const options = { fetch: globalThis.fetch, handlerClass: loadHandler };
  const found = await fetchArchive(await locate(path), { ...options, handler });
  const { files, config }: Archive = await fetchModel(found, 'onnx', options);
  return await createTestHandler<H>(Class as never, {
    files,
    config,
    inputs: names.map((name) => ({ name, dtype: 'int64', dims: ['batch', 'length'] })),
    outputs: ({ input_ids }) => ({
      last_hidden_state: {
        dtype: 'float32',
        dims: [...input_ids!.dims, 8],
        data: Float32Array.from(
          Array.from(input_ids!.data as BigInt64Array).flatMap((id, at) =>
            hidden(Number(id), at % input_ids!.dims[1]!),
          ),
        ),
      },
    }),
  });
}

/** Opens a repository, and the archive of it. */
async function openBoth<H extends TextHandler<never>>(files: Files, Class: new () => H, handler: string) {
  const folder = write(files);
  const { path } = await createArchive({
    'model-name': 'packed',
    'serialized-file': folder,
    handler,
    'export-path': dirname(folder),
  });
  return [await open(folder, Class, handler), await open(path, Class, handler)] as const;
}

const extractors = (files: Files) => openBoth(files, TextFeatureExtractor as never, 'text_feature_extractor');

async function tokens(files: Files, text: string): Promise<number[][]> {
  const both = await openBoth(files, TextHandler as never, 'text_handler');
  return await Promise.all(
    both.map(async (one) => {
      await one.predict(text as never);
      return Array.from(one.runs.at(-1)!['input_ids']!.data as BigInt64Array, Number);
    }),
  );
}

for (const [name, { files, vector }] of Object.entries(repositories))
  test(`modules.json: ${name}`, async () => {
    for (const extractor of await extractors(files)) {
      const found = (await extractor.predict(SHORT as never)) as Embedding;
      expect(found.length).toBe(vector.length);
      found.forEach((value, index) => expect(value).toBeCloseTo(vector[index]!, 5));
    }
  });

test('padding on the left does not count, in the weights of weightedmean either', async () => {
  const config = { ...(BASE['tokenizer_config.json'] as object), padding_side: 'left' };
  const padded = json('padded.json') as Readonly<Record<string, number[][]>>;
  for (const [name, rows] of Object.entries(padded)) {
    const files = { ...repositories[name]!.files, 'tokenizer_config.json': config };
    const extractor = await open(write(files), TextFeatureExtractor as never, 'text_feature_extractor');
    const found = (await extractor.handle(['london', SHORT] as never)) as unknown as readonly Embedding[];
    const near = rows.map((row) => row.map((value) => expect.closeTo(value, 5)));
    expect(
      found.map((row) => [...row]),
      name,
    ).toEqual(near);
  }
});

test('modules.json: what is not known is an error that names the file', async () => {
  const modules = MEAN['modules.json'] as readonly { type: string }[];
  const fails = async (files: Files) => {
    await expect(
      open(write({ ...MEAN, ...files }), TextFeatureExtractor as never, 'text_feature_extractor'),
    ).rejects.toMatchObject({ code: 'model-config' });
    return await open(write({ ...MEAN, ...files }), TextFeatureExtractor as never, 'text_feature_extractor').catch(
      (error: Error) => error.message,
    );
  };
  const other = (type: string): Files => ({
    'modules.json': modules.map((one, at) => (at === 1 ? { ...one, type } : one)),
  });
  for (const type of [
    'sentence_transformers.models.WeightedLayerPooling',
    'sentence_transformers.models.LSTM',
    'custom.Pooling',
  ])
    expect(await fails(other(type))).toMatch(/^modules\.json: module 1 is .*Set handler\.pooling/);
  expect(await fails({ '1_Pooling/config.json': { pooling_mode: 'median' } })).toMatch(
    /^1_Pooling\/config\.json: pooling_mode is "median"/,
  );
  expect(await fails({ '1_Pooling/config.json': { pooling_mode_mean_tokens: false } })).toMatch(
    /^1_Pooling\/config\.json: pooling_mode is \[\]/,
  );
});

test('fields of before sentence-transformers 5.7 say the same', async () => {
  const { files, vector } = repositories['cls and mean']!;
  const fields = { pooling_mode_mean_tokens: true, pooling_mode_cls_token: true, pooling_mode_max_tokens: false };
  for (const extractor of await extractors({ ...files, '1_Pooling/config.json': fields })) {
    const found = (await extractor.predict(SHORT as never)) as Embedding;
    found.forEach((value, index) => expect(value).toBeCloseTo(vector[index]!, 5));
  }
});

test("the model's own limit is taken over what tokenizer.json happens to have", async () => {
  const truncated: Files = { 'tokenizer.json': json('truncated/tokenizer.json') };
  expect(await tokens(truncated, LONG)).toEqual([ids.long, ids.long]);
  expect(await tokens(truncated, SHORT)).toEqual([ids.short, ids.short]);
  for (const limit of [384, 200]) {
    const files = {
      ...truncated,
      ...MEAN,
      'sentence_bert_config.json': { max_seq_length: limit, do_lower_case: false },
    };
    for (const extractor of await extractors(files)) {
      await extractor.predict(LONG as never);
      expect(extractor.runs.at(-1)!['input_ids']!.dims).toEqual([1, Math.min(limit, ids.long.length)]);
    }
  }
});

test("the limit is also in a file of the model's type, as early versions wrote it", async () => {
  const files = {
    ...MEAN,
    'config.json': { ...(BASE['config.json'] as object), model_type: 'roberta' },
    'sentence_roberta_config.json': { max_seq_length: 7 },
  };
  for (const extractor of await extractors(files)) {
    await extractor.predict(LONG as never);
    expect(extractor.runs.at(-1)!['input_ids']!.dims).toEqual([1, 7]);
  }
});

test('an archive keeps the limit, the side and the token of the padding of tokenizer_config.json', async () => {
  const config = { ...(BASE['tokenizer_config.json'] as object), model_max_length: 9, padding_side: 'left' };
  const cut = [...ids.long.slice(0, 8), ids.long.at(-1)!];
  expect(await tokens({ 'tokenizer_config.json': config }, LONG)).toEqual([cut, cut]);
  for (const one of await openBoth({ 'tokenizer_config.json': config }, TextHandler as never, 'text_handler')) {
    await one.handle(['london', SHORT] as never);
    const padded = Array.from(one.runs.at(-1)!['input_ids']!.data as BigInt64Array, Number);
    expect(padded).toEqual([0, 0, 0, 2, 116, 3, ...ids.short]);
  }
});

test('position_ids count the tokens that are no padding', async () => {
  const config = { ...(BASE['tokenizer_config.json'] as object), padding_side: 'left' };
  // RoBERTa's begin after the padding's id.
  const roberta = { ...(BASE['config.json'] as object), model_type: 'xlm-roberta-xl', pad_token_id: 1 };
  for (const [tokenizer_config, own, positions, first] of [
    [BASE['tokenizer_config.json'], BASE['config.json'], [0, 1, 2, 0, 0, 0], 0],
    [config, BASE['config.json'], [0, 0, 0, 0, 1, 2], 0],
    [config, roberta, [0, 0, 0, 2, 3, 4], 2],
  ] as const) {
    const path = write({ 'tokenizer_config.json': tokenizer_config, 'config.json': own });
    const one = await open(path, TextHandler as never, 'text_handler', ['input_ids', 'attention_mask', 'position_ids']);
    await one.handle(['london', SHORT] as never);
    const { data } = one.runs.at(-1)!['position_ids']!;
    expect(Array.from(data as BigInt64Array, Number)).toEqual([
      ...positions,
      ...[0, 1, 2, 3, 4, 5].map((at) => at + first),
    ]);
  }
});

test('prompts: one by default, others by name', async () => {
  const prompts = { prompts: { query: 'the population of ', passage: '' }, default_prompt_name: 'query' };
  for (const extractor of await extractors({ ...MEAN, 'config_sentence_transformers.json': prompts })) {
    const first = async (text: string, params?: object) => {
      await extractor.predict(text as never, params && { params: params as never });
      return Array.from(extractor.runs.at(-1)!['input_ids']!.data as BigInt64Array, Number);
    };
    expect(await first('london')).toEqual(ids.short);
    expect(await first(SHORT, { prompt: '' })).toEqual(ids.short);
    await expect(first(SHORT, { prompt: 'other' })).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(/query/),
    });
  }
});

test('the normalizer Nmt', async () => {
  const files = {
    'tokenizer.json': json('nmt/tokenizer.json'),
    'tokenizer_config.json': json('nmt/tokenizer_config.json'),
  };
  expect(await tokens(files, 'the  photo\u200b of\u0001 2')).toEqual([ids.nmt, ids.nmt]);
});

test('labels of a config without id2label are LABEL_0 and LABEL_1, or as many as num_labels says', async () => {
  const labels = async (config: object) => {
    const folder = write({ 'config.json': { architectures: ['BertForSequenceClassification'], ...config } });
    const { files } = await fetchArchive(await locate(folder), { fetch: globalThis.fetch, handlerClass: loadHandler });
    return JSON.parse((await files['index_to_name.json']?.text()) ?? 'null') as unknown;
  };
  expect(await labels({})).toEqual({ 0: 'LABEL_0', 1: 'LABEL_1' });
  expect(await labels({ id2label: null, num_labels: 3 })).toEqual({ 0: 'LABEL_0', 1: 'LABEL_1', 2: 'LABEL_2' });
  expect(await labels({ id2label: { 0: 'a' } })).toEqual({ 0: 'a' });
  expect(await labels({ architectures: ['BertModel'] })).toBeNull();
});
