import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { startEngine } from '../../../../src/server/node/engines.ts';
import { createTestContext, ObjectDetector, VisionHandler, type Detections } from '../../../../src/worker.ts';
import { pixelMask } from '../../../../src/worker/handlers/other-inputs.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import type { Tensors } from '../../../../src/contract/tensors.ts';
import { stubSession } from '../../support/stub-session.ts';

type Boxes = readonly (readonly number[])[];

const FOLDER = new URL('../../../models/second-inputs/', import.meta.url);
/** By model, then by the photo's width × height: ONNX Runtime in Python, fed as the authors' scripts do. */
const EXPECTED = JSON.parse(readFileSync(new URL('expected.json', FOLDER), 'utf8')) as Record<
  string,
  Record<string, Boxes>
>;
const PADDLE = { rows: { columns: ['class', 'score', 'x1', 'y1', 'x2', 'y2'] } };
const DECODERS: Record<string, unknown> = { rtdetr: 'torchvision', paddle: PADDLE, ppyoloe: PADDLE };

/** Opens a model on ONNX Runtime with steps, and returns a function that detects in gray photos, [width, height]. */
async function open(name: string, step: unknown, labels = ['person', 'bicycle']) {
  const engine = await startEngine('onnx/wasm');
  const file = `${name}.onnx`;
  const session = await engine.open(createFiles({ [file]: readFileSync(new URL(file, FOLDER)) }), file, {});
  const config = { handler: { imageProcessing: [step, 'toTensor'], decoder: DECODERS[name], labels } };
  const detector = new ObjectDetector();
  await detector.initialize(createTestContext({ session, config }));
  return async (...photos: (readonly [number, number])[]) => {
    const context = createTestContext({ session, config, batchSize: photos.length });
    const rows = photos.map(([width, height]) => ({
      data: new Uint8Array(width * height * 3).fill(77),
      dims: [height, width, 3],
    }));
    return (await detector.handle(rows, context)) as readonly Detections[];
  };
}

const boxes = (detections: Detections): Boxes =>
  detections.map(({ box: { xmin, ymin, xmax, ymax } }) => [xmin, ymin, xmax, ymax]);
const close = (expected: Boxes): unknown => expected.map((box) => box.map((side) => expect.closeTo(side, 3)));

for (const [name, photos] of Object.entries(EXPECTED))
  test(`${name}: the sizes of a photo are filled, and boxes are in its pixels`, async () => {
    const detect = await open(name, { resize: [64, 64] });
    const sizes = Object.keys(photos).map((size) => size.split('x').map(Number) as [number, number]);
    for (const [index, size] of sizes.entries()) {
      const [detections] = await detect(size);
      expect(boxes(detections!)).toEqual(close(Object.values(photos)[index]!));
      expect(detections!.map(({ label, score }) => [label, Number(score.toFixed(4))])).toEqual([
        ['person', 0.9],
        ['bicycle', 0.8],
      ]);
    }
    // In one batch, too.
    const all = await detect(...sizes);
    expect(all.map(boxes)).toEqual(Object.values(photos).map(close));
  });

test('a letterboxed photo: boxes are in its pixels, as the padding is no part of it', async () => {
  const detect = await open('rtdetr', { letterbox: [64, 64] });
  // Above and below the photo are 16 rows of padding. In pixels of the tensor the boxes are [6.4, 12.8, 25.6, 38.4] and
  // [32, 32, 57.6, 51.2].
  expect(boxes((await detect([64, 32]))[0]!)).toEqual(
    close([
      [6.4, 0, 25.6, 22.4],
      [32, 16, 57.6, 32],
    ]),
  );
});

