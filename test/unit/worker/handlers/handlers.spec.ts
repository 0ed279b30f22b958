import { expect, test } from '@playwright/test';
import type { ModelConfig } from '../../../../src/contract/archive.ts';
import type { Session, TensorInfo, Tensors } from '../../../../src/contract/tensors.ts';
import {
  BaseHandler,
  createTestContext,
  createTestHandler,
  ImageClassifier,
  ImageSegmenter,
  ObjectDetector,
  PredictionError,
  VisionHandler,
  type Classification,
  type Context,
  type Handler,
  type ImageInput,
  type Row,
  type TensorInput,
} from '../../../../src/worker.ts';
import { Recorder } from '../../../../src/worker/host/recorder.ts';
import { runOrRetry } from '../../../../src/worker/host/run-batch.ts';
import { stubSession } from '../../support/stub-session.ts';

/** What a worker runs a batch with. */
const runner = {
  environment: { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {} } as never,
  metrics: new Recorder(),
  signal: new AbortController().signal,
};

const vector = (name: string, size: number, batch: number | string = 'batch'): TensorInfo => ({
  name,
  dtype: 'float32',
  dims: [batch, size],
});
const f32 = (dims: number[], values: number[]) =>
  ({ dtype: 'float32', dims, data: Float32Array.from(values) }) as const;

/** Doubles every number. */
const doubler = (batch: number | string = 'batch') =>
  stubSession([vector('x', 2, batch)], [vector('y', 2, batch)], ({ x }) => ({
    y: f32(
      [...x!.dims],
      Array.from(x!.data as Float32Array, (value) => value * 2),
    ),
  }));

async function handle(
  handler: Handler,
  session: Session,
  rows: unknown[],
  options: Parameters<typeof createTestContext>[0] = {},
) {
  await handler.initialize(createTestContext({ session, ...options }));
  return await handler.handle(rows as never[], createTestContext({ session, ...options, batchSize: rows.length }));
}

/** Runs a batch as a worker does: if a stage throws for the batch, the rows run one by one. */
async function handleInWorker(
  handler: Handler,
  session: Session,
  rows: readonly unknown[],
  { config = {}, params = rows.map(() => ({})) }: { config?: ModelConfig; params?: readonly object[] } = {},
) {
  const context = createTestContext({ session, config });
  await handler.initialize(context);
  const { manifest, files, kept, open, openHandler, warn } = context;
  const { backend } = context.systemProperties;
  const environment = { modelDir: '', backend, manifest, config, files, kept, open, openHandler, warn };
  const ids = rows.map((_, index) => String(index));
  const { metrics, signal } = runner;
  return await runOrRetry(
    { request: 'predict', rows, ids, params: params as never },
    { handler, environment, metrics, signal },
    [],
  );
}

test('BaseHandler: rows are stacked, run once, and separated again', async () => {
  const session = doubler();
  const results = (await handle(new BaseHandler(), session, [
    f32([2], [1, 2]),
    { data: f32([2], [3, 4]) },
    { body: { x: f32([1, 2], [5, 6]) } },
  ])) as Tensors[];
  expect(session.runs.map(({ x }) => x!.dims)).toEqual([[3, 2]]);
  expect(results.map(({ y }) => [...(y!.data as Float32Array)])).toEqual([
    [2, 4],
    [6, 8],
    [10, 12],
  ]);
  expect(new Set(results.map(({ y }) => (y!.data as Float32Array).buffer)).size).toBe(3);
});

test('BaseHandler: a model with a fixed batch gets the batch in pieces', async () => {
  for (const [fixed, pieces] of [
    [1, [1, 1, 1]],
    [2, [2, 2]],
  ] as const) {
    const session = doubler(fixed);
    const results = (await handle(new BaseHandler(), session, [
      f32([2], [1, 2]),
      f32([2], [3, 4]),
      f32([2], [5, 6]),
    ])) as Tensors[];
    expect(session.runs.map(({ x }) => x!.dims[0])).toEqual(pieces);
    expect(results.map(({ y }) => [...(y!.data as Float32Array)])).toEqual([
      [2, 4],
      [6, 8],
      [10, 12],
    ]);
  }
});

