// The forms of pose_landmarker, with stand-ins for the models, against test/goldens/people/pose_forms.py.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { PoseLandmarker, type PoseLandmarks } from '../../../../../src/worker/tasks/people/pose-landmarker.ts';
import { yoloPoseForm } from '../../../../../src/worker/tasks/people/pose-photos.ts';
import { labelCount } from '../../../../../src/worker/outputs/labels.ts';
import { UltralyticsExport } from '../../../../../src/worker/outputs/ultralytics.ts';
import { createTestHandler } from '../../../../../src/worker/host/testing.ts';
import type { Tensors } from '../../../../../src/contract/tensors.ts';

type Numbers = readonly number[];
interface Person {
  readonly score: number;
  readonly box: Numbers;
  readonly points: readonly Numbers[];
}
const GOLDEN = JSON.parse(
  readFileSync(new URL('../../../../goldens/people/pose-forms.json', import.meta.url), 'utf8'),
) as {
  readonly yolov8: {
    readonly photo: Numbers;
    readonly side: number;
    readonly output: Numbers;
    readonly people: readonly Person[];
  };
  readonly simcc: {
    readonly photo: Numbers;
    readonly size: Numbers;
    readonly boxes: readonly Numbers[];
    readonly x: Numbers;
    readonly y: Numbers;
    readonly people: readonly Person[];
  };
};

type TestNode = NonNullable<NonNullable<Parameters<typeof createTestHandler>[1]>['nodes']>[string];

const photo = ([width, height]: Numbers) => ({
  data: new Uint8Array(width! * height! * 3),
  dims: [height!, width!, 3],
});
const float = (dims: Numbers, data: ArrayLike<number>) =>
  ({ dtype: 'float32', dims, data: Float32Array.from(data) }) as const;
const input = (...dims: (number | string)[]) => [{ name: 'input', dtype: 'float32', dims }] as const;

function expectPeople(found: readonly PoseLandmarks[], people: readonly Person[], within: number): void {
  expect(found).toHaveLength(people.length);
  for (const [at, { score, box, points }] of people.entries()) {
    const { xmin, ymin, xmax, ymax } = found[at]!.box;
    const numbers = [found[at]!.score, xmin, ymin, xmax, ymax];
    for (const [place, value] of [score, ...box].entries())
      expect(Math.abs(numbers[place]! - value)).toBeLessThan(within);
    const landmarks = found[at]!.landmarks.flatMap(({ x, y, score: seen }) => [x, y, seen!]);
    for (const [place, value] of points.flat().entries())
      expect(Math.abs(landmarks[place]! - value)).toBeLessThan(within);
    expect(found[at]!.landmarks[9]!.name).toBe('leftWrist');
  }
}

const YOLO = { handler: { imageProcessing: [{ letterbox: [GOLDEN.yolov8.side, GOLDEN.yolov8.side] }, 'toTensor'] } };
const yolo = (side = GOLDEN.yolov8.side) => ({
  inputs: input(1, 3, side, side),
  outputs: { output0: float([1, 56, 15], GOLDEN.yolov8.output) },
  config: YOLO,
});

test('Ultralytics’ pose models: boxes and points in pixels of the photo, without those that overlap', async () => {
  const handler = await createTestHandler(PoseLandmarker, { nodes: { landmarks: yolo() } });
  expectPeople(await handler.predict(photo(GOLDEN.yolov8.photo)), GOLDEN.yolov8.people, 1e-3);
  const two = await handler.predict(photo(GOLDEN.yolov8.photo), { params: { maxDetections: 2 } });
  expectPeople(two, GOLDEN.yolov8.people.slice(0, 2), 1e-3);
});

test('final boxes with points: decoder rows', async () => {
  const points = Array.from({ length: 51 }, (_, at) => (at % 3 === 2 ? 0.5 : at));
  const table = [[10, 20, 30, 60, 0.9, 0, ...points], Array.from({ length: 57 }, () => 0)].flat();
  const handler = await createTestHandler(PoseLandmarker, {
    nodes: { landmarks: { ...yolo(), outputs: { output0: float([1, 2, 57], table) } } },
    config: { handler: { decoder: 'rows' } },
  });
  // 320 × 200 pixels are 64 × 40, 12 pixels from the top.
  const [found, ...others] = await handler.predict(photo([320, 200]));
  expect(others).toEqual([]);
  expect(found!.box).toEqual({ xmin: 50, ymin: 40, xmax: 150, ymax: 200 });
  expect(found!.landmarks[1]).toMatchObject({ x: 15, y: (4 - 12) * 5, score: 0.5, name: 'leftEye' });
});

