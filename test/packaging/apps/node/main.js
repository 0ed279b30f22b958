import { load } from 'tabserve';
import { createTestContext, ImageClassifier } from 'tabserve/worker';

if (typeof load !== 'function') throw new Error('load is missing');

// Every entry can be imported where there is no browser.
const engines = [
  'onnx-wasm',
  'onnx-webgl',
  'onnx-webgpu',
  'onnx-webnn',
  'tfjs-webgpu',
  'tfjs-webgl',
  'tfjs-wasm',
  'tfjs-cpu',
];
for (const entry of [
  'core',
  'worker/core',
  ...engines.map((name) => `engines/${name}`),
  'standalone',
  'standalone/worker',
])
  if (Object.keys(await import(`tabserve/${entry}`)).length === 0) throw new Error(`tabserve/${entry} exports nothing`);

/** In the place of a model: its logits are the means of the three channels. */
const session = {
  inputs: [{ name: 'pixels', dtype: 'float32', dims: ['batch', 3, 1, 1] }],
  outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch', 3] }],
  run: async ({ pixels }) => ({ logits: { dtype: 'float32', dims: [pixels.dims[0], 3], data: pixels.data } }),
  [Symbol.asyncDispose ?? Symbol.for('asyncDispose')]: async () => {},
};

const context = createTestContext({
  session,
  files: { 'index_to_name.json': '["zero", "one", "two"]' },
  config: { handler: { imageProcessing: ['toTensor'] } },
});
const handler = new ImageClassifier();
await handler.initialize(context);
const [answer] = await handler.handle(
  [{ data: Float32Array.of(0, 1, 2), dims: [3, 1, 1] }],
  createTestContext({ session }),
);
console.log(JSON.stringify(answer));
