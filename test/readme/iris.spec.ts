import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { IrisHandler } from './iris.worker.js';

test('the likeliest species, for each row', async () => {
  const outputs = {
    logits: [
      [0, 2],
      [3, 0],
    ],
  };
  const handler = await createTestHandler(IrisHandler, { outputs, labels: ['setosa', 'virginica'] });
  const [first, second] = await handler.handle([
    { length: 5.1, width: 1.8 },
    { length: 1.4, width: 0.2 },
  ]);
  expect(first).toEqual({ species: 'virginica', score: expect.closeTo(0.881, 3) }); // e² / (e² + 1)
  expect(second).toEqual({ species: 'setosa', score: expect.closeTo(0.953, 3) });
});
