import { expect, test } from '@playwright/test';
import type { TensorInfo } from '../../../../src/contract/tensors.ts';
import { servingOf } from '../../../../src/contract/settings.ts';
import { checkConfig } from '../../../../src/worker/models/config.ts';
import { compileTransforms } from '../../../../src/worker/transforms/compile.ts';
import { createProgram } from '../../../../src/worker/transforms/program.ts';
import { parseTransforms } from '../../../../src/worker/transforms/parse.ts';
import {
  BaseHandler,
  createTestContext,
  createTestHandler,
  ImageClassifier,
  ObjectDetector,
  TabServeError,
  TextClassifier,
  type Handler,
} from '../../../../src/worker.ts';
import { stubSession } from '../../support/stub-session.ts';

/** Processor time of this process, so that a busy machine does not count. */
async function timed<T>(work: () => T): Promise<Awaited<T>> {
  const started = process.cpuUsage().user;
  try {
    return await work();
  } finally {
    expect((process.cpuUsage().user - started) / 1000).toBeLessThan(1_000);
  }
}

const float32 = (name: string, ...dims: (number | string)[]): TensorInfo => ({ name, dtype: 'float32', dims });
const IMAGE = float32('image', 'batch', 3, 'height', 'width');
const gray = (width: number, height: number) =>
  ({ format: 'L', width, height, stride: width, data: new Uint8Array(width * height).fill(7) }) as const;

/** Steps, the size of an image, and what comes of them: a tensor's dims, or what the error names. */
const TRANSFORMS = [
  [['resize: 1'], [65535, 1], [3, 1, 65535]],
  [
    [{ resize: 256 }, { centerCrop: 224 }],
    [65535, 1],
    [3, 224, 224],
  ],
  [
    [{ resize: 256 }, { centerCrop: 224 }],
    [1, 65535],
    [3, 224, 224],
  ],
  [
    [{ resize: { size: 256, interpolation: 'nearest' } }, { centerCrop: 224 }],
    [65535, 1],
    [3, 224, 224],
  ],
  [
    [{ resize: [1_000_000, 1_000_000] }, { centerCrop: 224 }],
    [64, 48],
    [3, 224, 224],
  ],
  [
    [{ resize: { size: [1_000_000, 1_000_000], interpolation: 'lanczos' } }, { centerCrop: 8 }],
    [64, 48],
    [3, 8, 8],
  ],
  [
    [{ resize: { size: [1_000_000, 1_000_000], interpolation: 'nearest' } }, { centerCrop: 8 }],
    [64, 48],
    [3, 8, 8],
  ],
  [[{ resize: [200_000_000, 200_000_000] }, { centerCrop: 224 }], [64, 48], 'resize.size must be'],
  [[{ resize: 1_000_000 }, { centerCrop: 8 }], [65535, 1], 'the limit of a side is'],
  [[{ resize: [1_000_000, 1_000_000] }], [64, 48], 'the limit is 134217728 numbers'],
  [[{ resize: [1_000_000, 1_000_000] }, { resize: 8 }], [64, 48], 'pixels between two steps'],
  [[{ resize: { size: 256, maxSize: 1e15 } }], [64, 48], 'resize.maxSize must be'],
  [[{ pad: 9007199254740991 }], [64, 48], 'pad.padding must be an integer in 0..1000000'],
  [[{ pad: 1_000_000 }], [64, 48], 'the limit is 134217728 numbers'],
  [
    [{ pad: 1_000_000 }, { centerCrop: 8 }],
    [64, 48],
    [3, 8, 8],
  ],
  [
    [{ pad: { padding: 1_000_000, fill: [1, 2, 3] } }, { centerCrop: 8 }],
    [64, 48],
    [3, 8, 8],
  ],
  [[{ centerCrop: 1e9 }], [64, 48], 'centerCrop.size must be'],
  [[{ centerCrop: 1_000_000 }], [64, 48], 'the limit is 134217728 numbers'],
  [[{ letterbox: [1e9, 1e9] }], [64, 48], 'letterbox.size must be'],
  [[{ letterbox: [1_000_000, 1] }], [64, 48], [3, 1_000_000, 1]],
  [[{ letterbox: [640, 640] }], [65535, 1], [3, 640, 640]],
  [[{ normalize: { mean: NaN, std: 1 } }], [1, 1], 'normalize.mean must be'],
  [[{ toTensor: { scale: Infinity } }], [1, 1], 'toTensor.scale must be'],
  [['x'.repeat(300_000)], [1, 1], 'there is no step'],
  [[{ resize: { ['x'.repeat(300_000)]: 1 } }], [1, 1], 'is unknown'],
  [[{ resize: 'x'.repeat(300_000) }], [1, 1], 'resize.size must be'],
] as const;

for (const [steps, [width, height], expected] of TRANSFORMS) {
  test(`transforms: ${JSON.stringify(steps).slice(0, 90)} of ${width} × ${height}`, async () => {
    const transform = async () => {
      const all = steps[0] === 'resize: 1' ? [{ resize: 1 }] : [...steps];
      const { run } = compileTransforms(
        parseTransforms([
          ...all,
          ...('normalize' in Object(all[0]) || 'toTensor' in Object(all[0]) ? [] : ['toTensor']),
        ]),
      );
      return (await run(gray(width, height))).dims;
    };
    if (typeof expected !== 'string') {
      expect(await timed(transform)).toEqual(expected);
      return;
    }
    const error = await timed(async () => await transform().catch((cause: unknown) => cause));
    expect(error).toBeInstanceOf(TabServeError);
    expect((error as Error).message).toContain(expected);
    expect((error as Error).message.length).toBeLessThan(1000);
  });
}

