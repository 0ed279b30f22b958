import { expect, test } from '@playwright/test';
import { createTestHandler } from 'tabserve/worker';
import { FaceDetector } from './faces.worker.js';

test('of two boxes on one face the better stays, in pixels of the photo', async () => {
  const faces = [
    [4, 2, 4, 4, 0.9],
    [4, 2, 4, 5, 0.8],
    [0, 0, 2, 2, 0.1],
  ];
  const handler = await createTestHandler(FaceDetector, {
    outputs: { faces: [faces] },
    labels: ['face'],
    config: { handler: { imageProcessing: [{ resize: [10, 10] }, 'toTensor'] } },
  });
  const photo = { data: new Uint8Array(20 * 40 * 3), dims: [20, 40, 3] };
  expect(await handler.predict(photo)).toEqual([
    { label: 'face', score: expect.closeTo(0.9), box: { xmin: 16, ymin: 4, xmax: 32, ymax: 12 } },
  ]);
});
