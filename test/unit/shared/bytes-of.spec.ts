import { expect, test } from '@playwright/test';
import { bytesOf } from '../../../src/shared/bytes-of.ts';

test('the bytes of plain data: texts, buffers once and as a whole, eight for each entry', () => {
  expect(bytesOf('abc')).toBe(6);
  expect(bytesOf({ a: 'abc', b: 1 })).toBe(8 + 6 + 8);
  const floats = new Float32Array(100);
  expect(bytesOf([floats, floats.subarray(2, 3)])).toBe(8 + 400 + 8);
});

test('more than the limit is infinite, as is what is no plain data', () => {
  expect(bytesOf(['aaa', 'bbb'], 28)).toBe(28);
  expect(bytesOf(['aaa', 'bbb'], 27)).toBe(Infinity);
  expect(bytesOf([[['aaa', 'bbb']]], 27)).toBe(Infinity);
  for (const value of [() => 1, Symbol('one'), new Map(), [[[[[[1]]]]]]]) expect(bytesOf(value)).toBe(Infinity);
});