test('the taps of a resize are those of the window, whatever the size of the whole', () => {
  const { operations } = createProgram(parseTransforms([{ resize: 256 }, { centerCrop: 224 }, 'toTensor']), 65535, 1);
  const taps = operations.flatMap((operation) => (operation.kind === 'resize' ? Object.values(operation.scaling) : []));
  expect(taps.map((one: { starts: Int32Array } | undefined) => one?.starts.length)).toEqual([224, 224]);
});

const outputs = [float32('scores', 'batch', 2)];
const initialize = async (
  handler: Handler,
  inputs: readonly TensorInfo[],
  config: Record<string, unknown>,
  declared = outputs,
): Promise<void> =>
  await handler.initialize(
    createTestContext({ session: stubSession(inputs, declared, () => ({})), config: { handler: config } }),
  );
const ssd = (anchors: unknown) => ({
  decoder: { ssd: { anchors } },
  imageProcessing: [{ resize: [300, 300] }, 'toTensor'],
});
const SSD = [float32('boxes', 'batch', 'anchors', 4), float32('scores', 'batch', 'anchors', 3)];
const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);

/** What is refused, and the words that name it. */
const CONFIGS: readonly (readonly [string, () => unknown, string])[] = [
  ['an input of 1e9 × 1e9', () => initialize(new BaseHandler(), [float32('x', 1, 1e9, 1e9)], {}), '"x"'],
  ['a batch of 1e9', () => initialize(new BaseHandler(), [float32('x', 1e9, 2)], {}), '"x"'],
  ['an image of 1e9', () => initialize(new ImageClassifier(), [float32('x', 1, 3, 1e9, 1e9)], {}), '"x"'],
  ['50,000 labels', () => initialize(new ImageClassifier(), [IMAGE], { labels: many(50_000, 'x') }), 'labels'],
  ['a class of 1e15', () => initialize(new ImageClassifier(), [IMAGE], { labels: { 1e15: 'x' } }), 'labels'],
  [
    'labels that are no strings',
    () => initialize(new ImageClassifier(), [IMAGE], { labels: many(1e6, 1) }),
    'handler.labels has more than 50000 values',
  ],
  ['topK NaN', () => initialize(new ImageClassifier(), [IMAGE], { topK: NaN }), 'handler.topK'],
  [
    'a scoreThreshold NaN',
    () => initialize(new ObjectDetector(), [IMAGE], { scoreThreshold: NaN }),
    'handler.scoreThreshold',
  ],
  [
    'an iouThreshold of 1e300',
    () => initialize(new ObjectDetector(), [IMAGE], { iouThreshold: 1e300 }),
    'handler.iouThreshold',
  ],
  [
    'a grid of 1e9',
    () => initialize(new ObjectDetector(), [IMAGE], ssd({ tensorflow: { grids: [1e9] } }), SSD),
    '1000000',
  ],
  [
    'a thousand levels',
    () => initialize(new ObjectDetector(), [IMAGE], ssd({ tensorflow: { grids: many(1000, 1) } }), SSD),
    'at most 100',
  ],
  [
    '1e9 anchors per cell',
    () => initialize(new ObjectDetector(), [IMAGE], ssd({ blazeface: { grids: [1], perCell: [1e9] } }), SSD),
    'perCell',
  ],
  [
    'a million ratios',
    () =>
      initialize(
        new ObjectDetector(),
        [IMAGE],
        ssd({ torchvision: { grids: [2], aspectRatios: [many(1e6, 2)] } }),
        SSD,
      ),
    'more than 50000 values',
  ],
  [
    'a million strides',
    () => initialize(new ObjectDetector(), [IMAGE], { decoder: { yolox: { strides: many(1e6, 8) } } }),
    'more than 50000 values',
  ],
  [
    'a list that contains itself',
    () => {
      const list: unknown[] = [];
      list.push(list, list);
      return initialize(new ImageClassifier(), [IMAGE], { labels: list });
    },
    'handler.labels',
  ],
  [
    'ngrams: 1e9',
    () => initialize(new TextClassifier(), [IMAGE], { tokenizer: 'torchserve', ngrams: 1e9 }),
    'handler.ngrams',
  ],
  [
    'a free dimension of 1e15',
    () => checkConfig({ engine: { freeDimensions: { batch: 1e15 } } }, () => {}),
    'freeDimensions',
  ],
  ['1e9 threads', () => checkConfig({ engine: { threads: 1e9 } }, () => {}), 'engine.threads'],
  ['a batchSize of NaN', () => servingOf({ batchSize: NaN }), 'batchSize'],
  ['a maxBatchDelay of 1e15', () => servingOf({ maxBatchDelay: 1e15 }), 'maxBatchDelay'],
];

for (const [what, work, words] of CONFIGS) {
  test(`refused within a second: ${what}`, async () => {
    const error = await timed(async () => {
      try {
        await work();
      } catch (cause) {
        return cause;
      }
      return undefined;
    });
    expect(error).toBeInstanceOf(TabServeError);
    expect((error as Error).message).toContain(words);
    expect((error as Error).message.length).toBeLessThan(2000);
  });
}

test('a topK of 1e15 is all classes', async () => {
  const answer = await timed(async () => {
    const handler = await createTestHandler(ImageClassifier, {
      outputs: { logits: [[0, 3, 1, 2]] },
      config: { handler: { imageProcessing: ['toTensor'], topK: 1e15 } },
    });
    return await handler.predict({ data: new Uint8Array(4 * 4 * 3), dims: [4, 4, 3] });
  });
  expect(answer.map(({ label }) => label)).toEqual(['1', '3', '2', '0']);
});
