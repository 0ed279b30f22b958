// The answers are compared with transformers' in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../../src/worker.ts';
import { InstanceSegmenter, type Instance } from '../../../../../src/worker/tasks/instances/instance-segmenter.ts';
import { runMask } from '../../../../../src/worker/outputs/runs.ts';
import { compose, resize, toTensor } from '../../../../../src/worker/transforms/index.ts';

class Small extends InstanceSegmenter {
  override imageProcessing = compose(resize([2, 4]), toTensor());
}

const photo = { data: new Uint8Array(4 * 2 * 3), dims: [2, 4, 3] };
const labels = { files: { 'index_to_name.json': new Blob(['{"0": "cat", "1": "dog"}']) } };

/** Three queries: a cat on the left, a dog on the right, and nothing. */
const logits = [
  [
    [9, 0, 0],
    [0, 8, 0],
    [0, 0, 9],
  ],
];
const half = (low: number, high: number): number[][] => [
  [low, low, high, high],
  [low, low, high, high],
];
const pred_masks = [[half(5, -5), half(-5, 5), half(9, 9)]];

test('each pixel belongs to the likeliest query; masks are runs in the photo’s pixels, best first', async () => {
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks }, ...labels });
  const [instances] = (await handler.handle([photo])) as Instance[][];
  expect(instances!.map(({ label, box, mask }) => ({ label, box, mask }))).toEqual([
    {
      label: 'cat',
      box: { xmin: 0, ymin: 0, xmax: 2, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(0, 2, 4, 2) },
    },
    {
      label: 'dog',
      box: { xmin: 2, ymin: 0, xmax: 4, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(2, 2, 6, 2) },
    },
  ]);
  expect(instances![0]!.score).toBeGreaterThan(instances![1]!.score);
});

test('thresholds of the class, and of what others leave of a mask', async () => {
  const covered = [[half(5, -5), half(5, 5), half(9, 9)]];
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks: covered }, ...labels });
  const find = async (params: Record<string, number>): Promise<string[]> => {
    const [instances] = (await handler.handle([photo, photo], { params })) as Instance[][];
    return instances!.map(({ label }) => label);
  };
  // The cat takes half of the dog's pixels.
  expect(await find({})).toEqual(['cat']);
  expect(await find({ overlapThreshold: 0.4 })).toEqual(['cat', 'dog']);
  expect(await find({ overlapThreshold: 0.4, scoreThreshold: 0.9995 })).toEqual(['cat']);
  expect(await find({ scoreThreshold: 1 })).toEqual([]);
});

test('a model without these outputs, with dims that do not fit, or with other labels', async () => {
  await expect(createTestHandler(Small, { outputs: { logits } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining(
      'logits and pred_masks, and boxes, labels, scores, masks, but the model has logits. Export it for the task image-segmentation, set handler.decoder to one of queries, rf-detr, torchvision, yolov8, yolov5, rows, or use image_segmenter',
    ),
  });
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks: [[half(1, 2)]] }, ...labels });
  expect((await handler.handle([photo]))[0]).toMatchObject({ code: 'inference-failed' });
  const three = { files: { 'index_to_name.json': new Blob(['{"0": "a", "1": "b", "2": "c"}']) } };
  await expect(createTestHandler(Small, { outputs: { logits, pred_masks }, ...three })).rejects.toMatchObject({
    code: 'model-config',
  });
});

test('runs of a mask do not end with a row, unless the mask does', () => {
  const inside = new Set([1, 2, 3, 7, 8]);
  expect(runMask(3, 3, (index) => inside.has(index))).toEqual({
    mask: { width: 3, height: 3, runs: Uint32Array.of(1, 3, 7, 2) },
    box: { xmin: 0, ymin: 0, xmax: 3, ymax: 3 },
  });
  expect(runMask(2, 2, () => false)).toBeUndefined();
});

/** A tensor of 4 × 2, in which a cat fills the left half, in YOLO's form: two prototypes, left and right. */
const prototypes = [[half(9, -9), half(-9, 9)]];
/** Columns of center and size, two classes, two coefficients; of three boxes. */
const table = (...boxes: number[][]): number[][][] => [boxes[0]!.map((_, column) => boxes.map((box) => box[column]!))];
const CAT = [1, 1, 2, 2, 0.9, 0.1, 1, 0];
const DOG = [3, 1, 2, 2, 0.1, 0.8, 0, 1];
const EMPTY = [1, 1, 2, 2, 0.1, 0.7, 0, 1];
const yolo = { ...labels, config: { handler: { decoder: 'yolov8' } } };

