// Faces, hands and bodies with stand-ins for the models. Against MediaPipe: test/node/people.spec.ts.
import { expect, test } from '@playwright/test';
import { FaceDetector } from '../../../../../src/worker/tasks/people/face-detector.ts';
import { FaceLandmarker, type FoundLandmarks } from '../../../../../src/worker/tasks/people/face-landmarker.ts';
import { HandLandmarker } from '../../../../../src/worker/tasks/people/hand-landmarker.ts';
import { createTestHandler } from '../../../../../src/worker/host/testing.ts';
import type { Tensors } from '../../../../../src/contract/tensors.ts';

const photo = (width: number, height = width) => ({
  data: new Uint8Array(width * height * 3),
  dims: [height, width, 3],
});
const input = (side: number) => [{ name: 'input', dtype: 'float32', dims: [1, side, side, 3] }] as const;
const float = (dims: readonly number[], data: ArrayLike<number>) =>
  ({ dtype: 'float32', dims, data: Float32Array.from(data) }) as const;

/** A detector of 1 × 1 cells with one anchor, at the middle of 8 × 8 pixels, and two points. */
const SMALL = { anchors: { grids: [1], perCell: [1] }, points: ['rightEye', 'leftEye'] };
const UNIT_NHWC = { handler: { imageProcessing: ['toTensor', { layout: 'NHWC' }] } };
const detector = (logit: number) => ({
  inputs: input(8),
  outputs: { objects: float([1, 1, 9], [logit, 0, 0, 2, 2, -1, 0, 1, 0]) },
  config: { handler: SMALL },
});

test('face_detector: box and points in pixels of the photo, also beyond its edge', async () => {
  const handler = await createTestHandler(FaceDetector, detector(2));
  // The photo lies in the middle of a square of 80 pixels.
  const [found] = await handler.predict(photo(80, 20));
  expect(found!.score).toBeCloseTo(1 / (1 + Math.exp(-2)), 6);
  expect(found!.box).toEqual({ xmin: 30, ymin: 0, xmax: 50, ymax: 20 });
  expect(found!.landmarks).toEqual([
    { x: 30, y: 10, name: 'rightEye' },
    { x: 50, y: 10, name: 'leftEye' },
  ]);
  expect(await handler.predict(photo(16), { params: { scoreThreshold: 0.99 } })).toEqual([]);
  expect(await handler.handle([photo(16), new Blob(['no image']) as never])).toMatchObject([
    [{}],
    { code: 'image-decode' },
  ]);
});

test('face_detector: a box whose width or height is 0 or less is none', async () => {
  for (const size of [
    [-2, -2],
    [2, -2],
    [0, 2],
  ]) {
    const objects = float([1, 1, 9], [2, 0, 0, ...size, -1, 0, 1, 0]);
    const handler = await createTestHandler(FaceDetector, { ...detector(2), outputs: { objects } });
    expect(await handler.predict(photo(80))).toEqual([]);
  }
});

test('face_detector: a config that does not fit the model, and numbers that are none', async () => {
  const wrong = (handler: Record<string, unknown>) =>
    createTestHandler(FaceDetector, { ...detector(2), config: { handler } });
  await expect(wrong({ ...SMALL, points: ['nose'] })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('[rows, 1, 7], but "objects" has the dims'),
  });
  await expect(wrong({ ...SMALL, anchors: { grids: [1, 2], perCell: [1] } })).rejects.toThrow('grids has 2 items');
  const broken = await createTestHandler(FaceDetector, detector(Number.NaN));
  await expect(broken.predict(photo(8))).rejects.toMatchObject({ code: 'inference-failed' });
});

