import { expect, test } from '@playwright/test';
import type { Session, Tensor, TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';
import {
  createTestContext,
  iou,
  nms,
  ObjectDetector,
  PredictionError,
  type Context,
  type DetectionDecoder,
  type ModelFacts,
  type ScoredBox,
  type Detections,
} from '../../../../../src/worker.ts';
import { stubSession } from '../../../support/stub-session.ts';

type Dims = TensorInfo['dims'];

const SIDE = 32;
const IMAGE: TensorInfo = { name: 'image', dtype: 'float32', dims: [1, 3, SIDE, SIDE] };
const out = (dims: Dims, name = 'output', dtype: TensorInfo['dtype'] = 'float32'): TensorInfo => ({
  name,
  dtype,
  dims,
});
const f32 = (dims: number[], values: readonly number[]): Tensor => ({
  dtype: 'float32',
  dims,
  data: Float32Array.from(values),
});

const LARGE: TensorInfo = { ...IMAGE, dims: [1, 3, 640, 640] };
const stub = (outputs: readonly TensorInfo[], run: (feeds: Tensors) => Tensors = () => ({}), input = IMAGE) =>
  stubSession([input], outputs, run);

type Options = Parameters<typeof createTestContext>[0] & { readonly handler?: Record<string, unknown> };

async function start(session: Session, { handler = {}, ...options }: Options = {}) {
  const detector = new ObjectDetector();
  const config = { handler: { imageProcessing: [{ resize: [SIDE, SIDE] }, 'toTensor'], ...handler } };
  await detector.initialize(createTestContext({ session, config, ...options }));
  return {
    detector,
    handle: (rows: unknown[], params = {}) =>
      detector.handle(
        rows as never[],
        createTestContext({ session, config, ...options, batchSize: rows.length, params }),
      ),
  };
}

const image = (value = 0, size = SIDE) => ({
  data: new Uint8Array(size * size * 3).fill(value),
  dims: [size, size, 3],
});
/** One final row after another. */
const rowsModel = (...rows: readonly (readonly number[])[]) =>
  stub([out([1, rows.length, 6])], () => ({ output: f32([1, rows.length, 6], rows.flat()) }));
const found = (result: unknown) => (result as Detections).map(({ label, score }) => [label, Number(score.toFixed(4))]);

test('IoU and NMS: greater than the threshold goes, within its class; the best first, the earlier among equals', () => {
  const box = (xmin: number, ymin: number, xmax: number, ymax: number, score: number, classIndex = 0): ScoredBox => ({
    xmin,
    ymin,
    xmax,
    ymax,
    score,
    classIndex,
  });
  const [a, half, apart] = [box(0, 0, 10, 10, 0.6), box(0, 0, 10, 5, 0.9), box(20, 20, 30, 30, 0.7)];
  expect(iou(a, half)).toBe(0.5);
  expect(iou(a, apart)).toBe(0);
  expect(iou(box(0, 0, 0, 0, 1), box(0, 0, 0, 0, 1))).toBe(0);
  expect(nms([a, half, apart], 0.5)).toEqual([half, apart, a]);
  expect(nms([a, half, apart], 0.49)).toEqual([half, apart]);
  expect(nms([a, half, apart], 0.49, 1)).toEqual([half]);
  expect(nms([a, { ...half, classIndex: 1 }], 0)).toHaveLength(2);
  const twins = [box(0, 0, 9, 9, 0.5), box(0, 0, 9, 9, 0.5), box(0, 0, 9, 9, 0.5, 1)] as const;
  expect(nms(twins, 0.5)).toEqual([twins[0], twins[2]]);
  expect(nms(twins, 1)).toEqual(twins);
  expect(nms([], 0.5)).toEqual([]);
  // What was suppressed suppresses nothing.
  const chain = [box(0, 0, 10, 10, 0.9), box(4, 0, 14, 10, 0.8), box(8, 0, 18, 10, 0.7)] as const;
  expect(nms(chain, 0.4)).toEqual([chain[0], chain[2]]);
});

test('params: from the class, the archive and the request', async () => {
  const rows = [0.9, 0.7, 0.5, 0.3].map((score, index) => [index * 2, 0, 16 + index * 2, 16, score, 0]);
  const session = rowsModel(...rows);
  const { detector, handle } = await start(session, {
    handler: { decoder: 'rows', maxDetections: 3, iouThreshold: 1 },
  });
  const scores = async (params = {}) => found((await handle([image()], params))[0]).map(([, score]) => score);
  expect(await scores()).toEqual([0.9, 0.7, 0.5]);
  expect(await scores({ scoreThreshold: 0 })).toEqual([0.9, 0.7, 0.5]);
  expect(await scores({ scoreThreshold: 0, maxDetections: 9 })).toEqual([0.9, 0.7, 0.5, 0.3]);
  expect(await scores({ scoreThreshold: 0.6, maxDetections: 9 })).toEqual([0.9, 0.7]);
  expect(await scores({ iouThreshold: 0.5, scoreThreshold: 0 })).toEqual([0.9, 0.3]);
  expect(await scores({ scoreThreshold: 1 })).toEqual([]);
  detector.threshold = 0.8;
  expect(await scores()).toEqual([0.9]);
  await expect(handle([image()], { decoder: 'yolov5' })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('params.decoder'),
  });
  for (const params of [
    { scoreThreshold: 1.5 },
    { scoreThreshold: -0.1 },
    { scoreThreshold: NaN },
    { iouThreshold: 2 },
    { maxDetections: 0 },
    { maxDetections: 1.5 },
    { result: 'x' },
  ]) {
    const [key] = Object.keys(params);
    await expect(handle([image()], params), key).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringContaining(`params.${key}`),
    });
  }
});

