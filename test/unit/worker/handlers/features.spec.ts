import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Params } from '../../../../src/contract/handler.ts';
import type { Tensor, TensorInfo } from '../../../../src/contract/tensors.ts';
import { cosineSimilarity, nearest } from '../../../../src/index.ts';
import {
  createTestHandler,
  ImageFeatureExtractor,
  TextFeatureExtractor,
  type Embedding,
} from '../../../../src/worker.ts';

const f32 = (dims: number[], values: number[]): Tensor => ({
  dtype: 'float32',
  dims,
  data: Float32Array.from(values),
});
const integers = (name: string): TensorInfo => ({ name, dtype: 'int64', dims: ['batch', 'length'] });

/** A tokenizer of three words without special tokens, which pads on one side. */
const tokenizer = (direction: 'Left' | 'Right'): string =>
  JSON.stringify({
    ...(JSON.parse(readFileSync(new URL('../../../docs/tokenizer.json', import.meta.url), 'utf8')) as object),
    post_processor: null,
    truncation: null,
    padding: {
      strategy: 'BatchLongest',
      direction,
      pad_to_multiple_of: 4,
      pad_id: 0,
      pad_type_id: 0,
      pad_token: '[PAD]',
    },
  });

/** The vector of a token is its id, and 1. */
async function extractor(direction: 'Left' | 'Right', handler?: object) {
  return await createTestHandler(TextFeatureExtractor, {
    inputs: [integers('input_ids'), integers('attention_mask')],
    outputs: ({ input_ids }) => ({
      last_hidden_state: f32(
        [...input_ids!.dims, 2],
        Array.from(input_ids!.data as BigInt64Array).flatMap((id) => [Number(id), 1]),
      ),
    }),
    files: { 'tokenizer.json': tokenizer(direction) },
    config: { handler: { normalize: false, ...handler } },
  });
}

for (const direction of ['Left', 'Right'] as const) {
  test(`text features: padding on the ${direction.toLowerCase()} does not count`, async () => {
    // Their ids: a 4, good 5, bad 6, film 7.
    const rows = ['a good film', 'bad', 'good bad'];
    for (const [pooling, firsts] of [
      ['mean', [16 / 3, 6, 5.5]],
      ['cls', [4, 6, 5]],
      ['last-token', [7, 6, 6]],
    ] as const) {
      const handler = await extractor(direction, { pooling });
      const vectors = (await handler.handle(rows)) as Embedding[];
      expect(
        vectors.map((vector) => [...vector]),
        pooling,
      ).toEqual(firsts.map((value) => [Math.fround(value), 1]));
      expect(handler.runs[0]!['input_ids']!.dims).toEqual([3, 4]);
    }
  });
}

test('text features: the output sentence_embedding is the vector, unless the config says otherwise', async () => {
  const open = (handler: object) =>
    createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids'), integers('attention_mask')],
      outputs: {
        token_embeddings: f32([1, 4, 2], [1, 1, 3, 3, 9, 9, 9, 9]),
        sentence_embedding: f32([1, 2], [5, 6]),
      },
      files: { 'tokenizer.json': tokenizer('Right') },
      config: { handler: { normalize: false, ...handler } },
    });
  const vector = async (handler: object) => [...((await (await open(handler)).predict('good film')) as Embedding)];
  expect(await vector({})).toEqual([5, 6]);
  expect(await vector({ pooling: 'mean' })).toEqual([2, 2]);
  expect(await vector({ outputName: 'token_embeddings' })).toEqual([2, 2]);
});

test('text features: scores of a head are none, unless the config names them', async () => {
  const open = async (handler: object = {}) =>
    await createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { logits: f32([1, 2], [3, 4]) },
      files: { 'tokenizer.json': tokenizer('Right') },
      config: { handler: { normalize: false, ...handler } },
    });
  await expect(open()).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('Set the option handler to what the model was exported for'),
  });
  expect([...((await (await open({ outputName: 'logits' })).predict('good film')) as Embedding)]).toEqual([3, 4]);
});