/** A workflow whose detector finds a face in the middle as long as `there` is set, and whose mesh fills its region. */
async function landmarker(there: { face: boolean }) {
  const ran = { detector: 0, landmarks: 0 };
  let jitter = 1;
  const mesh = (feeds: Tensors) => {
    ran.landmarks++;
    jitter = -jitter;
    const rows = feeds['input']!.dims[0]!;
    // Two thirds of the region, in its middle, with level eyes: the next region is the same.
    const place = (step: number) => 10 / 6 + (step % 3) * (10 / 3);
    const point = (at: number) => [
      place(at) + 0.01 * jitter,
      at === 33 || at === 263 ? 5 : place(Math.floor(at / 3)),
      1,
    ];
    const points = Array.from({ length: rows * 468 }, (_, at) => point(at % 468));
    return {
      output_mesh: float([rows, 1404], points.flat()),
      output_faceflag: float(
        [rows, 1],
        Array.from({ length: rows }, () => (there.face ? 0.9 : 0.1)),
      ),
    };
  };
  const handler = await createTestHandler(FaceLandmarker, {
    nodes: {
      detect: {
        inputs: input(8),
        outputs: (feeds: Tensors) => {
          ran.detector++;
          const rows = feeds['input']!.dims[0]!;
          const row = [there.face ? 3 : -3, 0, 0, 2, 2, -1, 0, 1, 0];
          return { objects: float([rows, 1, 9], Array.from({ length: rows }, () => row).flat()) };
        },
        config: { handler: SMALL },
      },
      landmarks: {
        inputs: input(10),
        outputs: mesh,
        config: UNIT_NHWC,
      },
    },
  });
  Object.assign(ran, { detector: 0, landmarks: 0 });
  return { handler, ran };
}

test('face_landmarker: the landmarks in pixels of the photo, z in the same unit', async () => {
  const { handler } = await landmarker({ face: true });
  const [found] = await handler.predict(photo(80));
  // The region is 30 pixels wide around the middle: a tenth of it for each of the model's pixels.
  expect(found!.landmarks).toHaveLength(468);
  expect(found!.landmarks[0]!.x).toBeCloseTo(40 - 10, 0);
  expect(found!.landmarks[0]!.z).toBeCloseTo(3, 5);
  expect(found!.score).toBeCloseTo(0.9, 5);
  expect('id' in found!).toBe(false);
});

test('face_landmarker: nobody there, and photos of one pixel', async () => {
  const { handler, ran } = await landmarker({ face: false });
  expect(await handler.handle([photo(80), photo(1)])).toEqual([[], []]);
  expect(ran.landmarks).toBe(0);
});

test('a sequence: the detector runs at first, every detectEvery frames, and when nobody is left', async () => {
  const there = { face: true };
  const { handler, ran } = await landmarker(there);
  const sequence = handler.openSequence();
  const detections: number[] = [];
  const ids: (number | undefined)[] = [];
  for (let frame = 0; frame < 7; frame++) {
    const [found] = await sequence.predict(photo(80), { params: { detectEvery: 3 } });
    detections.push(ran.detector);
    ids.push(found?.id);
  }
  expect(detections).toEqual([1, 1, 1, 2, 2, 2, 3]);
  expect(ids).toEqual([1, 1, 1, 1, 1, 1, 1]);
  there.face = false;
  expect(await sequence.predict(photo(80))).toEqual([]);
  expect(await sequence.predict(photo(80))).toEqual([]);
  there.face = true;
  // The id stays with a face that was away for two frames.
  const back = [await sequence.predict(photo(80)), await sequence.predict(photo(80))];
  expect(back.map(([found]) => found!.id)).toEqual([1, 1]);
  // Another size: it is detected anew, with an id that nobody had before.
  const before = ran.detector;
  const anew = [
    await sequence.predict(photo(60)),
    await sequence.predict(photo(80)),
    await sequence.predict(photo(80)),
  ];
  expect(ran.detector).toBe(before + 2);
  expect(anew.map(([found]) => found!.id)).toEqual([2, 3, 3]);
});

test('a sequence: points that are all at one place say nowhere to look', async () => {
  let detected = 0;
  const handler = await createTestHandler(FaceLandmarker, {
    nodes: {
      detect: {
        ...detector(3),
        outputs: () => {
          detected++;
          return detector(3).outputs;
        },
      },
      landmarks: {
        inputs: input(10),
        outputs: { output_mesh: float([1, 1404], new Float32Array(1404)), output_faceflag: float([1, 1], [1]) },
        config: UNIT_NHWC,
      },
    },
  });
  detected = 0;
  const sequence = handler.openSequence();
  for (let frame = 1; frame <= 3; frame++) {
    expect(await sequence.predict(photo(80))).toMatchObject([{ score: 1 }]);
    expect(detected).toBe(frame);
  }
});