test('initialize fails for thresholds out of range, wrong names and wrong options', async () => {
  for (const [handler, message] of [
    [{ scoreThreshold: 50 }, /^handler\.scoreThreshold must be a number in 0\.\.1, not 50/],
    [{ iouThreshold: -1 }, /^handler\.iouThreshold/],
    [{ maxDetections: 0 }, /^handler\.maxDetections/],
    [{ result: 'pascal' }, /^handler\.result.*"typed" or "torchserve"/],
    [{ decoder: 'yolov9' }, /^handler\.decoder must be .*"yolov8"/],
    [{ decoder: { yolov9: {} } }, /^handler\.decoder\.yolov9/],
    [{ decoder: {} }, /^handler\.decoder/],
    [{ decoder: 7 }, /^handler\.decoder/],
    [{ decoder: { rows: { unit: 'miles' } } }, /^handler\.decoder\.rows\.unit.*"pixels" or "fraction"/],
    [{ decoder: { yolox: { strides: [] } } }, /^handler\.decoder\.yolox\.strides/],
    [{ decoder: { yolox: { strides: [8, -1] } } }, /^handler\.decoder\.yolox\.strides\[1\]/],
    [
      { decoder: { rows: { columns: ['x1', 'y1', 'x2', 'y2', 'class', 'ignore'] } } },
      /handler\.decoder\.rows\.columns must name score/,
    ],
    [{ decoder: { rows: { columns: ['x1', 'y1', 'x1', 'y2', 'x2', 'score'] } } }, /handler\.decoder\.rows\.columns/],
    [{ decoder: { rows: { columns: ['x1', 'y1', 'cx', 'h', 'score', 'class'] } } }, /handler\.decoder\.rows\.columns/],
    [{ decoder: 'ssd' }, /handler\.decoder\.ssd\.anchors must be one of torchvision, tensorflow, blazeface, file/],
    [
      { decoder: { ssd: { anchors: { torchvision: { grids: [4, 2], aspectRatios: [[2]] } } } } },
      /anchors\.torchvision\.aspectRatios must have 2 items for 2 grids, not 1/,
    ],
    [
      { decoder: { ssd: { anchors: { blazeface: { grids: [16, 0], perCell: [2, 6] } } } } },
      /anchors\.blazeface\.grids\[1\] must be an integer ≥ 1/,
    ],
    [
      { decoder: { ssd: { anchors: { tensorflow: { grids: ['19'] } } } } },
      /anchors\.tensorflow\.grids\[0\] must be an integer ≥ 1, or a list of 2/,
    ],
    [
      {
        decoder: {
          ssd: { anchors: { torchvision: { grids: [4], aspectRatios: [[2]], minRatio: 0.9, maxRatio: 0.2 } } },
        },
      },
      /anchors\.torchvision\.minRatio must be less than maxRatio, not 0\.9 for 0\.2/,
    ],
    [
      { decoder: { ssd: { anchors: { torchvision: { grids: [4], aspectRatios: [[2]], minRatio: 0 } } } } },
      /anchors\.torchvision\.minRatio must be a number > 0, not 0/,
    ],
    [
      { decoder: { ssd: { anchors: { torchvision: { grids: [4], aspectRatios: [[2]], steps: [0] } } } } },
      /anchors\.torchvision\.steps\[0\] must be a number > 0, not 0/,
    ],
    [
      { decoder: { ssd: { anchors: { torchvision: { grids: [4], aspectRatios: [[-2]] } } } } },
      /anchors\.torchvision\.aspectRatios\[0\]\[0\] must be a number > 0, not -2/,
    ],
    [
      { decoder: { ssd: { anchors: { torchvision: { grids: [4], aspectRatios: [] } } } } },
      /anchors\.torchvision\.aspectRatios must be a list of at least 1/,
    ],
    [
      { decoder: { ssd: { anchors: { tensorflow: { grids: [4], minScale: 0.96 } } } } },
      /anchors\.tensorflow\.minScale must be less than maxScale, not 0\.96 for 0\.95/,
    ],
    [
      { decoder: { ssd: { anchors: { tensorflow: { grids: [4], maxScale: -1 } } } } },
      /anchors\.tensorflow\.maxScale must be a number > 0, not -1/,
    ],
    [
      { decoder: { ssd: { anchors: { tensorflow: { grids: [4], aspectRatios: [] } } } } },
      /anchors\.tensorflow\.aspectRatios must be a list of at least 1/,
    ],
    [
      { decoder: { ssd: { anchors: { tensorflow: { grids: [4] } }, variances: [0.1, 0.1, 0, 0.2] } } },
      /ssd\.variances\[2\] must be a number > 0, not 0/,
    ],
    [
      { decoder: { torchvision: { outputs: { boxes: ['a', 'b'] } } } },
      /torchvision\.outputs\.boxes must be a string, not \["a","b"\]/,
    ],
    [{ decoder: { detr: { outputs: { logits: ['a'] } } } }, /detr\.outputs\.logits must be a string, not \["a"\]/],
  ] as const) {
    await expect(
      start(rowsModel([0, 0, 1, 1, 1, 0]), { handler: { decoder: 'rows', ...handler } }),
      JSON.stringify(handler),
    ).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(message),
    });
  }
});

