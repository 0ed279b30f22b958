import { expect, test } from '@playwright/test';
import { GrowingBytes } from '../../../src/shared/growing-bytes.ts';

test('GrowingBytes: chunks in their order, in a buffer of their size; empty after it is taken', () => {
  const bytes = new GrowingBytes();
  expect(bytes.take()).toEqual(new Uint8Array());
  bytes.append(Uint8Array.of(1, 2, 3));
  bytes.append(new Uint8Array());
  bytes.append(Uint8Array.of(0, 4, 5).subarray(1));
  expect(bytes.length).toBe(5);
  const taken = bytes.take();
  expect([...taken]).toEqual([1, 2, 3, 4, 5]);
  expect(taken.buffer.byteLength).toBe(5);
  expect(bytes.length).toBe(0);
  bytes.append(Uint8Array.of(6));
  expect([...bytes.take()]).toEqual([6]);
  expect([...taken], 'what was taken is not written to').toEqual([1, 2, 3, 4, 5]);
});

test('GrowingBytes: a million chunks of one byte', () => {
  const bytes = new GrowingBytes();
  for (let at = 0; at < 1_000_000; at++) bytes.append(Uint8Array.of(at % 251));
  const taken = bytes.take();
  expect(taken.length).toBe(1_000_000);
  expect(taken.findIndex((value, at) => value !== at % 251)).toBe(-1);
});
