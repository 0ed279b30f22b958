import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { SteadyClassifier } from './steady.worker.js';

test('one wrong frame does not change the answer', async () => {
  const handler = await createTestHandler(SteadyClassifier, {
    outputs: ({ image }) => ({ logits: [Number(image!.data[0]) > 0.5 ? [9, 0] : [0, 9]] }),
    labels: ['three', 'four'],
  });
  const white = { data: new Uint8Array(28 * 28 * 3).fill(255), dims: [28, 28, 3] };
  const black = { data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] };
  const sequence = handler.openSequence();
  for (const frame of [black, white, black]) expect((await sequence.predict(frame))[0]?.label).toBe('four');
  expect((await handler.predict(white))[0]?.label).toBe('three');
});