test('initialize refuses a decoder that does not fit the model, and the error lists the model’s outputs', async () => {
  const yolov5 = [out([1, 63, 8])];
  const yolov8 = [out([1, 7, 63])];
  const yolox = [out([1, 21, 8])];
  const triple = [out(['n', 4], 'a'), out(['n'], 'b', 'int64'), out(['n'], 'c')];
  const six = [16, 4, 1].flatMap((points) => [
    out([1, points, 3], `scores ${points}`),
    out([1, points, 32], `sides ${points}`),
  ]);
  const three = ['ant', 'bee', 'cat'];
  for (const [name, outputs, decoder, labels, message] of [
    [
      'torchvision by default',
      yolov8,
      undefined,
      undefined,
      /torchvision reads boxes .*the model gives "output" \[1, 7, 63\]/,
    ],
    [
      'yolov5',
      yolov8,
      'yolov5',
      undefined,
      /yolov5 reads \[batch, boxes, 5 \+ classes\]; the model gives "output" \[1, 7, 63\]/,
    ],
    ['yolov5, three labels', [out([1, 63, 9])], 'yolov5', three, /3 labels.*4 classes/],
    ['yolov8', yolov5, 'yolov8', three, /3 labels.*4 classes/],
    ['yolov8 of an image', [out([1, 3, 8, 8])], 'yolov8', undefined, /yolov8 reads/],
    ['yolov8 of four columns', [out([1, 4, 63])], 'yolov8', undefined, /yolov8 reads/],
    ['yolox', yolov5, 'yolox', undefined, /yolox reads \[batch, 21 cells \(strides 8, 16, 32\), 5 \+ classes\]/],
    ['yolox, two labels', yolox, 'yolox', ['a', 'b'], /2 labels.*3 classes/],
    ['rows', yolov5, 'rows', undefined, /rows reads \[batch, boxes, 6\]/],
    ['rows of a vector', [out([6])], 'rows', undefined, /rows reads/],
    ['detr', yolov5, 'detr', undefined, /detr reads boxes/],
    [
      'detr, labels of all logits',
      [out([1, 9, 4], 'pred_boxes'), out([1, 9, 3], 'logits')],
      'detr',
      three,
      /3 labels.*2 classes/,
    ],
    ['ssd', yolov5, { ssd: { anchors: { blazeface: { grids: [4], perCell: [2] } } } }, undefined, /ssd reads scores/],
    [
      'ssd, other anchors',
      [out([1, 30, 4], 'boxes'), out([1, 30, 3], 'scores')],
      { ssd: { anchors: { tensorflow: { grids: [4] } } } },
      undefined,
      /of the 48 anchors that are configured/,
    ],
    [
      'ssd, which is which',
      [out([1, 32, 4], 'x'), out([1, 32, 4], 'y')],
      { ssd: { anchors: { blazeface: { grids: [4], perCell: [2] } } } },
      undefined,
      /outputs\.boxes must say which.*"x", "y"/,
    ],
    [
      'ssd, a name that is not there',
      triple,
      { ssd: { anchors: { blazeface: { grids: [4], perCell: [2] } }, outputs: { boxes: 'z' } } },
      undefined,
      /outputs\.boxes: the model has no "z"; it has "a", "b", "c"/,
    ],
    ['nanodet', yolov5, 'nanodet', undefined, /nanodet reads \[batch, 16 \+ 4 \+ 1, classes/],
    ['nanodet of two strides', six, { nanodet: { strides: [8, 16] } }, undefined, undefined],
    [
      'nanodet of other strides',
      six,
      { nanodet: { strides: [4, 8, 16] } },
      undefined,
      /nanodet reads \[batch, 64 \| 16 \| 4, classes\]/,
    ],
    ['nanodet, four labels', six, { nanodet: { regMax: 7 } }, ['a', 'b', 'c', 'd'], /4 labels.*3 classes/],
    [
      'nanodet, no such output',
      six,
      { nanodet: { outputs: ['x'] } },
      undefined,
      /nanodet\.outputs: the model has no "x"/,
    ],
  ] as const) {
    const started = start(stub(outputs), { handler: { ...(decoder && { decoder }), ...(labels && { labels }) } });
    if (message)
      await expect(started, name).rejects.toMatchObject({
        code: 'model-config',
        message: expect.stringMatching(message),
      });
    else await started;
  }
});

test('an output found by its name is held against its role', async () => {
  const named = (dims: Readonly<Record<string, Dims>>) => Object.entries(dims).map(([name, given]) => out(given, name));
  const triple = named({ boxes: ['n', 4], labels: ['n'], scores: ['n'] });
  const pair = named({ logits: [1, 100, 92], pred_boxes: [1, 100, 4] });
  const anchors = { blazeface: { grids: [4], perCell: [2] } };
  for (const [name, outputs, decoder, message] of [
    ['torchvision, dtypes free', triple, 'torchvision', undefined],
    [
      'torchvision, boxes and scores swapped',
      triple,
      { torchvision: { outputs: { boxes: 'scores', scores: 'boxes', labels: 'labels' } } },
      /torchvision\.outputs\.boxes must be \[boxes, 4\].*"scores" \[n\]/,
    ],
    [
      'torchvision, boxes and scores of a batch swapped',
      named({ boxes: [1, 4], labels: [1, 4], scores: [1, 4, 4] }),
      'torchvision',
      /torchvision\.outputs\.scores must be \[boxes\].*"scores" \[1, 4, 4\]/,
    ],
    [
      'torchvision, usual name',
      [out([1, 10, 85], 'boxes'), ...triple.slice(1)],
      'torchvision',
      /torchvision\.outputs\.boxes must be .*; the model gives "boxes" \[1, 10, 85\]/,
    ],
    [
      'torchvision, fewer scores',
      named({ boxes: [1, 10, 4], labels: [1, 10], scores: [1, 9] }),
      'torchvision',
      /torchvision reads as many labels and scores as boxes; the model gives .*"scores" \[1, 9\]/,
    ],
    ['detr', pair, 'detr', undefined],
    [
      'detr, swapped',
      pair,
      { detr: { outputs: { logits: 'pred_boxes', boxes: 'logits' } } },
      /detr\.outputs\.boxes must be \[batch, queries, 4\]; the model gives "logits" \[1, 100, 92\]/,
    ],
    [
      'detr, 99 boxes',
      named({ logits: [1, 100, 92], pred_boxes: [1, 99, 4] }),
      'detr',
      /detr reads as many boxes as logits; the model gives "logits" \[1, 100, 92\], "pred_boxes" \[1, 99, 4\]/,
    ],
    ['detr, open counts', named({ logits: [1, 'n', 92], pred_boxes: [1, 99, 4] }), 'detr', undefined],
    [
      'ssd, usual name',
      named({ boxes: [1, 32, 3], scores: [1, 32, 2] }),
      { ssd: { anchors } },
      /ssd\.outputs\.boxes must be \[batch, anchors, 4\]; the model gives "boxes" \[1, 32, 3\]/,
    ],
    [
      'ssd, fewer scores',
      named({ boxes: [1, 32, 4], scores: [1, 31, 2] }),
      { ssd: { anchors } },
      /ssd reads boxes and scores of the 32 anchors/,
    ],
  ] as const) {
    const started = start(stub(outputs), { handler: { decoder } });
    if (message)
      await expect(started, name).rejects.toMatchObject({
        code: 'model-config',
        message: expect.stringMatching(message),
      });
    else await started;
  }
});

test('text is no detection, whatever the decoder', async () => {
  const text = (dims: Dims, name = 'output') => out(dims, name, 'string');
  const anchors = { blazeface: { grids: [4], perCell: [2] } };
  for (const [decoder, outputs] of [
    ['rows', [text([1, 9, 6])]],
    ['yolov5', [text([1, 63, 8])]],
    ['yolov8', [text([1, 8, 63])]],
    ['yolox', [text([1, 21, 8])]],
    ['nanodet', [text([1, 21, 35])]],
    ['torchvision', [out(['n', 4], 'boxes'), text(['n'], 'labels'), out(['n'], 'scores')]],
    ['detr', [text([1, 9, 3], 'logits'), out([1, 9, 4], 'pred_boxes')]],
    [{ ssd: { anchors } }, [out([1, 32, 4], 'boxes'), text([1, 32, 2], 'scores')]],
  ] as const) {
    const name = typeof decoder === 'string' ? decoder : 'ssd';
    await expect(start(stub(outputs), { handler: { decoder } }), name).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(
        new RegExp(`^handler\\.decoder: ${name} reads numbers; the model gives strings in "\\w+"`),
      ),
    });
  }
  // One that nobody has named is no candidate.
  await start(stub([out(['n', 4], 'a'), text(['n'], 'b'), out(['n'], 'c'), out(['n'], 'd', 'int64')]));
});

