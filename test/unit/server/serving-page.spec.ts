import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { isSettled, rateOf } from '../../../demo/serving/capacity.ts';
import { Load, MAX_MULTIPLE, PRESETS, STEP } from '../../../demo/serving/load.ts';

test('a preset is the same number of requests until the capacity is forgotten', () => {
  const load = new Load();
  expect([load.capacity, load.rate]).toEqual([undefined, 0]);
  load.measured(100);
  expect(load.rate).toBe(50);
  load.set(PRESETS.Overload);
  expect(load.rate).toBe(300);
  // What is answered under another load, or with other settings, is no new capacity.
  load.measured(40);
  expect([load.capacity, load.rate]).toEqual([100, 300]);
  load.forget();
  expect(load.rate).toBe(0);
  load.measured(40);
  expect([load.multiple, load.rate]).toEqual([3, 120]);
});

test('the load is a step of the slider, whatever the address says', () => {
  fc.assert(
    fc.property(fc.oneof(fc.double(), fc.string().map(Number)), (multiple) => {
      const load = new Load();
      load.set(multiple);
      expect(load.multiple).toBeGreaterThanOrEqual(0);
      expect(load.multiple).toBeLessThanOrEqual(MAX_MULTIPLE);
      const steps = load.multiple / STEP;
      expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-9);
    }),
  );
});

test('the capacity is measured until it no longer grows', () => {
  expect([[], [9], [9, 9]].map(isSettled)).toEqual([false, false, false]);
  expect(isSettled([20, 60, 100])).toBe(false);
  expect(isSettled([20, 60, 100, 105])).toBe(false);
  expect(isSettled([20, 60, 100, 105, 90])).toBe(true);
  expect(isSettled([100, 50, 40])).toBe(true);
  // Two batches of four in 40 ms, after the one that started the clock.
  expect(rateOf([0, 0, 0, 0, 20, 20, 20, 20, 40, 40, 40, 40])).toBe(200);
});