test('BaseHandler: a list of numbers instead of a typed array is refused as that, not as strings', async () => {
  const list = { data: [1, 2], dims: [2] } as never;
  await expect(handle(new BaseHandler(), doubler(), [list])).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'Expected a typed array as data, got Array.',
  });
});

test('a model that takes one row and answers as many boxes as it finds: each row gets its own, as it does alone', async () => {
  /** As many boxes as the first number of the row, each with the second number. */
  const boxes = (isBatched: boolean) =>
    stubSession(
      [vector('x', 2, 1)],
      [{ name: 'boxes', dtype: 'float32', dims: isBatched ? [1, null, 1] : [null, 1] }],
      ({ x }) => {
        const [count, value] = x!.data as Float32Array as unknown as [number, number];
        return {
          boxes: f32(
            isBatched ? [1, count, 1] : [count, 1],
            Array.from({ length: count }, () => value),
          ),
        };
      },
    );
  for (const isBatched of [true, false])
    for (const counts of [
      [3, 5],
      [5, 3],
      [0, 2],
      [1, 1],
    ]) {
      const handler = new BaseHandler();
      await handler.initialize(createTestContext({ session: boxes(isBatched) }));
      const rows = counts.map((count, index) => f32([2], [count, index + 7]));
      const { environment, metrics, signal } = runner;
      const request = { request: 'predict', rows, ids: ['a', 'b'], params: [{}, {}] } as const;
      const answers = (await runOrRetry(request, { handler, environment, metrics, signal }, [])) as Tensors[];
      expect(
        answers.map((answer) => [...(answer['boxes']!.data as Float32Array)]),
        String(counts),
      ).toEqual(counts.map((count, index) => Array.from({ length: count }, () => index + 7)));
    }
});

test('the stages run in their order, each overridable alone', async () => {
  const calls: string[] = [];
  class Traced extends BaseHandler {
    override async initialize(context: Context) {
      calls.push('initialize');
      await super.initialize(context);
    }
    override preprocess(data: readonly TensorInput[], context: Context) {
      calls.push('preprocess');
      return super.preprocess(data, context);
    }
    override async inference(inputs: Tensors, context: Context) {
      calls.push('inference');
      return await super.inference(inputs, context);
    }
    override postprocess(outputs: Tensors) {
      calls.push('postprocess');
      return [(outputs['y']!.data as Float32Array)[0]!];
    }
  }
  expect(await handle(new Traced(), doubler(), [f32([2], [21, 0])])).toEqual([42]);
  expect(calls).toEqual(['initialize', 'preprocess', 'inference', 'postprocess']);
});

test('the contract: initialized first, no empty batch, one result a row', async () => {
  class Short extends BaseHandler {
    override postprocess() {
      return [1];
    }
  }
  const session = doubler();
  await expect(new BaseHandler().handle([f32([2], [1, 2])], createTestContext({ session }))).rejects.toMatchObject({
    code: 'not-initialized',
  });
  await expect(handle(new BaseHandler(), session, [])).rejects.toMatchObject({ code: 'invalid-input' });
  await expect(handle(new Short(), session, [f32([2], [1, 2]), f32([2], [1, 2])])).rejects.toMatchObject({
    code: 'batch-contract',
    message: expect.stringMatching(/2 rows.*1 results/),
  });
});

test('a row that fails keeps its place; when all fail the model is not run', async () => {
  class Picky extends BaseHandler {
    override preprocess(data: readonly TensorInput[], context: Context) {
      data.forEach(
        (row, index) => (row as { data: Float32Array }).data[0]! < 0 && context.fail(index, new RangeError('negative')),
      );
      return super.preprocess(data, context);
    }
  }
  const session = doubler();
  const mixed = await handle(new Picky(), session, [f32([2], [1, 2]), f32([2], [-1, 2])]);
  expect(mixed[0]).not.toBeInstanceOf(Error);
  expect(mixed[1]).toBeInstanceOf(PredictionError);
  expect(mixed[1]).toMatchObject({ code: 'handler-failed', message: 'negative' });
  const runs = session.runs.length;
  const none = await handle(new Picky(), session, [f32([2], [-1, 2])]);
  expect(none[0]).toBeInstanceOf(PredictionError);
  expect(session.runs.length).toBe(runs);
});