test('columns of masks and keypoints are named, where they are more than the labels', async () => {
  const refused = async (columns: number, labels: number, message: RegExp) =>
    await expect(
      start(stub([out([1, columns, 21])]), {
        handler: { decoder: 'yolov8', labels: Array.from({ length: labels }, (_, index) => `class ${index}`) },
      }),
    ).rejects.toMatchObject({ code: 'model-config', message });
  await refused(4 + 80 + 32, 80, /80 labels, .*112 classes.* 32 may be the mask coefficients of a segmentation/);
  await refused(4 + 1 + 51, 1, /1 labels, .*52 classes.* 51 may be the numbers of 17 keypoints/);
  await refused(4 + 5, 4, /5 classes\. Correct/);
});

test('yolov8 on what looks like YOLOv5’s is a warning, unless labels say how many classes there are', async () => {
  const warnings = async (dims: Dims, labels?: readonly string[]) => {
    const { warn } = console;
    const told: string[] = [];
    console.warn = (message: string) => told.push(message);
    try {
      await start(stub([out(dims)], undefined, LARGE), {
        handler: {
          imageProcessing: [{ resize: [640, 640] }, 'toTensor'],
          decoder: 'yolov8',
          ...(labels && { labels }),
        },
      });
    } finally {
      console.warn = warn;
    }
    return told;
  };
  expect(await warnings([1, 25200, 85])).toEqual([
    expect.stringMatching(/^handler\.decoder: "output" \[1, 25200, 85\] looks like YOLOv5's.*5 \+ 80/),
  ]);
  expect(await warnings([1, 84, 8400])).toEqual([]);
  expect(await warnings([1, 8400, 84])).toEqual([]);
  expect(
    await warnings(
      [1, 25200, 85],
      Array.from({ length: 81 }, (_, index) => `class ${index}`),
    ),
  ).toEqual([expect.stringMatching(/so 25200 boxes/)]);
  // The end-to-end exports, with two labels and with none; grids of other strides are fine.
  for (const labels of [undefined, ['person', 'bicycle']])
    expect(await warnings([1, 300, 6], labels)).toEqual([expect.stringMatching(/8400 .*\[1, 300, 6\].*decoder: rows/)]);
  for (const count of [8400, 33600 + 400, 8500, 2000, 6400]) expect(await warnings([1, 84, count])).toEqual([]);
});

test('dims that a model leaves open are checked when they are there', async () => {
  for (const dims of [[1, 'n', 'm'], ['batch', 'n', 6], []] as Dims[]) {
    const open = stub([out(dims)], () => ({ output: f32([1, 1, 6], [0, 0, 16, 16, 0.9, 2]) }));
    const { handle } = await start(open, { handler: { decoder: 'rows' } });
    expect(found((await handle([image()]))[0])).toEqual([['2', 0.9]]);
  }
  for (const decoder of ['rows', 'yolov5', 'yolox', 'nanodet']) {
    const wrong = stub([out([])], () => ({ output: f32([1, 1, 5], [0, 0, 1, 1, 1]) }));
    const { handle } = await start(wrong, { handler: { decoder } });
    const [row] = await handle([image()]);
    expect(row, decoder).toMatchObject({
      code: 'model-config',
      stage: 'postprocess',
      message: expect.stringContaining(`${decoder} reads`),
    });
  }
});

test('a model of any number of boxes may find fewer than it has columns, or none', async () => {
  const detect = async (decoder: string, declared: Dims, given: number[], values: readonly number[]) => {
    const session = stub([out(declared)], () => ({ output: f32(given, values) }));
    const { handle } = await start(session, { handler: { decoder } });
    return found((await handle([image()]))[0]);
  };
  const columns = [16, 16, 8, 8, 0.25, 0.75];
  // Each number for five boxes, of which the last four score 0.
  const five = columns.flatMap((value, column) => [value, 0, 0, 0, 0].map((number) => (column < 4 ? value : number)));
  for (const count of ['boxes', null]) {
    expect(await detect('yolov8', [1, 6, count], [1, 6, 5], five)).toEqual([['1', 0.75]]);
    expect(await detect('yolov8', [1, 6, count], [1, 6, 1], columns)).toEqual([['1', 0.75]]);
    expect(await detect('yolov8', [1, count, 6], [1, 1, 6], columns)).toEqual([['1', 0.75]]);
    expect(await detect('yolov8', [1, 6, count], [1, 6, 0], [])).toEqual([]);
    expect(await detect('yolov5', [1, count, 7], [1, 1, 7], [16, 16, 8, 8, 1, 0.25, 0.75])).toEqual([['1', 0.75]]);
    expect(await detect('yolov5', [1, count, 7], [1, 0, 7], [])).toEqual([]);
  }
});

test('boxes whose numbers lie the other way around, and scores of no class, are errors', async () => {
  const detect = async (decoder: unknown, declared: readonly TensorInfo[], outputs: Tensors) => {
    const { handle } = await start(
      stub(declared, () => outputs),
      { handler: { decoder } },
    );
    return (await handle([image()]))[0];
  };
  const zeros = (...dims: number[]) =>
    f32(
      dims,
      Array.from({ length: dims.reduce((a, b) => a * b) }, () => 0),
    );
  const torchvision = [out([1, null, null], 'boxes'), out([1, null], 'labels', 'int64'), out([1, null], 'scores')];
  expect(
    await detect('torchvision', torchvision, { boxes: zeros(1, 4, 3), labels: zeros(1, 3), scores: zeros(1, 3) }),
  ).toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/torchvision reads boxes \[boxes, 4\] .*the model gives "boxes" \[4, 3\]/),
  });
  const detr = [out([1, null, null], 'logits'), out([1, null, null], 'pred_boxes')];
  expect(await detect('detr', detr, { logits: zeros(1, 3, 2), pred_boxes: zeros(1, 4, 3) })).toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/detr reads boxes \[batch, queries, 4\]; .*"pred_boxes" \[batch, 4, 3\]/),
  });
  const message = expect.stringMatching(
    /reads a score for the background \(background: (first|last)\) and for each class; the model gives/,
  );
  expect(await detect('detr', detr, { logits: zeros(1, 3, 1), pred_boxes: zeros(1, 3, 4) })).toMatchObject({
    code: 'model-config',
    message,
  });
  const ssd = { ssd: { anchors: { torchvision: { grids: [1], aspectRatios: [[2]] } } } };
  const raw = [out([1, 4, 4], 'boxes'), out([1, 4, null], 'scores')];
  expect(await detect(ssd, raw, { boxes: zeros(1, 4, 4), scores: zeros(1, 4, 1) })).toMatchObject({
    code: 'model-config',
    message,
  });
  for (const [decoder, outputs] of [
    ['detr', [out([1, 3, 1], 'logits'), out([1, 3, 4], 'pred_boxes')]],
    [ssd, [out([1, 4, 4], 'boxes'), out([1, 4, 1], 'scores')]],
  ] as const)
    await expect(start(stub(outputs), { handler: { decoder } })).rejects.toMatchObject({
      code: 'model-config',
      message,
    });
  const sigmoid = { detr: { activation: 'sigmoid' } };
  expect(await detect(sigmoid, detr, { logits: zeros(1, 3, 1), pred_boxes: zeros(1, 3, 4) })).toEqual([]);
});

