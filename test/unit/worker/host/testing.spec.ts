import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import {
  BaseHandler,
  createTestContext,
  createTestHandler,
  ImageClassifier,
  ImageSegmenter,
  ObjectDetector,
  PredictionError,
  TabServeError,
  TextClassifier,
  VisionHandler,
  type Context,
  type Session,
  type Tensors,
  type TestContextOptions,
  type TestOutputs,
} from '../../../../src/worker.ts';

const gray = (value: number, height = 4, width = 4) => ({
  data: new Uint8Array(height * width * 3).fill(value),
  dims: [height, width, 3],
});

class Likeliest extends VisionHandler {
  override postprocess(outputs: Tensors, context: Context): string[] {
    const [rows, classes] = outputs['logits']!.dims as [number, number];
    const logits = outputs['logits']!.data as Float32Array;
    return Array.from({ length: rows }, (_, row) => {
      context.metrics.addCounter('Rows');
      const own = [...logits.subarray(row * classes, (row + 1) * classes)];
      return this.mapping![own.indexOf(Math.max(...own))]!;
    });
  }
}
const LABELS = ['three', 'four'];

test('a handler’s test is three lines: outputs and labels, an input, an answer', async () => {
  const handler = await createTestHandler(Likeliest, { outputs: { logits: [[1, 3]] }, labels: LABELS });
  expect(await handler.predict(gray(0))).toBe('four');
  expect(handler.runs.map(({ image }) => image!.dims)).toEqual([[1, 3, 4, 4]]);
});

test('one row is the output for every input; several rows are the outputs of one input each; another count is refused', async () => {
  const one = await createTestHandler(Likeliest, { outputs: { logits: [[1, 3]] }, labels: LABELS });
  expect(await one.handle([gray(0), gray(1), gray(2)])).toEqual(['four', 'four', 'four']);
  const each = await createTestHandler(Likeliest, {
    outputs: {
      logits: [
        [1, 3],
        [3, 1],
      ],
    },
    labels: LABELS,
  });
  expect(await each.handle([gray(0), gray(1)])).toEqual(['four', 'three']);
  await expect(each.handle([gray(0), gray(1), gray(2)])).rejects.toMatchObject({
    name: 'TabServeError',
    message: expect.stringMatching(/"logits" has 2 rows, but the batch has 3/),
  });
});

test('a function computes the outputs from the feeds, and shows which dims are dynamic', async () => {
  const handler = await createTestHandler(ImageSegmenter, {
    outputs: ({ image }) => {
      const [rows, , height, width] = image!.dims as [number, number, number, number];
      const class1 = image!.data[0] === 1;
      const map = [0, 1].map((index) => Array(height).fill(Array(width).fill(Number(class1 === (index === 1)))));
      return { map: Array(rows).fill(map) as number[][][][] };
    },
    config: { handler: { imageProcessing: ['toTensor'], result: 'classes' } },
  });
  expect(handler.handler.model.outputs).toEqual([{ name: 'map', dtype: 'float32', dims: [null, 2, null, null] }]);
  expect(await handler.predict(gray(255, 2, 3))).toMatchObject({
    result: 'classes',
    width: 3,
    height: 2,
    classes: new Uint8Array(6).fill(1),
  });
  expect(await handler.predict(gray(0, 2, 3))).toMatchObject({ classes: new Uint8Array(6) });
  expect(handler.runs).toHaveLength(2);
});

test('a detector whose outputs have no batch axis', async () => {
  const handler = await createTestHandler(ObjectDetector, {
    outputs: { boxes: [[0, 0, 2, 3]], labels: [1n], scores: [0.75] },
    labels: ['background', 'cat'],
  });
  expect(await handler.predict(gray(9))).toEqual([
    { label: 'cat', score: 0.75, box: { xmin: 0, ymin: 0, xmax: 2, ymax: 3 } },
  ]);
});

test('a text handler, with a tokenizer of its own or with none', async () => {
  const outputs = { logits: [[0, Math.log(3)]] };
  const words = await createTestHandler(TextClassifier, { outputs, labels: LABELS });
  await words.predict('one two three');
  expect([...words.runs[0]!['input_ids']!.data]).toEqual([1n, 1n, 1n]);
  expect([...words.runs[0]!['attention_mask']!.data]).toEqual([1n, 1n, 1n]);
  const file = readFileSync(new URL('../../../../public/models/languages/tokenizer.json', import.meta.url));
  const own = await createTestHandler(TextClassifier, { outputs, labels: LABELS, files: { 'tokenizer.json': file } });
  const answer = JSON.stringify(await own.predict('Good morning'));
  expect(answer).toContain('0.75');
  expect([...own.runs[0]!['input_ids']!.data]).not.toContain(1n);
});

test('feeds are checked against the declared inputs, as an engine checks them', async () => {
  class Wrong extends BaseHandler {
    override preprocess(): Tensors {
      return { x: { dtype: 'float32', dims: [1, 3], data: new Float32Array(3) } };
    }
  }
  const inputs = [{ name: 'x', dtype: 'float32', dims: ['batch', 2] }] as const;
  const handler = await createTestHandler(Wrong, { outputs: { y: [[1]] }, inputs });
  await expect(handler.predict({ data: Float32Array.of(1, 2), dims: [2] })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/"x".*\[batch, 2\].*\[1, 3\]/),
  });
});