test('an override of postprocess need not look for rows that have failed: the batch is run once', async () => {
  class Picky extends BaseHandler {
    override preprocess(data: readonly TensorInput[], context: Context) {
      context.fail(1, new RangeError('bad'));
      return super.preprocess(data, context);
    }
    override async postprocess(outputs: Tensors, context: Context) {
      return (await super.postprocess(outputs, context)).map(({ y }) => (y!.data as Float32Array)[0]);
    }
  }
  const session = doubler();
  const results = await handle(new Picky(), session, [f32([2], [1, 2]), f32([2], [3, 4]), f32([2], [5, 6])]);
  expect(results).toEqual([2, expect.objectContaining({ message: 'bad' }), 10]);
  expect(session.runs.length).toBe(1);
});

test('an override that throws because every row has failed in super does not hide why they failed', async () => {
  const damaged = { data: new Uint8Array(1), dims: [4, 4, 3] };
  class Inverted extends ImageClassifier {
    override async preprocess(data: readonly Row<ImageInput>[], context: Context): Promise<Tensors> {
      const { image } = await super.preprocess(data, context);
      return { image: { ...image!, data: (image!.data as Float32Array).map((value) => 1 - value) } };
    }
  }
  const preprocessed = await createTestHandler(Inverted, { outputs: { logits: [[1, 3]] } });
  await expect(preprocessed.predict(damaged)).rejects.toMatchObject({ code: 'invalid-input', stage: 'preprocess' });

  class Best extends ImageClassifier {
    override async postprocess(outputs: Tensors, context: Context): Promise<string[]> {
      return (await super.postprocess(outputs, context)).map(([best]) => best!.label);
    }
  }
  const postprocessed = await createTestHandler(Best, { outputs: { logits: [[NaN, 3]] } });
  await expect(postprocessed.predict(image(1))).rejects.toMatchObject({
    code: 'inference-failed',
    stage: 'postprocess',
  });
});

test('a subclass finds an empty list in the place of a row that has failed, and the batch runs once', async () => {
  class Best extends ImageClassifier {
    override async postprocess(outputs: Tensors, context: Context): Promise<(string | undefined)[]> {
      return (await super.postprocess(outputs, context)).map(([best]) => best?.label);
    }
  }
  const handler = await createTestHandler(Best, { outputs: { logits: [[1, 3]] }, labels: ['three', 'four'] });
  const [good, bad] = await handler.handle([image(1), { data: new Uint8Array(1), dims: [4, 4, 3] }]);
  expect(good).toBe('four');
  expect(bad).toMatchObject({ code: 'invalid-input' });
  expect(handler.runs).toHaveLength(1);
});

const image = (value: number) => ({ data: new Uint8Array(4 * 4 * 3).fill(value), dims: [4, 4, 3] });
/** Its logits are the mean of the image, times the class. */
const classifier = (classes = 4) =>
  stubSession(
    [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }],
    [vector('logits', classes)],
    ({ image: { dims, data } = f32([0], []) }) => {
      const rows = dims[0]!;
      const size = data.length / rows;
      const means = Array.from(
        { length: rows },
        (_, row) =>
          (data as Float32Array).slice(row * size, (row + 1) * size).reduce((sum, value) => sum + value, 0) / size,
      );
      return {
        logits: f32(
          [rows, classes],
          means.flatMap((mean) => Array.from({ length: classes }, (_, index) => mean * index)),
        ),
      };
    },
  );
const CONFIG = { handler: { imageProcessing: ['toTensor'] } };

test('ImageClassifier: softmax, labels in TorchServe’s three forms, the index of a class without one', async () => {
  const forms = [
    [{ 0: 'ant', 1: 'bee', 2: 'cat', 3: 'dog' }, ['dog', 'cat', 'bee', 'ant']],
    [{ 0: ['n0', 'ant'], 1: ['n1', 'bee'], 2: ['n2', 'cat'], 3: ['n3', 'dog'] }, ['dog', 'cat', 'bee', 'ant']],
    [{ object_type_names: ['ant', 'bee', 'cat', 'dog'] }, ['dog', 'cat', 'bee', 'ant']],
    [{ 3: 'dog' }, ['dog', '2', '1', '0']],
  ] as const;
  for (const [labels, keys] of forms) {
    const [result] = await handle(new ImageClassifier(), classifier(), [image(255)], {
      config: CONFIG,
      files: { 'index_to_name.json': JSON.stringify(labels) },
    });
    expect((result as Classification).map(({ label }) => label)).toEqual(keys);
    const total = Math.exp(0) + Math.exp(1) + Math.exp(2) + Math.exp(3);
    expect((result as Classification).find(({ label }) => label === 'dog')!.score).toBeCloseTo(Math.exp(3) / total, 6);
  }
});