test('an output with other rows than the batch is an error, not the boxes of other images', async () => {
  const two = f32([1, 2, 6], [0, 0, 16, 16, 0.9, 2, 0, 0, 8, 8, 0.8, 1]);
  const input = { ...IMAGE, dims: ['batch', 3, SIDE, SIDE] };
  const boxes = stub([out(['batch', 'n', 6])], () => ({ output: two }), input);
  const { handle } = await start(boxes, { handler: { decoder: 'rows' } });
  await expect(handle([image(), image()])).rejects.toMatchObject({ code: 'batch-contract' });
});

test('labels: a gap gets its index as label, one label too many is refused, and a sparse mapping may start at 1', async () => {
  const yolov5 = () =>
    stub([out([1, 63, 8])], () => ({
      output: f32(
        [1, 63, 8],
        Array.from({ length: 63 * 8 }, (_, i) => (i < 8 ? [16, 16, 8, 8, 1, 0.2, 0.3, 0.9][i]! : 0)),
      ),
    }));
  const label = async (labels?: unknown) => {
    const { handle } = await start(yolov5(), {
      handler: { decoder: 'yolov5', ...(labels !== undefined && { labels }) },
    });
    return found((await handle([image()]))[0])[0]![0];
  };
  expect(await label()).toBe('2');
  expect(await label(['a', 'b', 'c'])).toBe('c');
  expect(await label({ 1: 'one', 2: 'two' })).toBe('two');
  expect(await label({ 1: 'one' })).toBe('2');
  await expect(label({ 1: 'one', 3: 'three' })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/class 3.*3 classes/),
  });
});

