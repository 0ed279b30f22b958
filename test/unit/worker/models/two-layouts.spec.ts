import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { compareOutputs } from '../../../../src/worker/host/compare-outputs.ts';
import { tfjsCpu } from '../../../../src/worker/engines/tfjs-cpu.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';
import { readGolden } from '../../../../src/worker/models/golden.ts';

const read = (path: string) =>
  new Uint8Array(readFileSync(new URL(`../../../models/two-layouts/${path}`, import.meta.url)));

test('the TensorFlow.js model of the pair takes NHWC, and answers as ONNX Runtime in Python does', async () => {
  const engine = await tfjsCpu({ assets: undefined, threads: 1, onLost: () => {} });
  const files = ['tfjs/model.json', 'tfjs/model.1of1.bin'].map((path) => [path, read(path)] as const);
  const session = await engine.open(createFiles(Object.fromEntries(files)), 'tfjs/model.json', {});
  expect(session.inputs).toEqual([{ name: 'pixels', dtype: 'float32', dims: [1, 8, 8, 3] }]);
  const { inputs, outputs } = readGolden(read('tfjs/golden.safetensors'), 'golden.safetensors');
  const { error, wrong } = compareOutputs(await session.run(inputs), outputs);
  expect(wrong).toBeUndefined();
  expect(error).toBeLessThan(1e-5);
});