test('ImageClassifier: k from the class, the config and the request, clamped to the classes', async () => {
  const session = classifier();
  const count = async (handler: ImageClassifier, config: Record<string, unknown>, params = {}) =>
    (
      (
        await handle(handler, session, [image(9)], { config: { handler: { ...CONFIG.handler, ...config } }, params })
      )[0] as Classification
    ).length;
  const two = new ImageClassifier();
  two.setMaxResultClasses(2);
  expect(await count(new ImageClassifier(), {})).toBe(4);
  expect(await count(two, {})).toBe(2);
  expect(await count(two, { topK: 3 })).toBe(3);
  expect(await count(two, { topK: 3 }, { topK: 1 })).toBe(1);
  expect(await count(two, { topK: 99 })).toBe(4);
  expect(() => two.setMaxResultClasses(0)).toThrow(expect.objectContaining({ code: 'model-config' }));
});

test('ImageClassifier: the list is by score, whatever the labels; the record is TorchServe’s', async () => {
  const labels = { 0: '1', 1: 'crane', 2: '7', 3: 'crane' };
  const config = { handler: { ...CONFIG.handler, labels, output: 'probabilities' } };
  const session = () =>
    stubSession([{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }], [vector('scores', 4)], () => ({
      scores: f32([1, 4], [0.0625, 0.5, 0.125, 0.3125]),
    }));
  expect(await handle(new ImageClassifier(), session(), [image(1)], { config })).toEqual([
    [
      { label: 'crane', score: 0.5 },
      { label: 'crane', score: 0.3125 },
      { label: '7', score: 0.125 },
      { label: '1', score: 0.0625 },
    ],
  ]);
  const record = { crane: 0.5, 'crane (3)': 0.3125, 7: 0.125, 1: 0.0625 };
  expect(
    await handle(new ImageClassifier(), session(), [image(1)], { config, params: { result: 'torchserve' } }),
  ).toEqual([record]);
  const torchserve = { handler: { ...config.handler, result: 'torchserve' } };
  expect(await handle(new ImageClassifier(), session(), [image(1)], { config: torchserve })).toEqual([record]);
});

test('ImageClassifier: probabilities are returned unchanged; a value that is not finite fails only its row', async () => {
  const [result] = await handle(new ImageClassifier(), classifier(2), [image(255)], {
    config: { handler: { ...CONFIG.handler, output: 'probabilities' } },
  });
  expect(result).toEqual([
    { label: '1', score: 1 },
    { label: '0', score: 0 },
  ]);
  const session = stubSession(
    [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }],
    [vector('logits', 2)],
    () => ({ logits: f32([2, 2], [1, NaN, 1, 2]) }),
  );
  const [bad, good] = await handle(new ImageClassifier(), session, [image(1), image(2)], { config: CONFIG });
  expect(bad).toMatchObject({ code: 'inference-failed' });
  expect(good).toHaveLength(2);
});

test('classifiers: an output whose open dims turn out to be no list of classes for each row is an error, not other classes', async () => {
  const answer = async (dims: number[], rows: number, labels?: string[]) => {
    const open = [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }] as const;
    const length = dims.reduce((product, size) => product * size, 1);
    const session = stubSession(open, [{ name: 'logits', dtype: 'float32', dims: [] }], () => ({
      logits: f32(dims, Array<number>(length).fill(1)),
    }));
    const config = { handler: { ...CONFIG.handler, ...(labels && { labels }) } };
    return await handle(new ImageClassifier(), session, Array(rows).fill(image(1)), { config });
  };
  for (const [dims, rows] of [
    [[1, 4], 2],
    [[3, 4], 2],
    [[3, 2], 1],
    [[4], 2],
    [[], 2],
  ] as const)
    await expect(answer([...dims], rows), `[${dims.join()}] for ${rows}`).rejects.toMatchObject({
      code: 'batch-contract',
      message: expect.stringContaining(`"logits" has the dims [${dims.join(', ')}]`),
    });
  await expect(answer([2, 5, 2], 2)).rejects.toMatchObject({ code: 'model-config' });
  await expect(answer([2, 3], 2, ['a', 'b'])).rejects.toMatchObject({ code: 'model-config' });
  await expect(answer([2, 0], 2)).rejects.toMatchObject({
    code: 'inference-failed',
    message: expect.stringContaining('"logits" is empty: its dims are [2, 0]'),
  });
  for (const dims of [[3], [1, 3], [1, 3, 1, 1]]) expect((await answer(dims, 1))[0], `${dims}`).toHaveLength(3);
});