test('boxes that are not finite are dropped; a row with no finite score fails alone', async () => {
  const [nan, inf] = [NaN, Infinity];
  const rows = [
    [0, 0, 16, 16, nan, 0],
    [nan, 0, 16, 16, 0.9, 1],
    [0, -inf, 16, 16, 0.9, 2],
    [0, 0, 16, inf, 0.9, 3],
    [0, 0, 16, 16, inf, 4],
    [0, 0, 16, 16, 0.8, 5],
  ];
  const { handle } = await start(rowsModel(...rows), { handler: { decoder: 'rows' } });
  expect(found((await handle([image()]))[0])).toEqual([['5', 0.8]]);

  for (const decoder of ['rows', 'yolov8'] as const) {
    const dims = decoder === 'rows' ? [4, 6] : [6, 9];
    const size = dims[0]! * dims[1]!;
    const batch = stub(
      [out(['batch', ...dims])],
      ({ image: fed }) => ({
        output: f32(
          [fed!.dims[0]!, ...dims],
          Array.from({ length: fed!.dims[0]! * size }, (_, i) => (i < size ? NaN : 0.1)),
        ),
      }),
      { ...IMAGE, dims: ['batch', 3, SIDE, SIDE] },
    );
    const results = await (await start(batch, { handler: { decoder } })).handle([image(), image()]);
    expect(results[0], decoder).toBeInstanceOf(PredictionError);
    expect(results[0]).toMatchObject({ code: 'inference-failed', stage: 'postprocess' });
    expect(results[1]).toEqual([]);
  }
  const some = await start(rowsModel([nan, nan, nan, nan, 0.9, 0], [0, 0, 1, 1, 0.1, 0]), {
    handler: { decoder: 'rows' },
  });
  expect(await some.handle([image()])).toEqual([[]]);
});

test('a class index that a GPU computes almost as an integer is rounded; NaN is no class', async () => {
  const { handle } = await start(
    rowsModel([0, 0, 9, 9, 0.9, 2.9999998], [0, 0, 9, 9, 0.8, NaN], [0, 0, 9, 9, 0.7, 1.0000001]),
    { handler: { decoder: 'rows' } },
  );
  expect(found((await handle([image()]))[0])).toEqual([
    ['3', 0.9],
    ['1', 0.7],
  ]);
});

test('a score above 1, or an impossible class, fails its row; rows that only fill up do not', async () => {
  const detect = async (...rows: readonly (readonly number[])[]) => {
    const { handle } = await start(rowsModel(...rows), { handler: { decoder: 'rows', scoreThreshold: 0 } });
    return (await handle([image()]))[0];
  };
  for (const [score, index, message] of [
    [87, 0, /score 87; a score must be in 0\.\.1/],
    [0.5, -3, /class -3; a class must be/],
    [0.5, 3e38, /class 2147483647; a class must be/],
  ] as const)
    expect(await detect([0, 0, 9, 9, score, index])).toMatchObject({
      code: 'inference-failed',
      stage: 'postprocess',
      message: expect.stringMatching(message),
    });
  expect(found(await detect([0, 0, 9, 9, 1.0005, 2], [0, 0, 0, 0, 0, -1]))).toEqual([['2', expect.closeTo(1.0005)]]);
});

test('outputs are recognized by their usual names, else by their dims, in any order', async () => {
  const boxes = f32([1, 2, 4], [0, 0, 0.5, 0.25, 0, 0, 1, 1]);
  const [scores, labels] = [f32([1, 2], [0.9, 0.1]), f32([1, 2], [17, 1])];
  const tensorflow = stub(
    ['num_detections:0', 'detection_scores:0', 'detection_boxes:0', 'detection_classes:0'].map((name) =>
      out([1, 2, ...(name.includes('boxes') ? [4] : [])], name),
    ),
    () => ({
      'num_detections:0': f32([1], [2]),
      'detection_scores:0': scores,
      'detection_boxes:0': boxes,
      'detection_classes:0': labels,
    }),
  );
  const { handle } = await start(tensorflow, {
    handler: { decoder: { torchvision: { format: 'yxyx', unit: 'fraction' } } },
  });
  expect(await handle([image()])).toEqual([
    [{ label: '17', score: expect.closeTo(0.9, 6), box: { xmin: 0, ymin: 0, xmax: 8, ymax: 16 } }],
  ]);

  const unnamed = stub([out(['n'], '6381', 'int64'), out(['n'], '6383'), out(['n', 4], '6379')], () => ({
    '6379': f32([1, 4], [1, 2, 3, 4]),
    '6381': { dtype: 'int64', dims: [1], data: BigInt64Array.of(5n) },
    '6383': f32([1], [0.9]),
  }));
  expect(await (await start(unnamed)).handle([image()])).toEqual([
    [{ label: '5', score: expect.closeTo(0.9, 6), box: { xmin: 1, ymin: 2, xmax: 3, ymax: 4 } }],
  ]);

  const dense = stub([out([1, 2, 3], 'b'), out([1, 2, 4], 'a'), out([1, 9, 9], 'hidden')]);
  await expect(start(dense, { handler: { decoder: 'detr' } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/outputs\.logits must say which.*"b", "hidden"/),
  });
  await start(dense, { handler: { decoder: { detr: { outputs: { logits: 'b' } } } } });
});

