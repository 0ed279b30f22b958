// Faces and hands, from the file to the answer, against MediaPipe's Python package (test/goldens/people/answers.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import sharp from 'sharp';
import type { FaceLandmarks, HandLandmarks, PoseLandmarks } from '../../src/index.ts';
import type { TypedArrayInput } from '../../src/contract/tensors.ts';
import { readPoints } from '../../src/worker/outputs/people/points.ts';
import { cropRegion } from '../../src/worker/transforms/crop-region.ts';

const root = new URL('../../', import.meta.url);
const { load } = (await import(new URL('dist/node.js', root).href)) as typeof import('../../src/node.ts');

type Corners = readonly [xmin: number, ymin: number, xmax: number, ymax: number];
type Point = readonly [x: number, y: number, z?: number];
interface Case {
  readonly photo: string;
  /** Counterclockwise, in degrees. */
  readonly turn: number;
}
interface Detected {
  readonly score: number;
  readonly box: Corners;
  readonly points: readonly Point[];
}
interface FaceCase extends Case {
  readonly detections: readonly Detected[];
  readonly faces: readonly { readonly landmarks: readonly Point[] }[];
}
interface HandCase extends Case {
  readonly lite: {
    /** Center, size and turn of the regions that MediaPipe has cut out. */
    readonly rects: readonly (readonly [x: number, y: number, width: number, height: number, angle: number])[];
    readonly hands: readonly { readonly landmarks: readonly Point[]; readonly handedness: string }[];
  };
}
interface PoseCase extends Case {
  readonly pose: { readonly landmarks: readonly Point[]; readonly visibility: readonly number[] } | null;
}

const casesOf = <T>(name: string): readonly T[] =>
  (JSON.parse(readFileSync(new URL(`test/goldens/people/${name}.json`, root), 'utf8')) as { cases: readonly T[] }).cases;

async function photoOf({ photo, turn }: Case): Promise<TypedArrayInput & { readonly data: Uint8Array }> {
  const { data, info } = await sharp(readFileSync(new URL(photo, root)))
    .rotate(-turn)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data: new Uint8Array(data), dims: [info.height, info.width, 3] };
}

const archive = (folder: string): URL => new URL(`public/models/${folder}/`, root);

function iou(a: Corners, b: Corners): number {
  const width = Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0]));
  const height = Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  const area = ([left, top, right, bottom]: Corners): number => (right - left) * (bottom - top);
  return (width * height) / (area(a) + area(b) - width * height);
}

const cornersOf = ({ xmin, ymin, xmax, ymax }: FaceLandmarks['box']): Corners => [xmin, ymin, xmax, ymax];

function boxAround(points: readonly Point[]): Corners {
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

/** The distances from where MediaPipe has the points, in fractions of the box's diagonal, the smallest first. */
function distances(found: readonly { x: number; y: number }[], expected: readonly Point[]): readonly number[] {
  const [left, top, right, bottom] = boxAround(expected);
  const diagonal = Math.hypot(right - left, bottom - top);
  expect(found).toHaveLength(expected.length);
  return expected.map(([x, y], at) => Math.hypot(found[at]!.x - x, found[at]!.y - y) / diagonal).toSorted((a, b) => a - b);
}

/** Of those that were found, the one that overlaps most. */
function nearest<T extends { readonly box: FaceLandmarks['box'] }>(found: readonly T[], box: Corners): T {
  return found.toSorted((a, b) => iou(cornersOf(b.box), box) - iou(cornersOf(a.box), box))[0]!;
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
    const { data, dims } = await photoOf(hand);
    const [height, width] = dims as [number, number];
    const photo = { format: 'RGB', width, height, stride: width * 3, data } as const;
    for (const [at, { landmarks }] of hand.lite.hands.entries()) {
      // Where MediaPipe has dropped a region, it does not say which.
      if (hand.lite.hands.length < hand.lite.rects.length) continue;
      const [x, y, columns, rows, angle] = hand.lite.rects[at]!;
      const region = { x, y, width: columns, height: rows, angle };
      const crop = await cropRegion(photo, region, { columns: 224, rows: 224 });
      const outputs = await client.predict({ data: new Uint8Array(crop.data), dims: [224, 224, 3] });
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
  for (const hand of casesOf<HandCase>('hands')) {
    const found: readonly HandLandmarks[] = await client.predict(await photoOf(hand));
    for (const { landmarks, handedness } of hand.lite.hands) {
      const one = nearest(found, boxAround(landmarks));
      if (!one) console.log('MISS', hand.photo);
      const away = distances(one.landmarks, landmarks);
      console.log(hand.photo, away[10], away.at(-1));
      // MediaPipe takes photos for mirrored.
      expect(one.handedness, hand.photo).toBe(handedness === 'left' ? 'right' : 'left');
    }
  }
});

test("pose_landmarker: MediaPipe's person, though its model is the full one and this is the lite one", async () => {
  await using client = await load<'pose_landmarker'>(archive('pose'));
  for (const one of casesOf<PoseCase>('poses')) {
    const found: readonly PoseLandmarks[] = await client.predict(await photoOf(one));
    console.log(one.photo, one.turn, found.length, found.map(({ score }) => score));
    if (!one.pose || !found.length) continue;
    const seen = one.pose.landmarks.flatMap((point, at) => (one.pose!.visibility[at]! > 0.8 ? [[point, at] as const] : []));
    const person = nearest(found, boxAround(one.pose.landmarks));
    const away = distances(seen.map(([, at]) => person.landmarks[at]!), seen.map(([point]) => point));
    console.log('   ', seen.length, away[away.length >> 1], away.at(-1));
  }
});
