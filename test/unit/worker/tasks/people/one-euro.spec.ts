import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { oneEuro, type OneEuroState } from '../../../../../src/worker/tasks/people/one-euro.ts';

interface Case {
  readonly size: number;
  readonly minCutoff: number;
  readonly beta: number;
  readonly speedCutoff: number;
  readonly frames: readonly { readonly time: number; readonly value: number; readonly smoothed: number }[];
}
const { cases } = JSON.parse(
  readFileSync(new URL('../../../../goldens/people/one-euro.json', import.meta.url), 'utf8'),
) as { readonly cases: readonly Case[] };

test("oneEuro smooths as its authors' filter does", () => {
  for (const { size, frames, ...options } of cases) {
    let state: OneEuroState | undefined;
    let last = 0;
    for (const { time, value, smoothed } of frames) {
      state = oneEuro(state, [value, 7], time - last, size, options);
      last = time;
      expect(state.values[0]).toBeCloseTo(smoothed, 6);
      // What does not move stays.
      expect(state.values[1]).toBe(7);
    }
  }
});
