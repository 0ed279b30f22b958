import { expect, test } from '@playwright/test';
import { whyTooCostly } from '../../../src/shared/json-cost.ts';

test('a JSON text has at most 1000 levels, 20,000 keys and 300,000 lists and objects', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  expect(whyTooCostly(nested(1000))).toBeUndefined();
  expect(whyTooCostly(nested(1001))).toBe('more than 1000 levels');
  const keys = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"k${at}":1`).join()}}`;
  expect(whyTooCostly(keys(20_000))).toBeUndefined();
  expect(whyTooCostly(keys(20_001))).toBe('more than 20000 keys');
  const lists = (count: number): string => `[${'[],'.repeat(count - 1)}0]`;
  expect(whyTooCostly(lists(300_000))).toBeUndefined();
  expect(whyTooCostly(lists(300_001))).toBe('more than 300000 lists and objects');
});

test('what a text quotes does not count', () => {
  expect(whyTooCostly(JSON.stringify(`"${'[{:'.repeat(400_000)}\\`))).toBeUndefined();
});
