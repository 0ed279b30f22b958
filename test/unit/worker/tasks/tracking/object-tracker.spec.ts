import { expect, test } from '@playwright/test';
import { createTestHandler } from '../../../../../src/worker/host/testing.ts';
import { ObjectTracker } from '../../../../../src/worker/tasks/tracking/object-tracker.ts';

/** A tracker whose detector finds one person of this score in each photo. */
async function trackerOf(score: number, handler: Readonly<Record<string, unknown>> = {}) {
  return await createTestHandler(ObjectTracker, {
    nodes: {
      detect: {
        inputs: [{ name: 'images', dtype: 'float32', dims: [1, 3, 64, 64] }],
        outputs: { output: { dtype: 'float32', dims: [1, 1, 6], data: Float32Array.of(8, 8, 40, 56, score, 0) } },
        config: {
          handler: {
            decoder: 'rows',
            labels: ['person'],
            imageProcessing: [{ letterbox: [64, 64] }, 'toTensor'],
          },
        },
      },
    },
    config: { handler },
  });
}
const photo = { data: new Uint8Array(64 * 64 * 3), dims: [64, 64, 3] };

test('a track begins with a score 0.1 above trackThreshold', async () => {
  for (const [score, trackThreshold, begins] of [
    [0.5, 0.4, true],
    [0.45, 0.4, false],
    [1, 0.9, true],
  ] as const) {
    const tracker = await trackerOf(score, { trackThreshold });
    expect(await tracker.predict(photo), `${score} ${trackThreshold}`).toHaveLength(begins ? 1 : 0);
  }
});

test('a trackThreshold with which no track can begin is refused, in the config and in params', async () => {
  const message = expect.stringContaining('trackThreshold');
  await expect(trackerOf(1, { trackThreshold: 0.91 })).rejects.toMatchObject({ code: 'model-config', message });
  const tracker = await trackerOf(1);
  await expect(tracker.predict(photo, { params: { trackThreshold: 0.91 } })).rejects.toMatchObject({
    code: 'invalid-input',
    message,
  });
});
