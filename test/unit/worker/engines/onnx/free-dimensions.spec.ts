import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { TensorInfo } from '../../../../../src/contract/tensors.ts';
import { checkFixed, checkNames, fixDimensions } from '../../../../../src/worker/engines/onnx/free-dimensions.ts';
import { readSignature } from '../../../../../src/worker/engines/onnx/signature.ts';

const image: TensorInfo = { name: 'image', dtype: 'float32', dims: ['batch', 3, 'height', 'width'] };
const sizes = (freeDimensions: Record<string, number>) => ({ freeDimensions });
const ALL = { batch: 1, height: 224, width: 224 };

test('names that no input has: an error while a dimension is free, with what was probably meant', () => {
  for (const [given, message] of [
    [
      { ...ALL, batch: undefined, bacth: 1 },
      /no input of m\.onnx has a dimension "bacth"\. Did you mean "batch"\? .*"batch", "height", "width"/,
    ],
    [{ Batch: 1, height: 224, width: 224 }, /"Batch"\. Did you mean "batch"\?/],
    [{ batch: 1, sequence_length: 7 }, /"sequence_length"\. Its free dimensions are/],
  ] as const)
    expect(() => checkNames([image], JSON.parse(JSON.stringify(sizes(given as never))), 'm.onnx')).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringMatching(message) }),
    );
});

test('names that fit, and those of another model of the archive, are no error', () => {
  expect(() => checkNames([image], sizes(ALL), 'm.onnx')).not.toThrow();
  expect(() => checkNames([image], sizes({ batch: 1 }), 'm.onnx')).not.toThrow();
  expect(() => checkNames([image], sizes({ ...ALL, tokens: 7 }), 'm.onnx')).not.toThrow();
  expect(() => checkNames([{ ...image, dims: [1, 3, 8, 8] }], sizes(ALL), 'm.onnx')).not.toThrow();
  expect(() => checkNames([image], {}, 'm.onnx')).not.toThrow();
  expect(() => checkNames([image], sizes({ toString: 1 }), 'm.onnx')).toThrow(/"toString"/);
});

test('what WebNN cannot run: the error names the dimensions, and what to write', () => {
  const failure = (inputs: readonly TensorInfo[], given: Record<string, number>) => {
    try {
      checkFixed('webnn', inputs, sizes(given), 'm.onnx');
    } catch (error) {
      return error as Error;
    }
    return undefined;
  };
  expect(failure([image], ALL)).toBeUndefined();
  expect(failure([image], { height: 64, width: 64 })).toMatchObject({
    code: 'backend-failed',
    message:
      'WebNN needs fixed dimensions, and m.onnx has free ones: "image" is float32 [batch, 3, 64, 64]. ' +
      'Fix them in the config, each at the size that the inputs have: engine: { freeDimensions: { "height": 64, "width": 64, "batch": 1 } }.',
  });
  expect(failure([{ ...image, dims: [null, 4] }], {})).toMatchObject({
    code: 'backend-failed',
    message: expect.stringMatching(/"image" is float32 \[\?, 4\]\. A dimension without a name cannot be fixed/),
  });
});

test("ONNX Runtime's WebGL ignores freeDimensions: only dimensions that the file fixes are fixed", () => {
  expect(() => checkFixed('webgl', [{ ...image, dims: [1, 3, 8, 8] }], sizes(ALL), 'm.onnx')).not.toThrow();
  expect(() => checkFixed('webgl', [image], sizes(ALL), 'm.onnx')).toThrow(
    expect.objectContaining({
      code: 'backend-failed',
      message:
        'ONNX Runtime\'s WebGL needs fixed dimensions, and m.onnx has free ones: "image" is float32 [batch, 3, height, width]. ' +
        'It ignores engine.freeDimensions: export the model with fixed dimensions.',
    }),
  );
});

test('the symbols of a file are those that its inputs have', () => {
  const { inputs, outputs } = readSignature(readFileSync('test/models/tiny_classifier_batch.onnx'));
  const [symbol] = inputs[0]!.dims;
  expect(typeof symbol).toBe('string');
  const options = sizes({ [symbol as string]: 3 });
  expect(fixDimensions(inputs, options)[0]!.dims[0]).toBe(3);
  expect(fixDimensions(outputs, options)[0]!.dims[0]).toBe(3);
  expect(() => checkNames(inputs, sizes({ [`${symbol as string}_`]: 3 }), 'm.onnx')).toThrow(`"${symbol as string}"`);
});