test('ImageClassifier: logits that are said to be probabilities fail their row with a hint; what float16 rounds does not', async () => {
  const outputs = [
    [0.25, 0.75],
    [2, -1],
    [1.0005, -0.0005],
    [0.5, 1.25],
  ];
  const session = stubSession(
    [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }],
    [vector('scores', 2)],
    () => ({ scores: f32([4, 2], outputs.flat()) }),
  );
  const rows = await handle(new ImageClassifier(), session, outputs.map(image.bind(null, 1)), {
    config: CONFIG,
    params: { output: 'probabilities' },
  });
  const failure = (range: string) => ({
    code: 'inference-failed',
    stage: 'postprocess',
    message: expect.stringMatching(`${range}.*logits`),
  });
  expect(rows).toMatchObject([
    [
      { label: '1', score: 0.75 },
      { label: '0', score: 0.25 },
    ],
    failure('-1 to 2'),
    [
      { label: '0', score: Math.fround(1.0005) },
      { label: '1', score: Math.fround(-0.0005) },
    ],
    failure('0.5 to 1.25'),
  ]);
});

/** Answers with the height and width that it was fed. */
const measurer = (...dims: TensorInfo['dims']) =>
  stubSession(
    [{ name: 'image', dtype: 'float32', dims }],
    [{ name: 'size', dtype: 'float32', dims: dims.length === 3 ? [2] : ['batch', 2] }],
    ({ image: fed }) => {
      const size = fed!.dims.slice(-2);
      return {
        size:
          dims.length === 3
            ? f32([2], size)
            : f32([fed!.dims[0]!, 2], Array.from({ length: fed!.dims[0]! }, () => size).flat()),
      };
    },
  );
const black = (height: number, width: number) => ({
  data: new Uint8Array(height * width * 3),
  dims: [height, width, 3],
});

for (const [kind, dims] of [
  ['dynamic height and width', ['batch', 3, 'h', 'w']],
  ['dynamic height and width, a batch of one', [1, 3, null, null]],
  ['no batch axis', [3, 'h', 'w']],
] as const) {
  test(`VisionHandler: images of different sizes in one batch are all answered: ${kind}`, async () => {
    const damaged = { data: new Uint8Array(3), dims: [8, 8, 3] };
    const session = measurer(...dims);
    const rows = await handleInWorker(new VisionHandler(), session, [
      damaged,
      black(8, 8),
      black(9, 8),
      damaged,
      black(8, 8),
    ]);
    expect(
      rows.map((row) =>
        row instanceof PredictionError
          ? `${row.code} ${row.stage}`
          : [...((row as Tensors)['size']!.data as Float32Array)],
      ),
    ).toEqual(['invalid-input preprocess', [8, 8], [9, 8], 'invalid-input preprocess', [8, 8]]);
    expect(session.runs).toHaveLength(3);
  });
}

test('VisionHandler: images of one size are run as one batch, and an image that does not fit the model fails alone', async () => {
  const session = measurer('batch', 3, 8, 'w');
  expect(await handle(new VisionHandler(), session, [black(8, 9), black(9, 9), black(8, 9)])).toMatchObject([
    {},
    { code: 'invalid-input' },
    {},
  ]);
  expect(session.runs.map(({ image: fed }) => fed!.dims)).toEqual([[3, 3, 8, 9]]);
});