/** RTMPose's stand-in: the answers of the first row for the first crop, of the second row for the second one. */
function simcc(size = GOLDEN.simcc.size) {
  const [rows, columns] = size as [number, number];
  const crops: Tensors[] = [];
  const outputs = (feeds: Tensors) => {
    crops.push(feeds);
    const count = feeds['input']!.dims[0]!;
    const part = (numbers: Numbers, bins: number) => float([count, 17, bins], numbers.slice(0, count * 17 * bins));
    return { simcc_x: part(GOLDEN.simcc.x, 96), simcc_y: part(GOLDEN.simcc.y, 128) };
  };
  return { crops, landmarks: { inputs: input('batch', 3, rows, columns), outputs } };
}
/** A detector that finds objects of these classes in the golden's boxes. */
const detect = (classes: Numbers = [0, 0], labels: readonly string[] = ['Person', 'dog']) => ({
  inputs: input(1, 3, 'height', 'width'),
  outputs: {
    boxes: float(
      [1, 2, 6],
      GOLDEN.simcc.boxes.flatMap((box, at) => [...box, 0.9 - at / 10, classes[at]!]),
    ),
  },
  config: { handler: { decoder: 'rows', labels } },
});
/** What a handler knows of the nodes. */
const WITH_DETECTOR = { nodes: { detect: 'detect/', landmarks: 'landmarks/' } };

test('SimCC: one person in each crop around a box of the detector', async () => {
  const { crops, landmarks } = simcc();
  const nodes = { detect: detect(), landmarks };
  const handler = await createTestHandler(PoseLandmarker, { nodes, config: WITH_DETECTOR });
  crops.length = 0;
  expectPeople(await handler.predict(photo(GOLDEN.simcc.photo)), GOLDEN.simcc.people, 1e-3);
  expect(crops[0]!['input']!.dims).toEqual([2, 3, 64, 48]);
});

test('SimCC without a detector: the whole photo is one person', async () => {
  const { landmarks } = simcc();
  const handler = await createTestHandler(PoseLandmarker, { nodes: { landmarks } });
  const [found, ...others] = await handler.predict(photo([48, 64]));
  expect(others).toEqual([]);
  // The crop is a quarter larger than the photo, on all sides alike.
  const { x, y } = found!.landmarks[0]!;
  const columns = GOLDEN.simcc.x.slice(0, 96);
  const rows = GOLDEN.simcc.y.slice(0, 128);
  expect(x).toBeCloseTo((columns.indexOf(Math.max(...columns)) / 96 - 0.5) * 60 + 24, 5);
  expect(y).toBeCloseTo((rows.indexOf(Math.max(...rows)) / 128 - 0.5) * 80 + 32, 5);
  await expect(handler.predict(photo([48, 64]), { params: { detectEvery: 3 } })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('params.detectEvery is without effect: there is no node "detect"'),
  });
});

test('only objects with the label person are looked at, and a detector must have it', async () => {
  const { landmarks } = simcc();
  const make = (...given: Parameters<typeof detect>) =>
    createTestHandler(PoseLandmarker, { nodes: { detect: detect(...given), landmarks }, config: WITH_DETECTOR });
  const handler = await make([1, 0]);
  expect(await handler.predict(photo(GOLDEN.simcc.photo))).toHaveLength(1);
  await expect(make([1, 0], ['cat', 'dog'])).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('must have the label "person", but its labels are cat, dog'),
  });
});

