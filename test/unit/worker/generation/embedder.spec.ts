// Decoders that read embeddings in place of tokens, over stand-ins: what the exports of Gemma 3n (the layers' own
// embeddings), Qwen 2.5-VL (positions on three axes) and SmolVLM have in common.
import { expect, test } from '@playwright/test';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../../src/contract/tensors.ts';
import { Decoder } from '../../../../src/worker/generation/decoder.ts';
import { readInterface } from '../../../../src/worker/generation/decoder-interface.ts';
import { Embedder } from '../../../../src/worker/generation/embedder.ts';
import { SoftTokens } from '../../../../src/worker/generation/soft-tokens.ts';
import { createTestContext } from '../../../../src/worker.ts';

const [SIZE, LAYERS, VOCABULARY] = [4, 2, 8];
const floats = (name: string, dims: TensorInfo['dims']): TensorInfo => ({ name, dtype: 'float32', dims });
const EMBEDDINGS = floats('inputs_embeds', ['rows', 'tokens', SIZE]);
const PER_LAYER = floats('per_layer_inputs', ['rows', 'tokens', LAYERS, 2]);
const POSITIONS: TensorInfo = { name: 'position_ids', dtype: 'int64', dims: [3, 'rows', 'tokens'] };
const OUTPUTS = [{ name: 'logits', dtype: 'float32', dims: ['rows', 'tokens', VOCABULARY] }] as const;