test('boxes are clipped to the image; one outside of it, or of no area, is none', async () => {
  const rows = [
    [-9, -9, 16, 16, 0.9, 0],
    [8, 8, 99, 99, 0.8, 1],
    [-9, -9, 0, 16, 0.9, 2],
    [40, 0, 50, 16, 0.9, 3],
    [16, 16, 16, 20, 0.9, 4],
    [20, 20, 10, 10, 0.9, 5],
  ];
  const { handle } = await start(rowsModel(...rows), { handler: { decoder: 'rows', labels: { 0: 'a' } } });
  expect(await handle([image(0, 64)])).toEqual([
    [
      { label: 'a', score: expect.closeTo(0.9, 6), box: { xmin: 0, ymin: 0, xmax: 32, ymax: 32 } },
      { label: '1', score: expect.closeTo(0.8, 6), box: { xmin: 16, ymin: 16, xmax: 64, ymax: 64 } },
    ],
  ]);
});

test('TorchServe’s shape, and none at all', async () => {
  const { handle } = await start(rowsModel([1, 2, 3, 4, 0.75, 0]), {
    handler: { decoder: 'rows', labels: { 0: 'cat' }, result: 'torchserve' },
  });
  expect(await handle([image()])).toEqual([[{ cat: [1, 2, 3, 4], score: 0.75 }]]);
  expect(await handle([image()], { scoreThreshold: 0.8 })).toEqual([[]]);
  expect(await handle([image()], { result: 'typed' })).toEqual([
    [{ label: 'cat', score: 0.75, box: { xmin: 1, ymin: 2, xmax: 3, ymax: 4 } }],
  ]);
});

/** As many boxes as the first pixel says: torchvision's shapes, which have no batch axis. */
const ragged = (dims: Dims) =>
  stub(
    [out(['boxes', 4], 'boxes'), out(['boxes'], 'labels', 'int64'), out(['boxes'], 'scores')],
    ({ image: fed }) => {
      const count = Math.round((fed!.data[0] as number) * 255);
      const boxes = Array.from({ length: count }, (_, index) => [index, 0, index + 9, 9]).flat();
      return {
        boxes: f32([count, 4], boxes),
        labels: { dtype: 'int64', dims: [count], data: BigInt64Array.from({ length: count }, (_, i) => BigInt(i + 1)) },
        scores: f32([count], Array(count).fill(0.9)),
      };
    },
    { ...IMAGE, dims },
  );

test('torchvision’s models, which take one image: each row has a run of its own, and its own number of boxes', async () => {
  for (const dims of [
    [3, SIDE, SIDE],
    [3, 'height', 'width'],
    [1, 3, SIDE, SIDE],
    ['batch', 3, 'height', 'width'],
  ] as Dims[]) {
    const session = ragged(dims);
    const { handle } = await start(session);
    const results = await handle([image(2), image(0), image(3), { data: new Uint8Array(5), dims: [5] }], {
      scoreThreshold: 0,
    });
    expect(results.slice(0, 3).map(found), String(dims)).toEqual([
      [
        ['1', 0.9],
        ['2', 0.9],
      ],
      [],
      [
        ['1', 0.9],
        ['2', 0.9],
        ['3', 0.9],
      ],
    ]);
    expect(results[3]).toBeInstanceOf(PredictionError);
    for (const fed of session.runs)
      expect(fed['image']!.dims).toEqual(dims.length === 3 ? [3, SIDE, SIDE] : [1, 3, SIDE, SIDE]);
    expect(await handle([image(0)])).toEqual([[]]);
  }
});

test('a batch: each row is decoded from its own part, also where the model takes one at a time', async () => {
  for (const batch of [1, 'batch']) {
    const session = stub(
      [out([batch, 2, 6])],
      ({ image: fed }) => {
        const size = 3 * SIDE * SIDE;
        const classes = Array.from({ length: fed!.dims[0]! }, (_, row) =>
          Math.round((fed!.data[row * size] as number) * 255),
        );
        return {
          output: f32(
            [classes.length, 2, 6],
            classes.flatMap((index) => [0, 0, 9, 9, 0.9, index, 16, 16, 30, 30, 0.1, 0]),
          ),
        };
      },
      { ...IMAGE, dims: [batch, 3, SIDE, SIDE] },
    );
    const { handle } = await start(session, { handler: { decoder: 'rows' } });
    const results = await handle([image(7), image(9, 64), image(3)]);
    expect(results.map(found)).toEqual([[['7', 0.9]], [['9', 0.9]], [['3', 0.9]]]);
    expect((results[1] as Detections)[0]!.box).toEqual({ xmin: 0, ymin: 0, xmax: 18, ymax: 18 });
  }
});

test('a tensor that is ready answers in its own pixels', async () => {
  const { handle } = await start(rowsModel([1, 2, 3, 4, 0.75, 0]), { handler: { decoder: 'rows' } });
  const ready = { data: new Float32Array(3 * SIDE * SIDE), dims: [1, 3, SIDE, SIDE] };
  expect((await handle([ready])) as unknown).toMatchObject([[{ box: { xmin: 1, ymin: 2, xmax: 3, ymax: 4 } }]]);
});

test('the warm-up runs the model, whatever its dims', async () => {
  for (const session of [ragged([3, 'height', 'width']), rowsModel([0, 0, 1, 1, 1, 0])]) {
    const { detector } = await start(session, { handler: session.outputs.length === 1 ? { decoder: 'rows' } : {} });
    const context = createTestContext({ session });
    await detector.inference((await detector.example(context))!, context);
    expect(session.runs).toHaveLength(1);
  }
});

test('anchors from a file: a file that is no list of boxes is refused', async () => {
  const ssd = (content: string) =>
    start(stub([out([1, 2, 4], 'boxes'), out([1, 2, 3], 'scores')]), {
      handler: { decoder: { ssd: { anchors: { file: 'anchors.json' } } } },
      files: { 'anchors.json': content },
    });
  await ssd('[[0.5, 0.5, 1, 1], [0.5, 0.5, 0.5, 0.5]]');
  for (const content of ['[]', '{}', '[[1, 2, 3]]', '[[1, 2, 3, "4"]]'])
    await expect(ssd(content), content).rejects.toMatchObject({
      code: 'model-format',
      message: expect.stringContaining('anchors.json'),
    });
  await expect(ssd('[[0.5, 0.5, 1, 1]]')).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('of the 1 anchors'),
  });
});

