import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { HousePrice } from './house.worker.js';

test('a photo and two numbers are fed by the names of the inputs', async () => {
  const handler = await createTestHandler(HousePrice, {
    inputs: [
      { name: 'photo', dtype: 'float32', dims: ['batch', 3, 32, 32] },
      { name: 'facts', dtype: 'float32', dims: ['batch', 2] },
    ],
    outputs: ({ facts }) => ({ price: Array.from({ length: facts!.dims[0]! }, (_, row) => [300 + row]) }),
  });
  const photo = { data: new Uint8Array(40 * 30 * 3).fill(255), dims: [30, 40, 3] };
  expect(await handler.predict({ photo, rooms: 3, area: 80 })).toBe(300);
  expect([...(handler.runs[0]!['facts']!.data as Float32Array)].map((value) => value.toFixed(2))).toEqual([
    '3.00',
    '0.80',
  ]);
  const rows = await handler.handle([
    { photo, rooms: 3, area: 80 },
    { photo, rooms: 1, area: 20 },
  ]);
  expect(rows).toEqual([300, 301]);
});
