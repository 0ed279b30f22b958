/** The worked example of CONTRIBUTING.md. */
import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../src/worker.ts';
import { AgeEstimator } from '../../../types/age-estimator.ts';

test('AgeEstimator: the age in years, or in months', async () => {
  const handler = await createTestHandler(AgeEstimator, { outputs: { age: [[20], [30.5]] } });
  const photo = { data: new Uint8Array(8 * 8 * 3), dims: [8, 8, 3] };
  expect(await handler.handle([photo, photo])).toEqual([20, 30.5]);
  expect(await handler.handle([photo, photo], { params: { unit: 'months' } })).toEqual([240, 366]);
});
