import { expect, test } from '@playwright/test';
import { createContext, ImageClassifier, type Session } from 'tabserve/worker';

test('the likelier class comes first', async () => {
  const session: Session = {
    inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 3, 4, 4] }],
    outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch', 2] }],
    run: async () => ({ logits: { dtype: 'float32', dims: [1, 2], data: Float32Array.of(1, 3) } }),
    [Symbol.asyncDispose]: async () => {},
  };
  const context = createContext({ session, config: { handler: { imageProcessing: ['toTensor'], labels: ['cat', 'dog'] } } });
  const classifier = new ImageClassifier();
  await classifier.initialize(context);
  const [result] = await classifier.handle([{ data: new Uint8Array(4 * 4 * 3), dims: [4, 4, 3] }], context);
  expect(Object.keys(result!)).toEqual(['dog', 'cat']);
});
