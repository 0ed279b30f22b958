import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { readSignature } from '../../src/engines/onnx/signature.ts';

const read = (name: string): Uint8Array => readFileSync(new URL(`../models/${name}.onnx`, import.meta.url));

test('inputs and outputs as the file declares them', () => {
  expect(readSignature(read('affine'))).toEqual({
    inputs: [{ name: 'x', dtype: 'float32', dims: ['N', 4] }],
    outputs: [{ name: 'y', dtype: 'float32', dims: ['N', 3] }],
  });
  expect(readSignature(read('dtypes')).inputs.map(({ dtype }) => dtype)).toEqual([
    'float32',
    'int32',
    'int64',
    'uint8',
    'bool',
  ]);
  expect(readSignature(read('slow')).inputs).toContainEqual({ name: 'rounds', dtype: 'int64', dims: [] });
});

test('damage is found, wherever the file is cut', () => {
  const model = read('tiny_classifier');
  for (let length = 0; length < model.length; length += 13)
    expect(() => readSignature(model.subarray(0, length)), `${length} bytes`).toThrow(
      expect.objectContaining({ code: 'model-format' }),
    );
  for (const name of ['truncated', 'garbage', 'empty', 'not_a_model', 'no_graph'])
    expect(() => readSignature(read(name)), name).toThrow(expect.objectContaining({ code: 'model-format' }));
});
