import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { EvenOrOdd } from './even.worker.js';

test('the likelier digit decides', async () => {
  const handler = await createTestHandler(EvenOrOdd, { outputs: { logits: [[1, 3]] }, labels: ['three', 'four'] });
  expect(await handler.predict({ data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] })).toBe('even');
});