test('text features: texts of different lengths are not padded for a model without attention_mask', async () => {
  const handler = await createTestHandler(TextFeatureExtractor, {
    inputs: [integers('input_ids')],
    outputs: ({ input_ids }) => ({
      texts: f32(
        [input_ids!.dims[0]!, 1],
        Array.from({ length: input_ids!.dims[0]! }, () => 1),
      ),
    }),
    files: { 'tokenizer.json': JSON.stringify({ ...(JSON.parse(tokenizer('Right')) as object), padding: null }) },
  });
  expect(await handler.handle(['good film', 'a film'])).toHaveLength(2);
  // The host then runs the rows one by one.
  await expect(handler.handle(['a good film', 'bad'])).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/^Texts of 3, 1 tokens cannot be read together: .*attention_mask/),
  });
});

test('text features: a unit vector, zeros as they are, and a row that is not finite fails alone', async () => {
  const make = (values: number[]) =>
    createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { texts: f32([3, 2], values) },
      files: { 'tokenizer.json': tokenizer('Right') },
    });
  const [unit, zeros, broken] = await (await make([3, 4, 0, 0, NaN, 1])).handle(['a', 'bad', 'film']);
  expect([...(unit as Embedding)]).toEqual([Math.fround(0.6), Math.fround(0.8)]);
  expect([...(zeros as Embedding)]).toEqual([0, 0]);
  expect(broken).toMatchObject({ code: 'inference-failed' });
});

test('text features: integers are no features; another output of the model is', async () => {
  const ids: Tensor = { dtype: 'int64', dims: [1, 3], data: BigInt64Array.of(1n, 2n, 3n) };
  const make = async (outputs: Readonly<Record<string, Tensor>>, handler: Params = {}) =>
    await createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { ids, ...outputs },
      config: { handler },
      files: { 'tokenizer.json': tokenizer('Right') },
    });
  const vector = f32([1, 2], [3, 4]);
  const unit = [Math.fround(0.6), Math.fround(0.8)];
  for (const outputs of [{ anything: vector }, { pooled: f32([1, 1], [9]), last_hidden_state: vector }])
    expect([...((await (await make(outputs)).predict('bad')) as Embedding)]).toEqual(unit);
  const fails = async (outputs: Readonly<Record<string, Tensor>>, handler: Params, words: string) =>
    await expect(make(outputs, handler)).rejects.toMatchObject({
      code: 'model-config',
      message: `handler.outputName: the handler needs floating-point numbers, but the output "ids" is int64. ${words}`,
    });
  await fails({ a: vector, b: vector }, {}, 'Name "a" or "b".');
  await fails({ a: vector }, { outputName: 'ids' }, 'Name "a".');
  await fails({}, {}, 'The model has no output of them: export it for the task of this handler.');
});

test('text features: outputs that cannot be pooled say what to name instead', async () => {
  const fail = async (output: Tensor, params: object = {}, config: object = {}) => {
    const handler = await createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { output },
      config: { handler: { ...config } },
      files: { 'tokenizer.json': tokenizer('Right') },
    });
    return await handler.predict('a good film', { params: params as never }).catch((error: Error) => error);
  };
  expect(await fail(f32([1, 2], [1, 2]), { pooling: 'mean' })).toMatchObject({ code: 'invalid-input' });
  expect(await fail(f32([1, 2], [1, 2]), {}, { pooling: 'mean' })).toMatchObject({ code: 'model-config' });
  expect(await fail(f32([1, 0], []))).toMatchObject({ message: expect.stringContaining('no features') });
  // Fewer vectors than tokens: those of another sequence.
  expect(await fail(f32([1, 2, 1], [1, 2]))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('each of the 3 tokens'),
  });
  expect(await fail(f32([1, 1, 1, 2], [1, 2]))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('[1, 1, 2]'),
  });
});

test('image features: maps in both layouts, positions, and a pooling that does not apply', async () => {
  const pixels = { data: new Uint8Array(2 * 2 * 3), dims: [2, 2, 3] };
  const predict = async (output: Tensor, handler: object = {}, params: object = {}) =>
    await (
      await createTestHandler(ImageFeatureExtractor, {
        outputs: { output },
        config: { handler: { normalize: false, imageProcessing: ['toTensor'], ...handler } },
      })
    )
      .predict(pixels, { params: params as never })
      .then((vector) => [...vector])
      .catch((error: Error) => error);
  expect(await predict(f32([1, 2, 1, 3], [1, 2, 3, 4, 5, 9]))).toEqual([2, 6]);
  expect(await predict(f32([1, 1, 3, 2], [1, 4, 2, 5, 3, 9]), { layout: 'NHWC' })).toEqual([2, 6]);
  expect(await predict(f32([1, 3, 2], [1, 4, 2, 5, 3, 9]))).toEqual([1, 4]);
  expect(await predict(f32([1, 3, 2], [1, 4, 2, 5, 3, 9]), { pooling: 'mean' })).toEqual([2, 6]);
  for (const output of [f32([1, 2], [1, 2]), f32([1, 2, 1, 3], [1, 2, 3, 4, 5, 9])])
    expect(await predict(output, { pooling: 'cls' })).toMatchObject({ code: 'model-config' });
});

