import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { HAND_CONNECTIONS, paintLandmarks, POSE_CONNECTIONS } from '../../../../src/page/results/landmarks.ts';

type Pairs = readonly (readonly [number, number])[];
const expected = JSON.parse(
  readFileSync(new URL('../../../goldens/people/connections.json', import.meta.url), 'utf8'),
) as { readonly hands: Pairs; readonly poses: Pairs };
const sorted = (pairs: Pairs): readonly string[] =>
  pairs.map((pair) => pair.toSorted((a, b) => a - b).join()).toSorted();

test('the points that are connected are those that MediaPipe connects', () => {
  expect(sorted(HAND_CONNECTIONS)).toEqual(sorted(expected.hands));
  expect(sorted(POSE_CONNECTIONS)).toEqual(sorted(expected.poses));
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