test('every kind of output: bigints, booleans, texts and tensors', async () => {
  const inputs = [{ name: 'x', dtype: 'float32', dims: ['batch', 1] }] as const;
  const handler = await createTestHandler(BaseHandler, {
    inputs,
    outputs: {
      ids: [[1n, 2n]],
      flags: [[true, false]],
      names: [['a']],
      bytes: { dtype: 'uint8', dims: [1, 1], data: Uint8Array.of(7) },
    },
  });
  expect(await handler.predict({ data: Float32Array.of(1), dims: [1] })).toEqual({
    ids: { dtype: 'int64', dims: [2], data: BigInt64Array.of(1n, 2n) },
    flags: { dtype: 'bool', dims: [2], data: Uint8Array.of(1, 0) },
    names: { dtype: 'string', dims: [1], data: ['a'] },
    bytes: { dtype: 'uint8', dims: [1], data: Uint8Array.of(7) },
  });
});

for (const [outputs, message] of [
  [{ logits: [[1, 2], [1]] }, 'Output "logits": lists of one level must have the same length.'],
  [{ logits: [[1], 2] }, 'Output "logits": lists of one level must have the same length.'],
  [{ logits: [[1, 2n]] }, 'Output "logits": expected values of one type, numbers, bigints, booleans or texts.'],
  [{ logits: [[null]] }, 'Output "logits": expected numbers, bigints, booleans or texts, not object.'],
] as const) {
  test(`outputs that are no tensor: ${JSON.stringify(outputs, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value))}`, async () => {
    await expect(
      createTestHandler(ImageClassifier, { outputs: outputs as unknown as TestOutputs }),
    ).rejects.toMatchObject({ code: 'invalid-input', message });
  });
}

test('params, failed rows, explanations and metrics', async () => {
  class Explained extends Likeliest {
    override getInsights(): Promise<string[]> {
      return Promise.resolve(['because']);
    }
  }
  const handler = await createTestHandler(Explained, { outputs: { logits: [[1, 3]] }, labels: LABELS });
  const damaged = { data: new Uint8Array(1), dims: [4, 4, 3] };
  const [good, bad] = await handler.handle([gray(1), damaged]);
  expect(good).toBe('four');
  expect(bad).toBeInstanceOf(PredictionError);
  await expect(handler.predict(damaged)).rejects.toMatchObject({ name: 'PredictionError', code: 'invalid-input' });
  await expect(handler.predict(gray(1), { params: { labels: [] } })).rejects.toMatchObject({ code: 'invalid-input' });
  expect(handler.observations.map(({ name }) => name)).toEqual(['Rows', 'Rows']);
  expect(await handler.explain(gray(1))).toBe('because');
});

test('labels that do not fit the outputs are refused, as in a worker', async () => {
  await expect(
    createTestHandler(ImageClassifier, { outputs: { logits: [[1, 3]] }, labels: ['one', 'two', 'three'] }),
  ).rejects.toMatchObject({ code: 'model-config', message: expect.stringMatching(/3 labels/) });
});

test('createTestContext: whatever it is given, opening and failing a row give values or typed errors', async () => {
  const options = fc.record(
    {
      session: fc.anything(),
      files: fc.dictionary(fc.string(), fc.string()),
      batchSize: fc.nat(3),
      params: fc.dictionary(fc.string(), fc.anything()),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(options, fc.anything(), fc.anything(), async (given, path, error) => {
      const context = createTestContext(given as TestContextOptions);
      expect(context.params).toHaveLength(given.batchSize ?? 1);
      const opened = await context.open(path as string).catch((failure: unknown) => failure);
      if (opened instanceof Error) expect(opened).toBeInstanceOf(TabServeError);
      if ((given.batchSize ?? 1) > 0) {
        context.fail(0, error);
        expect(context.failures.get(0)).toBeInstanceOf(TabServeError);
      }
      for (const index of [-1, 0.5, 99, NaN])
        expect(() => context.fail(index, error)).toThrow(expect.objectContaining({ code: 'handler-failed' }));
    }),
  );
});

test('a handler that opens its nodes’ models alone gets their stand-ins', async () => {
  class Difference extends BaseHandler<readonly number[], number> {
    #other!: Session;

    override async initialize(context: Context): Promise<void> {
      await super.initialize(context);
      this.#other = await context.open('other');
    }

    override async inference(inputs: Tensors): Promise<Tensors> {
      const [own, other] = await Promise.all([this.model.run(inputs), this.#other.run(inputs)]);
      const [one, two] = [own['y']!.data as Float32Array, other['z']!.data as Float32Array];
      return { y: { dtype: 'float32', dims: [1, 1], data: one.map((value, index) => value - two[index]!) } };
    }
  }
  const handler = await createTestHandler(Difference, {
    outputs: { y: [[5]] },
    nodes: { other: { outputs: { z: [[2]] } }, answers: { answers: () => [] } },
  });
  const [row] = await handler.handle([{ data: Float32Array.of(1), dims: [1] } as never]);
  expect(row).toMatchObject({ y: { data: Float32Array.of(3) } });
  const context = createTestContext({ nodes: { answers: { answers: () => [] } } });
  await expect(context.open('answers')).rejects.toMatchObject({ code: 'model-not-found' });
});
