import { expect, test } from '@playwright/test';
import { describeTime, describeValue, shorten } from '../../../src/contract/describe-value.ts';

test('a message shows at most 80 characters of a value', () => {
  expect(shorten('x'.repeat(80))).toBe('x'.repeat(80));
  expect(shorten('x'.repeat(81))).toBe(`${'x'.repeat(77)}…`);
  expect(describeValue(Array.from({ length: 100 }, () => 1))).toHaveLength(78);
});

test('values of all kinds', () => {
  const circle: unknown[] = [];
  circle.push(circle);
  expect(
    [1, 'a', null, undefined, NaN, 3n, () => 1, { a: [1] }, new Map(), new Blob([]), circle].map(describeValue),
  ).toEqual(['1', '"a"', 'null', 'undefined', 'NaN', '3n', 'a function', '{"a":[1]}', 'a Map', 'a Blob', 'a list']);
});

test('times: two digits below ten milliseconds, then whole ones', () => {
  expect([0.12345, 9.4, 9.6, 1234.5].map(describeTime)).toEqual(['0.12 ms', '9.4 ms', '10 ms', '1235 ms']);
});