/** `embed_tokens`: each vector has the token's number in all places. */
function embedTokens(outputs: readonly TensorInfo[]): Session {
  return {
    inputs: [{ name: 'input_ids', dtype: 'int64', dims: ['rows', 'tokens'] }],
    outputs,
    run(feeds: Tensors) {
      const { dims, data } = feeds['input_ids'] as Tensor<'int64'>;
      const made = outputs.map(({ name, dims: own }) => {
        const each = (own.slice(2) as number[]).reduce((product, size) => product * size, 1);
        const numbers = [...data].flatMap((token) => Array.from({ length: each }, () => Number(token)));
        return [name, { dtype: 'float32', dims: [...dims, ...own.slice(2)], data: Float32Array.from(numbers) }];
      });
      return Promise.resolve(Object.fromEntries(made) as Tensors);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A decoder without a cache, whose runs are recorded. */
function decoder(inputs: readonly TensorInfo[], runs: Tensors[]): Session {
  return {
    inputs,
    outputs: OUTPUTS,
    run(feeds: Tensors) {
      runs.push(feeds);
      const [rows, tokens] = feeds['inputs_embeds']!.dims as [number, number];
      const data = new Float32Array(rows * tokens * VOCABULARY);
      return Promise.resolve({ logits: { dtype: 'float32', dims: [rows, tokens, VOCABULARY], data } });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

test('the layers’ own embeddings come from the same file, and positions have three axes', async () => {
  const runs: Tensors[] = [];
  const session = decoder([EMBEDDINGS, PER_LAYER, POSITIONS], runs);
  const model = readInterface(session, 'text_generator');
  expect(model.ids).toBeUndefined();
  const made = new Decoder(session, model, new Embedder(embedTokens([EMBEDDINGS, PER_LAYER]), model));
  await made.run([[5, 6]], made.emptyCache());
  const [feeds] = runs;
  expect(feeds!['inputs_embeds']).toMatchObject({ dims: [1, 2, SIZE], data: Float32Array.of(5, 5, 5, 5, 6, 6, 6, 6) });
  expect(feeds!['per_layer_inputs']).toMatchObject({
    dims: [1, 2, LAYERS, 2],
    data: Float32Array.of(5, 5, 5, 5, 6, 6, 6, 6),
  });
  expect(feeds!['position_ids']).toMatchObject({ dims: [3, 1, 2], data: BigInt64Array.of(0n, 1n, 0n, 1n, 0n, 1n) });
  const example = made.example(made.emptyCache())!;
  expect(example['inputs_embeds']!.dims).toEqual([1, 1, SIZE]);
  expect(new Set(example['inputs_embeds']!.data as Float32Array).size).toBe(SIZE);
  expect(example['per_layer_inputs']!.dims).toEqual([1, 1, LAYERS, 2]);
});

test('positions have as many axes as the model says; three, if it does not say how many', async () => {
  for (const [axes, expected] of [
    [4, 4],
    ['axes', 3],
  ] as const) {
    const runs: Tensors[] = [];
    const session = decoder([EMBEDDINGS, { ...POSITIONS, dims: [axes, 'rows', 'tokens'] }], runs);
    const model = readInterface(session, 'text_generator');
    const made = new Decoder(session, model, new Embedder(embedTokens([EMBEDDINGS]), model));
    await made.run([[5, 6]], made.emptyCache());
    const data = BigInt64Array.from({ length: 2 * expected }, (_, at) => BigInt(at % 2));
    expect(runs[0]!['position_ids']).toMatchObject({ dims: [expected, 1, 2], data });
  }
});

test('vectors of pictures take the places of their numbers, and the layers’ own embeddings are those of their tokens', async () => {
  const runs: Tensors[] = [];
  const session = decoder([EMBEDDINGS, PER_LAYER], runs);
  const model = readInterface(session, 'text_generator');
  const embedder = new Embedder(embedTokens([EMBEDDINGS, PER_LAYER]), model);
  const vectors = new SoftTokens(createTestContext().kept);
  embedder.vectors = vectors;
  const made = new Decoder(session, model, embedder);
  let count = 0;
  const make = (value: number) => (): Promise<Tensor> => {
    count += 1;
    const data = Float32Array.from({ length: 2 * SIZE }, (_, at) => value + at);
    return Promise.resolve({ dtype: 'float32', dims: [1, 2, SIZE], data });
  };
  const cat = await vectors.hold({ key: 'cat', token: 7, count: 2 }, make(100));
  const bark = await vectors.hold({ key: 'bark', token: 5, count: 2 }, make(200));
  expect((await vectors.hold({ key: 'cat', token: 7, count: 2 }, make(0))).first).toBe(cat.first);
  expect(count).toBe(2);
  await made.run([[3, bark.first + 1, cat.first, cat.first + 1]], made.emptyCache());
  expect([...(runs[0]!['inputs_embeds']!.data as Float32Array)]).toEqual([
    3, 3, 3, 3, 204, 205, 206, 207, 100, 101, 102, 103, 104, 105, 106, 107,
  ]);
  expect([...(runs[0]!['per_layer_inputs']!.data as Float32Array)]).toEqual(
    [3, 5, 7, 7].flatMap((one) => [one, one, one, one]),
  );
});

test('a picture that was evicted while nobody used it gets new numbers; one that is used keeps its own', async () => {
  const context = createTestContext({ config: { handler: { maxStateBytes: 0 } } });
  const vectors = new SoftTokens(context.kept);
  const make = (): Promise<Tensor> =>
    Promise.resolve({ dtype: 'float32', dims: [1, SIZE], data: new Float32Array(SIZE).fill(1) });
  const first = await vectors.hold({ key: 'cat', token: 7, count: 1 }, make);
  const again = await vectors.hold({ key: 'cat', token: 7, count: 1 }, make);
  expect(again.first).toBe(first.first);
  vectors.release(again);
  expect(vectors.vectorOf(first.first)).toEqual({ vector: Float32Array.of(1, 1, 1, 1), token: 7 });
  vectors.release(first);
  expect(() => vectors.vectorOf(first.first)).toThrow();
  expect((await vectors.hold({ key: 'cat', token: 7, count: 1 }, make)).first).not.toBe(first.first);
  await expect(
    vectors.hold({ key: 'dog', token: 7, count: 1 }, () => Promise.reject(new Error('lost'))),
  ).rejects.toThrow('lost');
  expect((await vectors.hold({ key: 'dog', token: 7, count: 1 }, make)).count).toBe(1);
});

test('an embed_tokens of another model, or in another precision, is named', () => {
  const model = readInterface(decoder([EMBEDDINGS], []), 'text_generator');
  const other = [
    embedTokens([floats('inputs_embeds', ['rows', 'tokens', SIZE + 1])]),
    embedTokens([{ ...EMBEDDINGS, dtype: 'float16' }]),
    embedTokens([floats('last_hidden_state', ['rows', 'tokens', SIZE])]),
  ];
  for (const session of other)
    expect(() => new Embedder(session, model)).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining('engine.dtype chooses them') }),
    );
});
