// The masks are compared with transformers' in `test/browser/coverage.spec.ts`; here, what is kept, and the errors.
import { expect, test } from '@playwright/test';
import type { PredictionError } from '../../../../../src/contract/errors.ts';
import type { TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';
import { createTestContext } from '../../../../../src/worker.ts';
import {
  PromptableSegmenter,
  type PromptedMask,
} from '../../../../../src/worker/tasks/segmentation/promptable-segmenter.ts';
import { compose, resize, toTensor } from '../../../../../src/worker/transforms/index.ts';

const photo = { data: new Uint8Array(4 * 2 * 3), dims: [2, 4, 3] };

const input = (name: string, dims: TensorInfo['dims'], dtype: TensorInfo['dtype'] = 'float32'): TensorInfo => ({
  name,
  dtype,
  dims,
});
const POINTS = [input('input_points', [1, 1, 'points', 2]), input('input_labels', [1, 'objects', 'points'], 'int64')];
const BOXES = input('input_boxes', [1, 'boxes', 4]);
const EMBEDDINGS = input('image_embeddings', [1, 1]);

/** Two masks for each object: the left half, and a better one of the right half. */
const masks = [
  [
    [3, 3, -3, -3],
    [3, 3, -3, -3],
  ],
  [
    [-3, -3, 0.1, 3],
    [-3, -3, 3, 3],
  ],
];

/** Opens the handler with stand-ins for both parts. */
async function opened({ inputs = [...POINTS, BOXES, EMBEDDINGS], config = {}, scores = [0.2, 0.9] } = {}) {
  const encoded: Tensors[] = [];
  const beats = { count: 0 };
  const fed: Tensors[] = [];
  const nodes = {
    vision: {
      outputs: (feeds: Tensors) => {
        encoded.push(feeds);
        return { image_embeddings: [[1]] };
      },
      config: { handler: { imageProcessing: [...compose(resize([2, 4]), toTensor())] } },
    },
    decoder: {
      inputs,
      outputs: (feeds: Tensors) => {
        fed.push(feeds);
        const objects = Math.max(1, feeds['input_boxes']?.dims[1] ?? 1);
        const all = <T>(value: T): T[] => Array.from({ length: objects }, () => value);
        return { pred_masks: [all(masks)], iou_scores: [all(scores)] };
      },
    },
  };
  const options = { nodes, config } as Parameters<typeof createTestContext>[0] & object;
  const { kept } = createTestContext(options);
  const handler = new PromptableSegmenter();
  await handler.initialize(createTestContext({ ...options, kept }));
  encoded.length = fed.length = 0;
  return {
    kept,
    encoded,
    fed,
    beats,
    ask: async (rows: readonly unknown[], params = {}, signal = new AbortController().signal) =>
      (await handler.handle(rows as never, {
        ...createTestContext({ ...options, kept, params, batchSize: rows.length }),
        signal,
        heartbeat: () => (beats.count += 1),
      })) as readonly (readonly PromptedMask[] | PredictionError)[],
  };
}

test('the best mask of each object, or all of them, best first, in the photo’s pixels', async () => {
  const { ask } = await opened();
  const left = { width: 4, height: 2, runs: Uint32Array.of(0, 2, 4, 2) };
  const right = { width: 4, height: 2, runs: Uint32Array.of(2, 2, 6, 2) };
  const [best, all] = [
    await ask([{ image: photo, points: [[1, 1]] }]),
    await ask([{ image: photo, points: [[1, 1]] }], { masks: 'all' }),
  ];
  expect(best).toEqual([
    [{ object: 0, score: expect.closeTo(0.9), box: { xmin: 2, ymin: 0, xmax: 4, ymax: 2 }, mask: right }],
  ]);
  expect((all[0] as PromptedMask[]).map(({ mask }) => mask)).toEqual([right, left]);
  const boxes = [
    [0, 0, 1, 1],
    [1, 0, 4, 2],
  ];
  const [objects] = await ask([{ image: photo, boxes }]);
  expect((objects as PromptedMask[]).map(({ object }) => object)).toEqual([0, 1]);
  // A pixel of the logit 0.1 has the probability 0.52.
  const [sure] = await ask([{ image: photo, points: [[1, 1]] }], { maskThreshold: 0.6 });
  expect((sure as PromptedMask[])[0]!.mask.runs).toEqual(Uint32Array.of(3, 1, 6, 2));
  // A mask without a pixel is left out.
  expect(await ask([{ image: photo, points: [[1, 1]] }], { maskThreshold: 1 })).toEqual([[]]);
});

test('prompts are pixels of the tensor; without labels, points are in the object', async () => {
  const { ask, fed } = await opened();
  const large = { data: new Uint8Array(8 * 4 * 3), dims: [4, 8, 3] };
  await ask([
    {
      image: large,
      points: [
        [8, 4],
        [2, 1],
      ],
      labels: [1, 0],
    },
    { image: photo, points: [[3, 1]], boxes: [[0, 0, 4, 2]] },
    { image: large, boxes: [[2, 0, 8, 4]] },
  ]);
  const [points, both, boxes] = fed.map((feeds) =>
    ['input_points', 'input_labels', 'input_boxes'].map((name) => [
      feeds[name]!.dims,
      Array.from(feeds[name]!.data, Number),
    ]),
  );
  expect(points).toEqual([
    [
      [1, 1, 2, 2],
      [4, 2, 1, 0.5],
    ],
    [
      [1, 1, 2],
      [1, 0],
    ],
    [[1, 0, 4], []],
  ]);
  expect(both).toEqual([
    [
      [1, 1, 1, 2],
      [3, 1],
    ],
    [[1, 1, 1], [1]],
    [
      [1, 1, 4],
      [0, 0, 4, 2],
    ],
  ]);
  expect(boxes).toEqual([
    [[1, 1, 0, 2], []],
    [[1, 1, 0], []],
    [
      [1, 1, 4],
      [1, 0, 4, 2],
    ],
  ]);
});

test('an image that the page keeps is encoded once; its key alone is enough as long as the worker has it', async () => {
  const { ask, encoded, kept } = await opened();
  const row = (image: unknown) => ({ image, points: [[1, 1]] });
  await ask([row({ keptKey: 'input/a', value: photo }), row({ keptKey: 'input/a' }), row({ keptKey: 'input/a' })]);
  expect(encoded).toHaveLength(1);
  // Another batch waits for it.
  await Promise.all([1, 2].map(async () => await ask([row({ keptKey: 'input/b', value: photo })])));
  expect(encoded).toHaveLength(2);
  kept.delete('input/a');
  const [lost, found] = await ask([row({ keptKey: 'input/a' }), row({ keptKey: 'input/b' })]);
  expect([(lost as PredictionError).code, (found as PromptedMask[]).length]).toEqual(['state-lost', 1]);
  await ask([row(photo), row(photo)]);
  expect(encoded).toHaveLength(4);
  const forgetful = await opened({ config: { handler: { maxStateBytes: 0 } } });
  for (const _ of [1, 2]) await forgetful.ask([row({ keptKey: 'input/a', value: photo })]);
  expect(forgetful.encoded).toHaveLength(2);
});

const WRONG: readonly (readonly [input: unknown, message: string])[] = [
  ['a photo', 'Expected { image, points?, labels?, boxes? }, got'],
  [{ points: [[1, 1]] }, 'Expected { image, points?'],
  [{ image: photo }, 'neither a point nor a box'],
  [{ image: photo, points: [] }, 'neither a point nor a box'],
  [{ image: photo, point: [[1, 1]] }, 'unknown key "point"; probably points is meant'],
  [{ image: photo, points: [1, 1] }, 'points[0]: expected [x, y] in pixels'],
  [{ image: photo, points: [[NaN, 0]] }, 'points[0]: expected [x, y] in pixels, got [NaN, 0]'],
  // oxlint-disable-next-line no-sparse-arrays
  [{ image: photo, points: [[, 1]] }, 'points[0]: expected [x, y] in pixels'],
  // oxlint-disable-next-line no-sparse-arrays
  [{ image: photo, points: [[1, 1]], labels: [,] }, 'labels: expected 0 or 1'],
  [{ image: photo, points: '[[1, 1]]' }, 'points: expected a list of [x, y]'],
  [{ image: photo, points: [[1, Number.NaN]] }, 'points[0]: expected [x, y]'],
  [{ image: photo, points: [[1, 1]], labels: [2] }, 'labels: expected 0 or 1 for each of 1 points'],
  [{ image: photo, points: [[1, 1]], labels: [1, 1] }, 'labels: expected 0 or 1 for each of 1 points'],
  [{ image: photo, boxes: [[0, 0, 1, 1]], labels: [1] }, 'labels: expected 0 or 1 for each of 0 points'],
  [{ image: photo, boxes: [[3, 0, 1, 1]] }, 'boxes[0]: expected [x1, y1, x2, y2] with x1 < x2'],
  [
    {
      image: photo,
      points: [[1, 1]],
      boxes: [
        [0, 0, 1, 1],
        [1, 1, 2, 2],
      ],
    },
    'here are 2 boxes',
  ],
  [{ image: photo, points: [[1, 3]] }, 'points: y is 3, outside of the photo of 4 × 2 pixels'],
  [{ image: photo, boxes: [[-1, 0, 1, 1]] }, 'boxes: x is -1, outside'],
  // The decoder would take gigabytes.
  [
    { image: photo, points: Array.from({ length: 1001 }, () => [1, 1]) },
    'points: there are 1001, and a request has at most 1000',
  ],
  [{ image: photo, boxes: Array.from({ length: 101 }, () => [0, 0, 1, 1]) }, 'boxes: there are 101'],
];

test('an input that cannot be answered fails its row alone, and the error says what is wrong', async () => {
  const { ask } = await opened();
  const [answer, ...errors] = await ask([{ image: photo, points: [[1, 1]] }, ...WRONG.map(([wrong]) => wrong)]);
  expect(answer).toHaveLength(1);
  for (const [at, [, message]] of WRONG.entries())
    expect(errors[at]).toMatchObject({ code: 'invalid-input', message: expect.stringContaining(message) });
});

test('a decoder for points alone refuses boxes; one that cannot be fed is refused at load', async () => {
  const { ask } = await opened({ inputs: [...POINTS, EMBEDDINGS] });
  expect(await ask([{ image: photo, boxes: [[0, 0, 1, 1]] }])).toMatchObject([
    { code: 'invalid-input', message: expect.stringContaining('exported for points alone') },
  ]);
  const foreign = [...POINTS, input('mask_input', [1, 1, 256, 256])];
  await expect(opened({ inputs: foreign })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('nothing fills its input "mask_input"'),
  });
  await expect(opened({ inputs: [POINTS[0]!, EMBEDDINGS] })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('"input_labels" is missing'),
  });
  const odd = await opened({ scores: [0.5] });
  expect(await odd.ask([{ image: photo, points: [[1, 1]] }])).toMatchObject([{ code: 'inference-failed' }]);
});

test('each object of many is a heartbeat: their masks in a large photo take minutes', async () => {
  const { ask, beats } = await opened();
  const [found] = await ask([{ image: photo, boxes: Array.from({ length: 50 }, () => [0, 0, 4, 2]) }]);
  expect(found).toHaveLength(50);
  expect(beats.count).toBeGreaterThanOrEqual(50);
});

test('an abort ends the answer between two objects', async () => {
  const { ask, beats } = await opened();
  const abort = new AbortController();
  setImmediate(() => abort.abort(new Error('enough')));
  const boxes = Array.from({ length: 50 }, () => [0, 0, 4, 2]);
  await expect(ask([{ image: photo, boxes }], {}, abort.signal)).rejects.toThrow('enough');
  expect(beats.count).toBeLessThan(20);
});