const square = (): { data: Uint8Array<ArrayBuffer>; dims: number[] } => ({
  data: new Uint8Array(8 * 8 * 3),
  dims: [8, 8, 3],
});

/** A detector of faces `[batch, faces, 5]`, a form that no built-in decoder reads. */
class FaceDetector extends ObjectDetector {
  protected override createDecoder({ output }: ModelFacts): DetectionDecoder {
    return {
      outputs: [output.name],
      isBatched: true,
      classes: 1,
      iouThreshold: 0.5,
      decode([faces]) {
        const at = (face: number, column: number): number => faces!.data[face * 5 + column]!;
        const count = faces!.dims[0]!;
        return {
          scores: Float64Array.from({ length: count }, (_, face) => at(face, 4)),
          classes: new Int32Array(count),
          box: (face) => ({
            xmin: at(face, 0),
            ymin: at(face, 1),
            xmax: at(face, 0) + at(face, 2),
            ymax: at(face, 1) + at(face, 3),
          }),
        };
      },
    };
  }
}

const facesSession = (): ReturnType<typeof stubSession> =>
  stubSession(
    [{ name: 'image', dtype: 'float32', dims: [1, 3, 8, 8] }],
    [{ name: 'faces', dtype: 'float32', dims: [1, 3, 5] }],
    () => ({
      faces: {
        dtype: 'float32',
        dims: [1, 3, 5],
        // The second is the first, moved by a tenth; the third is below the threshold.
        data: Float32Array.of(1, 2, 4, 4, 0.75, 1.4, 2, 4, 4, 0.625, 0, 0, 1, 1, 0.25),
      },
    }),
  );

test('a detector with a decoder of its own keeps thresholds, suppression, labels and the image’s pixels', async () => {
  const config = { handler: { imageProcessing: [{ resize: [8, 8] }, 'toTensor'], labels: ['face'] } };
  const session = facesSession();
  const handler = new FaceDetector();
  await handler.initialize(createTestContext({ session, config }));
  const photo = { data: new Uint8Array(16 * 8 * 3), dims: [8, 16, 3] };
  const [found] = await handler.handle([photo], createTestContext({ session, config }));
  expect(found).toEqual([{ label: 'face', score: 0.75, box: { xmin: 2, ymin: 2, xmax: 10, ymax: 6 } }]);
  const all = createTestContext({ session, config, params: { iouThreshold: 1, scoreThreshold: 0 } });
  expect((await handler.handle([photo], all))[0]).toHaveLength(3);
});

test('a preprocess of its own says where the image lies, or the row fails with what to do', async () => {
  const preprocess = (): Tensors => ({ image: { dtype: 'float32', dims: [1, 3, 8, 8], data: new Float32Array(192) } });
  class Unplaced extends FaceDetector {
    override async preprocess(): Promise<Tensors> {
      return preprocess();
    }
  }
  class Placed extends FaceDetector {
    override async preprocess(_data: unknown, context: Context): Promise<Tensors> {
      const geometry = { scaleX: 0.5, scaleY: 0.25, offsetX: 0, offsetY: 0 };
      this.place(0, context, { width: 16, height: 32, tensorWidth: 8, tensorHeight: 8, geometry });
      return preprocess();
    }
  }
  const answer = async (handler: ObjectDetector): Promise<unknown> => {
    const session = facesSession();
    await handler.initialize(createTestContext({ session }));
    return (await handler.handle([square()], createTestContext({ session })))[0];
  };
  expect(await answer(new Unplaced())).toMatchObject({
    code: 'handler-failed',
    message: expect.stringContaining('this.place(index, context, placement)'),
  });
  expect(await answer(new Placed())).toEqual([
    { label: '0', score: 0.75, box: { xmin: 2, ymin: 8, xmax: 10, ymax: 24 } },
  ]);
});

for (const [decoder, outputs, wrong] of [
  ['detr', [out([1, 8, 4], 'logits', 'int64'), out([1, 8, 4], 'pred_boxes')], 'logits'],
  ['detr', [out([1, 8, 4], 'logits'), out([1, 8, 4], 'pred_boxes', 'int32')], 'pred_boxes'],
  ['yolov8', [out([1, 7, 20], 'output0', 'int64')], 'output0'],
  ['torchvision', [out(['n', 4], 'boxes'), out(['n'], 'labels', 'int64'), out(['n'], 'scores', 'int64')], 'scores'],
] as const)
  test(`${decoder}: integers in "${wrong}" are refused`, async () => {
    await expect(start(stub(outputs), { handler: { decoder } })).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(`needs floating-point numbers, but the output "${wrong}" is int`),
    });
  });

test('boxes in whole pixels, with their classes as integers, are read', async () => {
  const { handle } = await start(
    stub([out(['n', 4], 'boxes', 'int64'), out(['n'], 'labels', 'int64'), out(['n'], 'scores')], () => ({
      boxes: { dtype: 'int64', dims: [1, 4], data: BigInt64Array.of(2n, 3n, 10n, 12n) },
      labels: { dtype: 'int64', dims: [1], data: BigInt64Array.of(5n) },
      scores: f32([1], [0.9]),
    })),
    { handler: { decoder: 'torchvision' } },
  );
  const [found] = await handle([image()]);
  expect(found).toMatchObject([{ box: { xmin: 2, ymin: 3, xmax: 10, ymax: 12 } }]);
});
