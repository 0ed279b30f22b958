import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { SureClassifier } from './sure.worker.js';

test('a request says how sure the answer must be', async () => {
  const handler = await createTestHandler(SureClassifier, { outputs: { logits: [[0, 1]] }, labels: ['three', 'four'] });
  const photo = { data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] };
  const score = 1 / (1 + Math.exp(-1)); // 0.73
  expect(await handler.predict(photo)).toEqual({ label: 'four', score: expect.closeTo(score) });
  expect(await handler.predict(photo, { params: { sureFrom: 0.9 } })).toBeNull();
});
