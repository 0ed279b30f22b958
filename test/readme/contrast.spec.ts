import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { Contrast } from './contrast.worker.js';

test('the pixel on which the answer depends is the hottest', async () => {
  const handler = await createTestHandler(Contrast, {
    outputs: ({ image }) => {
      const pixels = image!.data as Float32Array; // [rows, 3, 2, 2]
      return { logits: Array.from({ length: image!.dims[0]! }, (_, row) => [4 * pixels[row * 12]!, 0]) };
    },
  });
  const white = { data: new Uint8Array(2 * 2 * 3).fill(255), dims: [2, 2, 3] };
  const { heat, high } = await handler.explain(white, { params: { window: 1 } });
  expect(heat[0]).toBe(high);
});