test('features of a repository: the vector that its family was trained to make', async () => {
  const pixels = { data: new Uint8Array(2 * 2 * 3), dims: [2, 2, 3] };
  const vector = async (model_type: string, handler: object = {}, name = 'pooler_output') => {
    const extractor = await createTestHandler(ImageFeatureExtractor, {
      outputs: {
        last_hidden_state: f32([1, 3, 2], [1, 4, 2, 5, 3, 9]),
        [name]: f32([1, 2], [7, 8]),
      },
      files: { 'config.json': JSON.stringify({ model_type }) },
      config: { handler: { normalize: false, imageProcessing: ['toTensor'], ...handler } },
    });
    return [...((await extractor.predict(pixels)) as Embedding)];
  };
  expect(await vector('siglip_vision_model'), 'its own layer').toEqual([7, 8]);
  expect(await vector('pixio'), 'the mean of its vectors for the image').toEqual([7, 8]);
  expect(await vector('radio', {}, 'summary'), 'its vectors for the image, one after the other').toEqual([7, 8]);
  expect(await vector('siglip_vision_model', { pooling: 'mean' }), 'the config wins').toEqual([2, 6]);
  expect(await vector('swin'), 'no first one for the whole image').toEqual([2, 6]);
  expect(await vector('swin', { pooling: 'cls' }), 'the config wins').toEqual([1, 4]);
  expect(await vector('vit'), 'its pooler often was not trained').toEqual([1, 4]);
});

test('features of CLIP’s texts: the vector of the text’s end, which its own layer makes', async () => {
  const vector = async (model_type: string) => {
    const extractor = await createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { last_hidden_state: f32([1, 2, 2], [1, 1, 3, 3]), pooler_output: f32([1, 2], [5, 6]) },
      files: { 'tokenizer.json': tokenizer('Right'), 'config.json': JSON.stringify({ model_type }) },
      config: { handler: { normalize: false } },
    });
    return [...((await extractor.predict('good film')) as Embedding)];
  };
  expect(await vector('clip_text_model')).toEqual([5, 6]);
  expect(await vector('bert')).toEqual([2, 2]);
});

test('features of BLIP-2’s texts: the projection of the first token, unless pooling says otherwise', async () => {
  const vector = async (handler: object) => {
    const extractor = await createTestHandler(TextFeatureExtractor, {
      inputs: [integers('input_ids')],
      outputs: { text_embeds: f32([1, 2, 2], [1, 1, 3, 3]) },
      files: { 'tokenizer.json': tokenizer('Right') },
      config: { handler: { normalize: false, ...handler } },
    });
    return [...((await extractor.predict('good film')) as Embedding)];
  };
  expect(await vector({})).toEqual([1, 1]);
  expect(await vector({ pooling: 'mean' })).toEqual([2, 2]);
});

test('cosine similarity, and the nearest of many', () => {
  expect(cosineSimilarity([1, 0], [0, 2])).toBe(0);
  expect(cosineSimilarity([1, 2], new Float32Array([2, 4]))).toBeCloseTo(1, 15);
  expect(cosineSimilarity([1, 2], [-2, -4])).toBeCloseTo(-1, 15);
  expect(cosineSimilarity([0, 0], [1, 2])).toBe(0);
  expect(() => cosineSimilarity([1], [1, 2])).toThrow(/same length, got 1 and 2/);
  const vectors = [
    [0, 1],
    [1, 1],
    [1, 0],
    [2, 2],
  ];
  expect(nearest([1, 1], vectors, 3)).toEqual([
    { index: 1, score: expect.closeTo(1) },
    { index: 3, score: expect.closeTo(1) },
    { index: 0, score: expect.closeTo(Math.SQRT1_2) },
  ]);
  expect(nearest([1, 1], [])).toEqual([]);
  expect(nearest([1, 1], vectors, 100)).toHaveLength(4);
});