test('VisionHandler: rows of different sizes keep their own params and ids', async () => {
  class Told extends VisionHandler {
    override postprocess(_: Tensors, context: Context) {
      return context.requestIds.map((id, index) => [
        id,
        context.params[index]!['background'],
        this.placement(index, context)!.height,
      ]);
    }
  }
  const session = measurer('batch', 3, 'h', 'w');
  const params = [{ background: [255, 0, 0] }, { background: [0, 0, 255] }] as const;
  const [red, blue] = params;
  expect(await handleInWorker(new Told(), session, [black(8, 8), black(9, 8)], { params })).toEqual([
    ['0', red.background, 8],
    ['1', blue.background, 9],
  ]);
});

test('ImageSegmenter and ObjectDetector: photos of different sizes through a model of any size', async () => {
  const photos = [black(8, 8), black(9, 8)];
  const maps = stubSession(
    [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 'h', 'w'] }],
    [{ name: 'map', dtype: 'float32', dims: ['batch', 2, 'h', 'w'] }],
    ({ image: fed }) => {
      const [rows, , height, width] = fed!.dims as [number, number, number, number];
      return { map: f32([rows, 2, height, width], Array(rows * 2 * height * width).fill(0)) };
    },
  );
  const config = { handler: { imageProcessing: ['toTensor'] } };
  expect(await handleInWorker(new ImageSegmenter(), maps, photos, { config })).toMatchObject([
    { width: 8, height: 8 },
    { width: 8, height: 9 },
  ]);
  const torchvision = stubSession(
    [{ name: 'image', dtype: 'float32', dims: [3, 'h', 'w'] }],
    [
      { name: 'boxes', dtype: 'float32', dims: ['n', 4] },
      { name: 'labels', dtype: 'int64', dims: ['n'] },
      { name: 'scores', dtype: 'float32', dims: ['n'] },
    ],
    ({ image: fed }) => ({
      boxes: f32([1, 4], [0, 0, fed!.dims[2]!, fed!.dims[1]!]),
      labels: { dtype: 'int64', dims: [1], data: BigInt64Array.of(1n) },
      scores: f32([1], [1]),
    }),
  );
  expect(await handleInWorker(new ObjectDetector(), torchvision, photos)).toEqual(
    [8, 9].map((height) => [{ label: '1', score: 1, box: { xmin: 0, ymin: 0, xmax: 8, ymax: height } }]),
  );
});

test('VisionHandler: a subclass with a preprocess of its own needs no transforms that fit', async () => {
  class Own extends ImageClassifier {
    override preprocess() {
      return Promise.resolve({ image: f32([1, 3, 4, 4], Array(48).fill(1)) });
    }
  }
  class OwnField extends ImageClassifier {
    override preprocess = () => Promise.resolve({ image: f32([1, 3, 4, 4], Array(48).fill(1)) });
  }
  for (const handler of [new Own(), new OwnField()]) {
    const [result] = await handle(handler, classifier(), [image(1)]);
    expect(result).toHaveLength(4);
  }
});

test('a model whose input is float16, uint8 or int32 gets that dtype; initialize refuses any other', async () => {
  for (const [dtype, expected] of [
    ['float16', 0x5bf8],
    ['uint8', 255],
    ['int32', 255],
  ] as const) {
    const session = stubSession([{ name: 'image', dtype, dims: [1, 3, 4, 4] }], [vector('logits', 2)], () => ({
      logits: f32([1, 2], [0, 1]),
    }));
    await handle(new ImageClassifier(), session, [image(255)], {
      config: { handler: { imageProcessing: [{ toTensor: 1 }] } },
    });
    expect(session.runs[0]!['image']).toMatchObject({ dtype });
    expect(session.runs[0]!['image']!.data[0]).toBe(expected);
  }
  const bytes = stubSession([{ name: 'image', dtype: 'uint8', dims: [1, 3, 4, 4] }], [vector('logits', 2)], () => ({
    logits: f32([1, 2], [0, 1]),
  }));
  const normalized = { handler: { imageProcessing: [{ toTensor: 1 }, { normalize: { mean: 100, std: 0.5 } }] } };
  for (const [level, expected] of [
    [0, 0],
    [101, 2],
    [255, 255],
  ] as const) {
    await handle(new ImageClassifier(), bytes, [image(level)], { config: normalized });
    expect(bytes.runs.at(-1)!['image']!.data[0]).toBe(expected);
  }
  const wide = stubSession([{ name: 'image', dtype: 'int64', dims: [1, 3, 4, 4] }], [vector('logits', 2)], () => ({}));
  await expect(handle(new ImageClassifier(), wide, [image(255)], { config: CONFIG })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('"image" is int64'),
  });
});

