import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { Load, MOST, PRESETS, STEP } from '../../demo/serving/load.ts';

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
      expect(load.multiple).toBeLessThanOrEqual(MOST);
      const steps = load.multiple / STEP;
      expect(Math.abs(steps - Math.round(steps))).toBeLessThan(1e-9);
    }),
  );
});
