// Points of heat maps against transformers: `test/goldens/people/dark.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { darkPoint } from '../../../../../src/worker/tasks/people/dark.ts';

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly cases: readonly {
    readonly map: readonly number[];
    readonly x: number;
    readonly y: number;
    readonly score: number;
  }[];
}
const { width, height, cases } = JSON.parse(
  readFileSync(new URL('../../../../goldens/people/dark.json', import.meta.url), 'utf8'),
) as Golden;

for (const [index, { map, x, y, score }] of cases.entries())
  test(`heat map ${index}: a point at ${x.toFixed(2)}, ${y.toFixed(2)}, as in transformers`, () => {
    const found = darkPoint(Float32Array.from(map), width, height);
    expect(found.score).toBeCloseTo(score, 6);
    expect(found.x).toBeCloseTo(x, 6);
    expect(found.y).toBeCloseTo(y, 6);
  });

test('a map without any signal has a point of score 0, and not one that is no number', () => {
  expect(darkPoint(new Float32Array(width * height), width, height)).toEqual({ x: 0, y: 0, score: 0 });
});