test('ImageClassifier: initialize refuses an output that does not hold classes', async () => {
  const load = (dims: TensorInfo['dims'], labels: unknown, dtype: TensorInfo['dtype'] = 'float32') =>
    new ImageClassifier().initialize(
      createTestContext({
        session: stubSession(classifier().inputs, [{ name: 'out', dtype, dims }], () => ({})),
        config: { handler: { ...CONFIG.handler, labels } },
      }),
    );
  const labels = ['ant', 'bee'];
  for (const dims of [[], [1, 2], ['batch', 2], ['batch', 2, 1, 1], [1, 1, 2], [2], ['batch', 'classes']])
    await load(dims, labels);
  for (const dims of [[1, 3], ['batch', 3, 1, 1], [3], ['batch', 1]])
    await expect(load(dims, labels), String(dims)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining('2 labels'),
    });
  for (const dims of [[1, 2, 8, 8], ['batch'], [1, 84, 8400]])
    await expect(load(dims, labels), String(dims)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining('[batch, classes]'),
    });
  await expect(load([1, 2], labels, 'string')).rejects.toMatchObject({ code: 'model-config' });
  await expect(load([1, 2], { ant: 'ant', bee: 'bee' })).rejects.toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('"ant" is not a class index'),
  });
});

test('ImageClassifier: a label may be any word, in the record too', async () => {
  const [result] = await handle(new ImageClassifier(), classifier(3), [image(255)], {
    config: {
      handler: { ...CONFIG.handler, labels: ['constructor', 'toString', '__proto__'], result: 'torchserve' },
    },
  });
  expect(Object.keys(result as object)).toEqual(['__proto__', 'toString', 'constructor']);
});

test('ImageClassifier: initialize refuses labels that do not fit the model; a mapping may have gaps', async () => {
  const load = (labels: unknown) =>
    handle(new ImageClassifier(), classifier(4), [image(255)], { config: { handler: { ...CONFIG.handler, labels } } });
  await expect(load(['cat', 'dog'])).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('2 labels'),
  });
  await expect(load({ 7: 'cat' })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('class 7'),
  });
  expect(await load({ 3: 'cat' })).toHaveLength(1);
});

test('params of a request: each row has its own values; a key that is fixed for the model is refused', async () => {
  const options = { config: CONFIG, params: { output: 'probabilities' } };
  expect(await handle(new ImageClassifier(), classifier(2), [image(255)], options)).toEqual([
    [
      { label: '1', score: 1 },
      { label: '0', score: 0 },
    ],
  ]);
  await expect(
    handle(new ImageClassifier(), classifier(2), [image(255)], { config: CONFIG, params: { labels: ['x'] } }),
  ).rejects.toMatchObject({ code: 'invalid-input' });
});

test('a small cap on images does not hinder the warm-up', async () => {
  const session = classifier();
  const handler = new ImageClassifier();
  const context = createTestContext({
    session,
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'], maxImagePixels: 16 } },
  });
  await handler.initialize(context);
  const example = await handler.example(context);
  expect(example?.['image']?.dims).toEqual([1, 3, 4, 4]);
});

test('steps whose numbers an integer input cannot hold are refused', async () => {
  const start = async (dtype: 'uint8' | 'int32' | 'float32', ...imageProcessing: unknown[]) =>
    await handle(
      new ImageClassifier(),
      stubSession([{ name: 'image', dtype, dims: [1, 3, 4, 4] }], [vector('logits', 2)], () => ({
        logits: f32([1, 2], [0, 1]),
      })),
      [image(255)],
      { config: { handler: { imageProcessing } } },
    );
  const imagenet = { normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } };
  for (const dtype of ['uint8', 'int32'] as const) {
    for (const steps of [['toTensor'], ['toTensor', { normalize: { mean: 0.5, std: 0.5 } }], ['toTensor', imagenet]])
      await expect(start(dtype, ...steps), `${dtype} ${JSON.stringify(steps)}`).rejects.toMatchObject({
        code: 'model-config',
        message: new RegExp(`^handler\\.imageProcessing produces numbers in .* "image" is ${dtype}.*toTensor: 1`),
      });
    await start(dtype, { toTensor: 1 });
  }
  await start('int32', { toTensor: 1 }, { normalize: { mean: 128, std: 1 } });
  await start('float32', 'toTensor');
});