test('YOLO: masks are sums of prototypes within their box; one without pixels is dropped', async () => {
  const handler = await createTestHandler(Small, { outputs: { table: table(CAT, DOG, EMPTY), prototypes }, ...yolo });
  const find = async (params: Record<string, number>): Promise<Instance[]> => {
    const [instances] = (await handler.handle([photo], { params })) as Instance[][];
    return instances!;
  };
  expect(await find({})).toEqual([
    {
      label: 'cat',
      score: expect.closeTo(0.9, 5),
      box: { xmin: 0, ymin: 0, xmax: 2, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(0, 2, 4, 2) },
    },
    {
      label: 'dog',
      score: expect.closeTo(0.8, 5),
      box: { xmin: 2, ymin: 0, xmax: 4, ymax: 2 },
      mask: { width: 4, height: 2, runs: Uint32Array.of(2, 2, 6, 2) },
    },
  ]);
  expect((await find({ scoreThreshold: 0.85 })).map(({ label }) => label)).toEqual(['cat']);
  expect(await find({ maxDetections: 1 })).toHaveLength(1);
  expect(await find({ maskThreshold: 0.9999 })).toEqual([]);
});

test('a key that is for another form of outputs is refused: in the config, and in a request', async () => {
  const outputs = { table: table(CAT), prototypes };
  const config = { handler: { decoder: 'yolov8', overlapThreshold: 0.5 } };
  await expect(createTestHandler(Small, { outputs, ...labels, config })).rejects.toMatchObject({
    code: 'model-config',
    message:
      'handler.overlapThreshold is without effect on this model, whose outputs are table and prototypes. Remove it.',
  });
  const handler = await createTestHandler(Small, { outputs: { logits, pred_masks }, ...labels });
  const [failed] = await handler.handle([photo], { params: { iouThreshold: 0.5 } });
  expect(failed).toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('params.iouThreshold is without effect'),
  });
  const [told] = await handler.handle([photo], { params: { subtask: 'instance' } });
  expect(told).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('params.subtask is without') });
});

test('outputs that do not say what they are, and those that a decoder does not read', async () => {
  const refused = async (
    outputs: Record<string, unknown>,
    handler: Record<string, unknown>,
    message: string,
  ): Promise<void> =>
    await expect(
      createTestHandler(Small, { outputs: outputs as never, ...labels, config: { handler } }),
    ).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining(message) });
  const outputs = { table: table(CAT), prototypes };
  await refused(outputs, {}, 'but the model has table, prototypes.');
  await refused({ table: table(CAT) }, { decoder: 'yolov8' }, '[batch, prototypes, height, width]; the model gives');
  await refused({ table: table([1, 0]), prototypes }, { decoder: 'yolov8' }, '4 + classes + prototypes, boxes');
  await refused(outputs, { decoder: 'yolov8', labels: ['cat'] }, 'there are 1 labels, but the model has 2 classes');
  await refused(outputs, { decoder: 'torchvision' }, 'torchvision');
  await refused(outputs, { decoder: 'queries' }, 'for queries, an instance segmenter needs class_queries_logits and');
});

test('Mask R-CNN: the map of a box is stretched over it, or is one of the photo', async () => {
  const found = { boxes: [[1, 0, 4, 2]], labels: [1n], scores: [0.9] };
  const find = async (masks: unknown): Promise<Instance> => {
    const handler = await createTestHandler(Small, { outputs: { ...found, masks } as never, ...labels });
    const [[instance]] = (await handler.handle([photo])) as [[Instance]];
    return instance;
  };
  const box = { xmin: 1, ymin: 0, xmax: 4, ymax: 2 };
  expect(await find([[half(1, 0)]])).toMatchObject({ label: 'dog', box, mask: { runs: Uint32Array.of(0, 2, 4, 2) } });
  // paste_masks_in_image: [0, 0.35, 0.583, 0.117], [0, 0.5, 0.833, 0.167]
  const map = [
    [
      [1, 0],
      [1, 0],
    ],
  ];
  expect(await find([map])).toMatchObject({ label: 'dog', box, mask: { runs: Uint32Array.of(2, 1, 6, 1) } });
});

test('rf-detr: each pixel belongs to the best pair of a query and a class whose mask has it', async () => {
  // The first query is a dog, and perhaps a cat.
  const pairs = [
    [
      [1, 3],
      [2, -9],
      [-9, -9],
    ],
  ];
  const masks = [[half(5, -5), half(5, 5), half(9, 9)]];
  const handler = await createTestHandler(Small, {
    outputs: { logits: pairs, pred_masks: masks },
    config: { handler: { decoder: 'rf-detr' } },
    ...labels,
  });
  const find = async (params: Record<string, number>): Promise<[string, number][]> => {
    const [instances] = (await handler.handle([photo], { params })) as Instance[][];
    return instances!.map(({ label, box }) => [label, box.xmin]);
  };
  // The mask of the second query is everywhere: what the dog leaves. Nothing is left for the cat of the first one.
  expect(await find({})).toEqual([
    ['dog', 0],
    ['cat', 2],
  ]);
  expect(await find({ scoreThreshold: 0.9 })).toEqual([['dog', 0]]);
  expect(await find({ maskThreshold: 0.999 })).toEqual([]);
  const [failed] = await handler.handle([photo], { params: { overlapThreshold: 0.4 } });
  expect(failed).toMatchObject({ code: 'invalid-input' });
});
