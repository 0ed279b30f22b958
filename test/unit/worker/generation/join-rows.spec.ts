import { expect, test } from '@playwright/test';
import type { DecoderInterface } from '../../../../src/worker/generation/decoder-interface.ts';
import { joinRows, type RowOfCache } from '../../../../src/worker/generation/join-rows.ts';
import { KeyValueCache } from '../../../../src/worker/generation/key-value-cache.ts';

const PAST = { name: 'past', dtype: 'float32', dims: ['batch', 2, 'past', 1] } as const;
const MODEL = {
  cache: [{ past: PAST, present: 'present', rowAxis: 0, tokenAxis: 2, isOfEncoder: false }],
} as unknown as DecoderInterface;

/** A cache of rows with two heads, whose numbers say where they are: 100 × head + position, negative in the second row. */
function cacheOf(rows: number, length: number): KeyValueCache {
  const data = Float32Array.from({ length: rows * 2 * length }, (_, at) => {
    const [row, head, position] = [Math.floor(at / (2 * length)), Math.floor(at / length) % 2, at % length];
    return (100 * head + position + 1) * (row === 0 ? 1 : -1);
  });
  return new KeyValueCache(length, { past: { dtype: 'float32', dims: [rows, 2, length, 1], data } });
}

const ROWS: readonly RowOfCache[] = [
  { cache: cacheOf(1, 3), row: 0, start: 0, length: 3 },
  // The second row of another cache, whose first position is padding.
  { cache: cacheOf(2, 3), row: 1, start: 1, length: 2 },
];

test('shorter rows are padded on their left', async () => {
  const { length, tensors } = await joinRows(ROWS, 'left', MODEL);
  expect(length).toBe(3);
  expect(tensors['past']!.dims).toEqual([2, 2, 3, 1]);
  expect([...(tensors['past']!.data as Float32Array)]).toEqual([1, 2, 3, 101, 102, 103, 0, -2, -3, 0, -102, -103]);
});

test('shorter rows are padded on their right', async () => {
  const { tensors } = await joinRows(ROWS, 'right', MODEL);
  expect([...(tensors['past']!.data as Float32Array)]).toEqual([1, 2, 3, 101, 102, 103, -2, -3, 0, -102, -103, 0]);
});