test('an input that nothing fills is named when the model is opened', async () => {
  for (const name of ['orig_target_sizes', 'im_shape', 'scale_factor', 'text', 'sigma']) {
    const session = stubSession(
      [
        { name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] },
        { name, dtype: 'int64', dims: ['batch', 2] },
      ],
      [vector('logits', 2)],
      () => ({}),
    );
    await expect(handle(new ImageClassifier(), session, [image(1)], { config: CONFIG })).rejects.toMatchObject({
      code: 'model-config',
      message: new RegExp(`nothing fills this model's "${name}" int64 \\[batch, 2\\]`),
    });
  }
});

test('an activation in the model that contradicts output is a warning', async () => {
  const warnings = async (op: string | undefined, handler: object) => {
    const { warn } = console;
    const told: string[] = [];
    console.warn = (message: string) => told.push(message);
    const output = { ...vector('scores', 2), ...(op && { op }) };
    const session = stubSession([{ name: 'image', dtype: 'float32', dims: [1, 3, 4, 4] }], [output], () => ({
      scores: f32([1, 2], [0, 1]),
    }));
    try {
      await handle(new ImageClassifier(), session, [image(1)], {
        config: { handler: { ...CONFIG.handler, ...handler } },
      });
    } finally {
      console.warn = warn;
    }
    return told;
  };
  for (const op of ['Softmax', 'Sigmoid']) {
    expect(await warnings(op, {})).toEqual([expect.stringMatching(`"scores" with ${op}.*Set handler.output to prob`)]);
    expect(await warnings(op, { output: 'probabilities' })).toEqual([]);
  }
  for (const op of ['Gemm', 'LogSoftmax', 'Add', undefined]) expect(await warnings(op, {})).toEqual([]);
  expect(await warnings('Gemm', { output: 'probabilities' })).toEqual([
    expect.stringMatching(/"scores" with Gemm.*Set handler\.output to logits/),
  ]);
});

test('inputName and outputName choose the tensors; an unknown name is refused', async () => {
  const two = (): ReturnType<typeof stubSession> =>
    stubSession(
      [
        { name: 'pixel_mask', dtype: 'float32', dims: ['batch', 4, 4] },
        { name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] },
      ],
      [vector('features', 9), vector('logits', 2)],
      ({ image: { dims } = f32([0], []) }) => ({
        features: f32([dims[0]!, 9], Array(dims[0]! * 9).fill(0)),
        logits: f32([dims[0]!, 2], [0, 1]),
      }),
    );
  const config = (names: object) => ({ config: { handler: { ...CONFIG.handler, output: 'probabilities', ...names } } });
  expect(
    await handle(new ImageClassifier(), two(), [image(1)], config({ inputName: 'image', outputName: 'logits' })),
  ).toEqual([
    [
      { label: '1', score: 1 },
      { label: '0', score: 0 },
    ],
  ]);
  await expect(handle(new ImageClassifier(), two(), [image(1)], config({ inputName: 'pixels' }))).rejects.toMatchObject(
    {
      code: 'model-config',
      message: 'handler.inputName: the model has no "pixels"; it has "pixel_mask", "image".',
    },
  );
  await expect(
    handle(new ImageClassifier(), two(), [image(1)], config({ inputName: 'image', outputName: 'Logits' })),
  ).rejects.toMatchObject({
    code: 'model-config',
    message: 'handler.outputName: the model has no "Logits"; it has "features", "logits".',
  });
  await expect(handle(new ImageClassifier(), two(), [image(1)], config({ inputName: 3 }))).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('a string'),
  });
});

test('a row that fails with an object that cannot be shown fails alone', async () => {
  class Refusing extends BaseHandler {
    override preprocess(data: readonly TensorInput[], context: Context) {
      const thrown = {
        toString() {
          throw new Error('no');
        },
      };
      context.fail(1, thrown);
      return super.preprocess(data, context);
    }
  }
  const [good, bad] = await handle(new Refusing(), doubler(), [f32([2], [1, 2]), f32([2], [1, 2])]);
  expect(good).toHaveProperty('y');
  expect(bad).toMatchObject({ code: 'handler-failed' });
});