test('a sequence: landmarks are smoothed, unless smoothing is off', async () => {
  const spread = async (smoothing: boolean): Promise<number> => {
    const { handler } = await landmarker({ face: true });
    const sequence = handler.openSequence();
    const xs: number[] = [];
    for (let frame = 0; frame < 12; frame++) {
      const [found] = await sequence.predict(photo(80), { params: { smoothing, detectEvery: 1 } });
      xs.push(found!.landmarks[0]!.x);
    }
    return Math.abs(xs[11]! - xs[10]!);
  };
  expect(await spread(true)).toBeLessThan((await spread(false)) / 1.2);
});

test('hand_landmarker: scores that float16 has rounded are in 0..1', async () => {
  const outputs = {
    'Identity:0': float([1, 63], new Float32Array(63)),
    'Identity_1:0': float([1, 1], [1.0005]),
    'Identity_2:0': float([1, 1], [-0.0005]),
  };
  const points = ['wrist', 'index', 'middle', 'ring', 'little', 'thumb', 'thumbTip'];
  const row = [3, 0, 0, 2, 2, ...points.flatMap((_, at) => [at, at])];
  const hands = await createTestHandler(HandLandmarker, {
    nodes: {
      detect: {
        inputs: input(8),
        outputs: { objects: float([1, 1, 19], row) },
        config: { handler: { ...SMALL, points } },
      },
      landmarks: { inputs: input(10), outputs, config: UNIT_NHWC },
    },
  });
  expect(await hands.predict(photo(80))).toMatchObject([{ score: 1, handedness: 'left', handednessScore: 1 }]);
});

test('a sequence: the box is the smallest one around the smoothed landmarks', async () => {
  const { handler } = await landmarker({ face: true });
  const sequence = handler.openSequence();
  for (let frame = 0; frame < 4; frame++) {
    const [{ box, landmarks }] = (await sequence.predict(photo(80))) as [FoundLandmarks];
    const [xs, ys] = [landmarks.map(({ x }) => x), landmarks.map(({ y }) => y)];
    expect([box.xmin, box.xmax]).toEqual([Math.min(...xs), Math.max(...xs)]);
    expect([box.ymin, box.ymax]).toEqual([Math.min(...ys), Math.max(...ys)]);
  }
});

test('a node with other points or outputs is refused', async () => {
  const { nodes } = {
    nodes: {
      detect: detector(3),
      landmarks: { inputs: input(10), outputs: { output: float([1, 63], new Float32Array(63)) }, config: UNIT_NHWC },
    },
  };
  await expect(createTestHandler(FaceLandmarker, { nodes })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('has no output "output_mesh"; it has "output"'),
  });
  const oblong = { ...nodes.landmarks, inputs: [{ name: 'input', dtype: 'float32', dims: [1, 10, 20, 3] }] as const };
  await expect(createTestHandler(FaceLandmarker, { nodes: { ...nodes, landmarks: oblong } })).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining(
      'must take square images of one size, but its input "input" has the dims [1, 10, 20, 3]',
    ),
  });
  const outputs = {
    points: float([1, 63], new Float32Array(63)),
    there: float([1, 1], [1]),
    right: float([1, 1], [0.2]),
  };
  const names = { landmarks: 'points', presence: 'there', handedness: 'right' };
  const hands = await createTestHandler(HandLandmarker, {
    nodes: { detect: detector(3), landmarks: { inputs: input(10), outputs, config: UNIT_NHWC } },
    config: { handler: { outputs: names } },
  });
  // Handedness would be the same number as the score.
  await expect(
    createTestHandler(HandLandmarker, {
      nodes: { detect: detector(3), landmarks: { inputs: input(10), outputs, config: UNIT_NHWC } },
      config: { handler: { outputs: { ...names, handedness: 'there' } } },
    }),
  ).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining('"there" has two roles') });
  await expect(hands.predict(photo(80))).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('must find 7 key points, not 2'),
  });
});