test('a handler that does not map boxes refuses such inputs, and so are those of other dims', async () => {
  const inputs = (dims: (number | string)[]) => [
    { name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] } as const,
    { name: 'orig_target_sizes', dtype: 'int64', dims } as const,
  ];
  const output = { name: 'boxes', dtype: 'float32', dims: ['batch', 1, 6] } as const;
  const start = (Handler: typeof ObjectDetector | typeof VisionHandler, dims: (number | string)[]) => {
    const session = stubSession(inputs(dims), [output], () => ({}));
    const decoder = Handler === ObjectDetector && { decoder: 'rows' };
    const config = { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'], ...decoder } };
    return new Handler().initialize(createTestContext({ session, config }));
  };
  const refusal = { code: 'model-config', message: /object_detector also "orig_target_sizes".*nothing fills/ };
  await expect(start(VisionHandler, ['batch', 2])).rejects.toMatchObject(refusal);
  for (const dims of [[2], ['batch', 4], ['batch', 'two'], ['batch', 1, 2]])
    await expect(start(ObjectDetector, dims)).rejects.toMatchObject(refusal);
  await start(ObjectDetector, ['batch', 2]);
  await start(ObjectDetector, [1, 2]);
});

test('padding: pixel_mask is 0 there, and fractions of boxes are of the rest', async () => {
  const feeds: Tensors[] = [];
  const session = stubSession(
    [
      { name: 'pixel_values', dtype: 'float32', dims: ['batch', 3, 'height', 'width'] },
      { name: 'pixel_mask', dtype: 'int64', dims: ['batch', 'height', 'width'] },
    ],
    [
      { name: 'logits', dtype: 'float32', dims: ['batch', 1, 2] },
      { name: 'pred_boxes', dtype: 'float32', dims: ['batch', 1, 4] },
    ],
    (inputs = {}) => {
      feeds.push(inputs);
      const rows = inputs['pixel_values']?.dims[0] ?? 0;
      const repeat = (row: number[]) =>
        Float32Array.from({ length: rows * row.length }, (_, at) => row[at % row.length]!);
      return {
        logits: { dtype: 'float32', dims: [rows, 1, 2], data: repeat([9, 0]) },
        pred_boxes: { dtype: 'float32', dims: [rows, 1, 4], data: repeat([0.5, 0.5, 0.5, 1]) },
      };
    },
  );
  const padTensor = { size: [4, 6] };
  const config = {
    handler: { imageProcessing: [{ resize: { size: 2 } }, 'toTensor', { padTensor }], decoder: 'detr' },
  };
  const detector = new ObjectDetector();
  await expect(detector.initialize(createTestContext({ session, config }))).resolves.toBeUndefined();
  const photo = (height: number, width: number) => ({
    data: new Uint8Array(height * width * 3),
    dims: [height, width, 3],
  });
  const context = createTestContext({ session, config, batchSize: 2 });
  const found = (await detector.handle([photo(4, 8), photo(8, 4)], context)) as readonly Detections[];
  expect(found.map(boxes)).toEqual([[[2, 0, 6, 4]], [[1, 0, 3, 8]]]);
  const { pixel_mask: mask } = feeds.at(-1)!;
  expect(mask!.dims).toEqual([2, 4, 6]);
  expect(Array.from(mask!.data as BigInt64Array, Number)).toEqual(
    [
      [1, 1, 1, 1, 0, 0],
      [1, 1, 1, 1, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [0, 0, 0, 0, 0, 0],
      [1, 1, 0, 0, 0, 0],
      [1, 1, 0, 0, 0, 0],
      [1, 1, 0, 0, 0, 0],
      [1, 1, 0, 0, 0, 0],
    ].flat(),
  );
});

test('a pixel_mask of a fixed size is that of the tensor, scaled to the nearest pixel', () => {
  const contents = [{ width: 4, height: 2 }, undefined, { width: 2, height: 4 }];
  const info = { name: 'pixel_mask', dtype: 'float32', dims: ['batch', 2, 3] } as const;
  const { dims, data } = pixelMask(info, { rows: 3, width: 6, height: 4, contents });
  expect(dims).toEqual([3, 2, 3]);
  expect([...data]).toEqual([1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0]);
});
