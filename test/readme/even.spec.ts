import { expect, test } from '@playwright/test';
import { createTestContext, type Session } from 'tabserve/worker';
import { EvenOrOdd } from './even.worker.js';

test('the likelier digit decides', async () => {
  const session: Session = {
    inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }],
    outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch', 2] }],
    run: async () => ({ logits: { dtype: 'float32', dims: [1, 2], data: Float32Array.of(1, 3) } }),
    [Symbol.asyncDispose]: async () => {},
  };
  const context = createTestContext({
    session,
    config: { handler: { imageProcessing: ['toTensor'], labels: ['three', 'four'] } },
  });
  const handler = new EvenOrOdd();
  await handler.initialize(context);
  expect(await handler.handle([{ data: new Uint8Array(4 * 4 * 3), dims: [4, 4, 3] }], context)).toEqual(['even']);
});
