import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import {
  COCO_CONNECTIONS,
  FACE_CONNECTIONS,
  HAND_CONNECTIONS,
  POSE_CONNECTIONS,
} from '../../../../src/page/results/connections.ts';
import { paintLandmarks } from '../../../../src/page/results/landmarks.ts';
import { FACE_LANDMARKS } from '../../../../src/shared/face-points.ts';
import { COCO_LANDMARKS } from '../../../../src/worker/tasks/people/names.ts';

type Pairs = readonly (readonly [number, number])[];
const expected = JSON.parse(
  readFileSync(new URL('../../../goldens/people/connections.json', import.meta.url), 'utf8'),
) as {
  readonly hands: Pairs;
  readonly poses: Pairs;
  readonly faces: Pairs;
  readonly faceParts: Readonly<Record<string, readonly number[]>>;
};
const sorted = (pairs: Pairs): readonly string[] =>
  pairs.map((pair) => pair.toSorted((a, b) => a - b).join()).toSorted();

test('the points that are connected are those that MediaPipe connects', () => {
  expect(sorted(HAND_CONNECTIONS)).toEqual(sorted(expected.hands));
  expect(sorted(POSE_CONNECTIONS)).toEqual(sorted(expected.poses));
  expect(sorted(FACE_CONNECTIONS)).toEqual(sorted(expected.faces));
});

test("the named points of a face lie in MediaPipe's parts of that name", () => {
  const { faceParts } = expected;
  const partOf = (name: string): string =>
    /^(left|right)Eye/.exec(name)?.[0] ??
    /^(left|right)Brow/.exec(name)?.[0] ??
    (/mouth|Lip/.test(name) ? 'lips' : name === 'noseTip' ? 'nose' : 'oval');
  for (const [name, point] of Object.entries(FACE_LANDMARKS)) expect(faceParts[partOf(name)], name).toContain(point);
});

test("COCO's points are connected to those beside them, each side with its own", () => {
  const names = COCO_CONNECTIONS.map((pair) => pair.map((at) => COCO_LANDMARKS[at]!));
  expect(new Set(COCO_CONNECTIONS.flat()).size).toBe(COCO_LANDMARKS.length);
  const crossing = names.filter(([from, to]) => from!.startsWith('left') !== to!.startsWith('left'));
  expect(crossing.map((pair) => pair.join(' ')).toSorted()).toEqual(
    ['leftEye rightEye', 'leftShoulder rightShoulder', 'nose leftEye', 'rightHip leftHip'].toSorted(),
  );
});

test('paintLandmarks draws lines and points, without those that are hidden', () => {
  const drawn: string[] = [];
  const record =
    (name: string) =>
    (...numbers: unknown[]): void =>
      void drawn.push([name, ...numbers.slice(0, 3)].join(' '));
  const canvas = {
    lineWidth: 2,
    beginPath: () => {},
    moveTo: record('from'),
    lineTo: record('to'),
    stroke: () => {},
    arc: record('point'),
    fill: () => {},
  };
  const landmarks = [
    { x: 1, y: 2 },
    { x: 3, y: 4, score: 0.9 },
    { x: 5, y: 6, score: 0.4 },
  ];
  const connections = [
    [0, 1],
    [1, 2],
    [1, 9],
  ] as const;
  paintLandmarks(canvas, [{ landmarks }], connections);
  expect(drawn).toEqual(['from 1 2', 'to 3 4', 'point 1 2 2', 'point 3 4 2']);
});