test('BlazePose: heat maps that are no probabilities are refused', async () => {
  const blazePose = (heat: number) => {
    // Cancels the middle's number: the sum of the weights is 0.
    const heatmap = new Float32Array(64 * 64 * 39);
    heatmap.fill(heat, 0, 39);
    heatmap.fill(-heat, 39, 78);
    return {
      inputs: [{ name: 'input', dtype: 'float32', dims: [1, 64, 64, 3] }] as const,
      outputs: {
        ld_3d: float([1, 195], new Float32Array(195)),
        output_poseflag: float([1, 1], [0.9]),
        activation_heatmap: float([1, 64, 64, 39], heatmap),
      },
      config: { handler: { imageProcessing: ['toTensor', { layout: 'NHWC' }] } },
    };
  };
  const nodes = (heat: number) => ({
    detect: {
      inputs: [{ name: 'input', dtype: 'float32', dims: [1, 8, 8, 3] }] as const,
      outputs: { objects: float([1, 1, 9], [3, 0, 0, 2, 2, 0, 0, 0, -2]) },
      config: { handler: { anchors: { grids: [1], perCell: [1] }, points: ['hips', 'edge'] } },
    },
    landmarks: blazePose(heat),
  });
  const handler = await createTestHandler(PoseLandmarker, { nodes: nodes(0), config: WITH_DETECTOR });
  expect(await handler.predict(photo([80, 80]))).toHaveLength(1);
  const wrong = await createTestHandler(PoseLandmarker, { nodes: nodes(4), config: WITH_DETECTOR });
  await expect(wrong.predict(photo([80, 80]))).rejects.toMatchObject({
    code: 'inference-failed',
    message: expect.stringContaining('needs probabilities, in 0..1, but the model returned numbers from -4 to 4'),
  });
});

test('Ultralytics’ pose models: a file whose kpt_shape does not fit the output and the names is refused', async () => {
  const open = async (metadata: Record<string, string>) => {
    const { keyPoints, names } = new UltralyticsExport(metadata);
    const output = { name: 'output0', dtype: 'float32', dims: [1, 56, 8400] } as const;
    const facts = { outputs: [output], output, size: undefined, labels: undefined };
    const rest = { json: () => Promise.reject(new Error()), warn: () => {} };
    return await yoloPoseForm('yolov8', { ...facts, ...rest }, keyPoints ?? [17, 3], labelCount(names));
  };
  const names = "{0: 'person'}";
  await open({ names, kpt_shape: '[17, 3]' });
  await open({ kpt_shape: '[17, 3]' });
  await open({ names });
  for (const kpt_shape of ['[17, 2]', '[16, 3]', '[1, 3]', '[1000000000, 3]', '[25, 2]'])
    await expect(open({ names, kpt_shape }), kpt_shape).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(", boxes], by names and kpt_shape in the model's file; the node"),
    });
  await expect(open({ names: "{0: 'cat', 1: 'dog'}" })).rejects.toThrow(
    'needs [rows, 4 + 2 + 17 · 3, boxes], by names',
  );
  // Numbers that say nothing.
  for (const kpt_shape of ['[0, 3]', '[-1, 3]', '[16.5, 2]', '[17, 4]', '17', 'x'])
    expect(new UltralyticsExport({ kpt_shape }).keyPoints, kpt_shape).toBeUndefined();
});

test('a sequence of a model that sees the whole photo: ids stay, and landmarks are smoothed', async () => {
  let step = 0;
  // Two people of MoveNet's MultiPose walk through each other.
  const outputs = () => {
    const person = (x: number) => [
      ...Array.from({ length: 17 }, (_, at) => [0.2 + at / 40, x + (at % 5) / 50, 0.9]).flat(),
      0.2,
      x,
      0.6,
      x + 0.1,
      0.9,
    ];
    step++;
    const rows = [person(0.1 + step / 40), person(0.8 - step / 40)];
    return { output: float([1, 2, 56], (step % 2 ? rows : rows.toReversed()).flat()) };
  };
  const landmarks = { inputs: input(1, 3, 64, 64), outputs, config: YOLO };
  const handler = await createTestHandler(PoseLandmarker, { nodes: { landmarks } });
  step = 0;
  const sequence = handler.openSequence();
  const places = new Map<number, number[]>();
  for (let frame = 0; frame < 12; frame++)
    for (const { id, box } of await sequence.predict(photo([64, 64])))
      places.set(id!, [...(places.get(id!) ?? []), box.xmin]);
  expect([...places.keys()]).toEqual([1, 2]);
  for (const [, xs] of places) {
    const steps = xs.slice(1).map((x, at) => x - xs[at]!);
    expect(xs).toHaveLength(12);
    expect(new Set(steps.map(Math.sign)).size).toBe(1);
  }
});

