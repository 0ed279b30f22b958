// Against test/goldens/people/head_pose.py, on the landmarks that MediaPipe has recorded of photos.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { faceMeasures, headPose, type FaceMeasures } from '../../../../src/page/results/face-measures.ts';
import { FACE_LANDMARKS } from '../../../../src/shared/face-points.ts';

type Point = readonly [x: number, y: number, z: number];
const read = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../../goldens/people/${name}.json`, import.meta.url), 'utf8')) as T;
const { cases: FACES } = read<{
  cases: readonly { photo: string; turn: number; faces: readonly { landmarks: readonly Point[] }[] }[];
}>('faces');
const { cases: HEADS } = read<{ cases: readonly { photo: string; heads: readonly Point[] }[] }>('head-pose');

const faceOf = (points: readonly Point[]) => ({ landmarks: points.map(([x, y, z]) => ({ x, y, z })) });
const facesOf = (photo: string) =>
  FACES.find((one) => one.photo === photo && one.turn === 0)!.faces.map(({ landmarks }) => faceOf(landmarks));
const [ASTRONAUT, HOPPER] = ['astronaut', 'grace-hopper'].map(
  (name) => facesOf(`public/models/selfie/samples/${name}.jpg`)[0]!,
);

test("headPose: within 5° of the rotation that fits MediaPipe's canonical face model best", () => {
  let count = 0;
  for (const { photo, heads } of HEADS)
    for (const [at, [yaw, pitch, roll]] of heads.entries()) {
      const found = headPose(facesOf(photo)[at]!);
      expect(Math.abs(found.yaw - yaw), photo).toBeLessThan(5);
      expect(Math.abs(found.pitch - pitch), photo).toBeLessThan(5);
      expect(Math.abs(found.roll - roll), photo).toBeLessThan(5);
      count++;
    }
  expect(count).toBe(14);
});

test('headPose: a head that is turned by an angle around one axis', () => {
  const start = headPose(HOPPER!);
  const turned = (of: (point: Point) => Point) =>
    headPose(faceOf(HOPPER!.landmarks.map(({ x, y, z }) => of([x, y, z]))));
  const [cos, sin] = [Math.cos(0.3), Math.sin(0.3)];
  const clockwise = turned(([x, y, z]) => [cos * x - sin * y, sin * x + cos * y, z]);
  expect(clockwise.roll - start.roll).toBeCloseTo((0.3 * 180) / Math.PI, 6);
  expect(clockwise.yaw).toBeCloseTo(start.yaw, 6);
  // What is on the photo's right, the person's left, goes away from the camera.
  const left = turned(([x, y, z]) => [cos * x - sin * z, y, sin * x + cos * z]);
  expect(left.yaw - start.yaw).toBeCloseTo((0.3 * 180) / Math.PI, 0);
  // What is above goes away from the camera: the head looks up.
  const up = turned(([x, y, z]) => [x, cos * y + sin * z, -sin * y + cos * z]);
  expect(up.pitch - start.pitch).toBeCloseTo((0.3 * 180) / Math.PI, 0);
});

test('faceMeasures: she smiles, she hardly does; all in 0..1, whatever the size and the turn of the head', () => {
  const [smiling, calm] = [faceMeasures(ASTRONAUT!), faceMeasures(HOPPER!)];
  expect(smiling.smile).toBeGreaterThan(0.7);
  expect(calm.smile).toBeLessThan(0.2);
  expect(smiling.mouthOpen).toBeGreaterThan(calm.mouthOpen + 0.1);
  expect(calm.eyeOpenLeft).toBeGreaterThan(0.5);
  for (const { photo, turn, faces } of FACES)
    for (const { landmarks } of faces)
      for (const [name, value] of Object.entries(faceMeasures(faceOf(landmarks)))) {
        expect(value, `${photo} ${turn} ${name}`).toBeGreaterThanOrEqual(0);
        expect(value, `${photo} ${turn} ${name}`).toBeLessThanOrEqual(1);
      }
  const [cos, sin] = [Math.cos(2), Math.sin(2)];
  const other = faceMeasures({
    landmarks: HOPPER!.landmarks.map(({ x, y, z }) => ({
      x: 3 * (cos * x - sin * y),
      y: 3 * (sin * x + cos * y),
      z: 3 * z,
    })),
  });
  for (const [name, value] of Object.entries(other)) expect(value).toBeCloseTo(calm[name as keyof FaceMeasures], 6);
});

test('faceMeasures: a point that moves changes its own measure', () => {
  const moved = (names: readonly (keyof typeof FACE_LANDMARKS)[], x: number, y: number): FaceMeasures => {
    const places = new Set<number>(names.map((name) => FACE_LANDMARKS[name]));
    const landmarks = HOPPER!.landmarks.map((point, at) =>
      places.has(at) ? { ...point, x: point.x + x, y: point.y + y } : point,
    );
    return faceMeasures({ landmarks });
  };
  const calm = faceMeasures(HOPPER!);
  expect(moved(['lowerLip'], 0, 30).mouthOpen).toBeGreaterThan(calm.mouthOpen + 0.4);
  expect(moved(['mouthLeft', 'mouthRight'], 0, 12).frown).toBeGreaterThan(calm.frown + 0.4);
  expect(moved(['mouthLeft', 'mouthRight'], 0, -8).smile).toBeGreaterThan(calm.smile + 0.2);
  expect(moved(['mouthLeft', 'mouthRight'], 20, 0)).toMatchObject({ mouthRight: 0 });
  expect(moved(['mouthLeft', 'mouthRight'], 20, 0).mouthLeft).toBeGreaterThan(0.4);
  expect(moved(['mouthLeft'], -30, 0).pucker).toBeGreaterThan(calm.pucker + 0.3);
  expect(() => faceMeasures({ landmarks: [] })).toThrow('faceMeasures needs the 468 landmarks of a face, not 0.');
});

test('headPose and faceMeasures: points that are no face are refused, and what is closed is 0', () => {
  const moved = (names: readonly (keyof typeof FACE_LANDMARKS)[], place: { x: number; y: number; z: number }) => {
    const places = new Set<number>(names.map((name) => FACE_LANDMARKS[name]));
    return { landmarks: HOPPER!.landmarks.map((point, at) => (places.has(at) ? place : point)) };
  };
  const origin = { x: 0, y: 0, z: 0 };
  for (const measure of [headPose, faceMeasures]) {
    const line = 'the outer corners of its eyes, its forehead and its chin are on one line';
    expect(() => measure({ landmarks: HOPPER!.landmarks.map(() => origin) })).toThrow(line);
    expect(() =>
      measure({ landmarks: HOPPER!.landmarks.map((_, at) => ({ x: at / 3, y: at / 7, z: at / 11 })) }),
    ).toThrow(line);
    expect(() => measure(moved(['forehead', 'chin'], HOPPER!.landmarks[FACE_LANDMARKS.noseTip]!))).toThrow(line);
    for (const bad of [Number.NaN, Infinity])
      expect(() => measure(moved(['upperLip'], { x: bad, y: 1, z: 2 }))).toThrow(`landmark 13 is at ${bad}, 1, 2`);
  }
  const shut = faceMeasures(moved(['mouthLeft', 'mouthRight', 'upperLip', 'lowerLip'], origin));
  expect(shut).toMatchObject({ mouthOpen: 0, pucker: 1 });
});
