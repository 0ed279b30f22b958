// The regions that MediaPipe cuts out, from what its detectors find (test/goldens/people/answers.py).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { mergeOverlapping } from '../../../../../src/worker/tasks/people/key-points.ts';
import {
  boxOfRegion,
  regionOfBox,
  regionOfCircle,
  regionOfPoints,
  toPhoto,
  turnOf,
  type Point,
} from '../../../../../src/worker/tasks/people/region.ts';
import type { Region } from '../../../../../src/contract/images.ts';

type Numbers = readonly number[];
interface Detection {
  readonly box: Numbers;
  readonly points: readonly Numbers[];
}
const casesOf = <T>(name: string): readonly T[] =>
  (
    JSON.parse(readFileSync(new URL(`../../../../goldens/people/${name}.json`, import.meta.url), 'utf8')) as {
      cases: readonly T[];
    }
  ).cases;
const boxOf = ([xmin, ymin, xmax, ymax]: Numbers) => ({ xmin: xmin!, ymin: ymin!, xmax: xmax!, ymax: ymax! });
const pointOf = ([x, y]: Numbers): Point => ({ x: x!, y: y! });
/** The goldens are rounded to a thousandth of a pixel. */
const expectRegion = (found: Region, rect: Numbers): void => {
  for (const [at, value] of [found.x, found.y, found.width, found.height].entries())
    expect(Math.abs(value - rect[at]!)).toBeLessThan(0.05);
  expect(Math.cos(found.angle - rect[4]!)).toBeGreaterThan(1 - 1e-6);
};

test('the region of a face is turned so that the eyes are level', () => {
  let count = 0;
  for (const { detections, faces } of casesOf<{ detections: Detection[]; faces: { rect: Numbers }[] }>('faces'))
    for (const [at, { rect }] of faces.entries()) {
      const { box, points } = detections[at]!;
      expectRegion(regionOfBox(boxOf(box), turnOf(pointOf(points[0]!), pointOf(points[1]!), 0), { scale: 1.5 }), rect);
      count++;
    }
  expect(count).toBeGreaterThan(10);
});

test('the region of a palm is turned so that the middle finger points upwards, and reaches to its tip', () => {
  let count = 0;
  for (const { full } of casesOf<{ full: { palms: Detection[]; rects: Numbers[] } }>('hands'))
    for (const [at, rect] of full.rects.entries()) {
      const { box, points } = full.palms[at]!;
      const angle = turnOf(pointOf(points[0]!), pointOf(points[2]!), Math.PI / 2);
      expectRegion(regionOfBox(boxOf(box), angle, { scale: 2.6, shift: -0.5 }), rect);
      count++;
    }
  expect(count).toBeGreaterThan(5);
});

test('the region of a person is the circle around the hips', () => {
  for (const { detection, rect } of casesOf<{ detection?: Detection; rect: Numbers }>('poses')) {
    if (!detection) continue;
    const [hips, edge] = detection.points.map(pointOf) as [Point, Point];
    expectRegion(regionOfCircle(hips, edge, turnOf(hips, edge, Math.PI / 2), { scale: 1.25 }), rect);
  }
});

test('the region of points is the smallest turned square around them', () => {
  const angle = 0.6;
  const region = { x: 50, y: 40, width: 20, height: 20, angle };
  const corners = [0, 1].flatMap((x) => [0, 1].map((y) => toPhoto({ x, y, z: 0.5 }, region)));
  const found = regionOfPoints(corners, angle, { scale: 1 });
  expect(found.x).toBeCloseTo(50, 9);
  expect(found.y).toBeCloseTo(40, 9);
  expect(found.width).toBeCloseTo(20, 9);
  expect(corners.every(({ z }) => z === 10)).toBe(true);
  const { xmin, xmax } = boxOfRegion(region);
  expect(xmax - xmin).toBeCloseTo(20 * (Math.cos(angle) + Math.sin(angle)), 9);
});

test('boxes that overlap become their mean, weighted by the scores', () => {
  const one = (score: number, xmin: number) => ({
    score,
    box: { xmin, ymin: 0, xmax: xmin + 10, ymax: 10 },
    landmarks: [{ x: xmin, y: 5, name: 'nose' }],
  });
  const found = mergeOverlapping([one(0.2, 2), one(0.6, 0), one(0.5, 100)], 0.3, 10);
  expect(found.map(({ score, box }) => [score, box.xmin])).toEqual([
    [0.6, expect.closeTo(0.5, 9)],
    [0.5, 100],
  ]);
  expect(found[0]!.landmarks).toEqual([{ x: expect.closeTo(0.5, 9), y: expect.closeTo(5, 9), name: 'nose' }]);
  expect(mergeOverlapping([one(0.2, 2), one(0.5, 100)], 0.3, 1)).toHaveLength(1);
});