test('a sequence: whoever is in the answer has an id, of a low score, too', async () => {
  // The second one appears later.
  let frame = -1;
  const person = (x: number, score: number) => [
    ...Array.from({ length: 17 }, (_, at) => [0.2 + at / 40, x + (at % 5) / 50, score]).flat(),
    0.2,
    x,
    0.6,
    x + 0.1,
    score,
  ];
  const outputs = () => {
    frame++;
    return { output: float([1, 2, 56], [...person(0.1 + frame / 200, 0.27), ...person(0.6, frame > 1 ? 0.26 : 0)]) };
  };
  const landmarks = { inputs: input(1, 3, 64, 64), outputs, config: YOLO };
  const handler = await createTestHandler(PoseLandmarker, { nodes: { landmarks } });
  frame = -1;
  const sequence = handler.openSequence();
  const ids: (number | undefined)[][] = [];
  for (let at = 0; at < 5; at++) ids.push((await sequence.predict(photo([64, 64]))).map(({ id }) => id));
  expect(ids).toEqual([[1], [1], [1, undefined], [1, 2], [1, 2]]);
});

test('SimCC and heat maps: outputs that hold no points, or no places, are refused', async () => {
  const answer = async (outputs: Tensors, dims: Numbers) => {
    const landmarks = { inputs: input('batch', 3, ...dims), outputs };
    const handler = await createTestHandler(PoseLandmarker, { nodes: { landmarks } });
    return await handler.predict(photo([48, 64]));
  };
  const wrong = { code: 'model-config', message: expect.stringContaining('pose_landmarker needs') };
  for (const [points, across, down] of [
    [0, 96, 128],
    [17, 0, 0],
  ] as const) {
    const part = (bins: number) => float([1, points, bins], new Float32Array(points * bins));
    await expect(answer({ simcc_x: part(across), simcc_y: part(down) }, [64, 48])).rejects.toMatchObject(wrong);
  }
  for (const dims of [
    [1, 17, 1, 1],
    [1, 17, 1, 12],
    [1, 0, 16, 12],
  ]) {
    const size = dims.reduce((product, one) => product * one);
    const heatmaps = float(dims, new Float32Array(size).fill(0.9));
    await expect(answer({ heatmaps }, [64, 48]), String(dims)).rejects.toMatchObject(wrong);
  }
});

test('a model that does not fit its form, keys without effect, and numbers that are none', async () => {
  const make = (landmarks: TestNode, handler: Record<string, unknown> = {}, more = {}) =>
    createTestHandler(PoseLandmarker, { nodes: { landmarks }, config: { handler, ...more } });
  const fails = async (message: string, ...given: Parameters<typeof make>) =>
    await expect(make(...given)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(message),
    });
  const other = { ...yolo(), outputs: { output0: float([1, 7], new Float32Array(7)) } };
  await fails('does not know a model by the outputs of the node "landmarks", "output0" [?, 7]', other);
  await fails('for movenet, pose_landmarker needs [1, 1, 17, 3] or [1, people, 56]', other, { decoder: 'movenet' });
  await fails('for yolov8, pose_landmarker needs [rows, 4 + classes + 17 · 3, boxes]', other, { decoder: 'yolov8' });
  await fails('for heatmaps, pose_landmarker needs [rows, points, height, width]', yolo(), { decoder: 'heatmaps' });
  await fails('handler.detectEvery is without effect', yolo(), { detectEvery: 2 });
  await fails('handler.outputs is without effect', yolo(), { decoder: 'yolov8', outputs: { landmarks: 'output0' } });
  await fails('nodes.detect is without effect', yolo(), {}, WITH_DETECTOR);
  const broken = await make({ ...yolo(), outputs: { output0: float([1, 1, 17, 3], new Float32Array(51).fill(NaN)) } });
  await expect(broken.predict(photo([8, 8]))).rejects.toMatchObject({ code: 'inference-failed' });
});
