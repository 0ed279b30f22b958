import { expect, test } from '@playwright/test';
import { divide } from '../../../../../src/worker/tasks/pictures/tiles.ts';

for (const [length, tile, overlap] of [
  [100, 32, 4],
  [64, 32, 8],
  [33, 32, 4],
  [1000, 64, 16],
] as const)
  test(`an axis of ${length} pixels in tiles of ${tile}: each pixel once, ${overlap} or more from where a tile ends`, () => {
    const spans = divide(length, tile, overlap);
    expect(spans[0]!.from).toBe(0);
    expect(spans.at(-1)!.to).toBe(length);
    for (const [at, { start, from, to }] of spans.entries()) {
      if (at > 0) expect(from).toBe(spans[at - 1]!.to);
      expect(start).toBeGreaterThanOrEqual(0);
      expect(start + tile).toBeLessThanOrEqual(length);
      if (start > 0) expect(from - start).toBeGreaterThanOrEqual(overlap);
      if (start + tile < length) expect(start + tile - to).toBe(overlap);
    }
  });

test('an axis that is not longer than a tile has one', () => {
  expect(divide(32, 32, 4)).toEqual([{ start: 0, from: 0, to: 32 }]);
  expect(divide(7, 32, 4)).toEqual([{ start: 0, from: 0, to: 7 }]);
});
