import { expect, test } from '@playwright/test';
import { memoryOf } from '../../../src/shared/memory.ts';

const MB = 1e6;

/** The peaks while models open that `npm run published` and the benchmark have measured. */
const MEASURED = [
  { handler: 'text_generator', peak: 1181, files: [{ precision: 'fp32', bytes: 539 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 514, files: [{ precision: 'q8', bytes: 137 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 1129, files: [{ precision: 'fp16', bytes: 270 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 607, files: [{ precision: 'q4', bytes: 181 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_feature_extractor', peak: 281, files: [{ precision: 'fp32', bytes: 90 * MB, path: 'model.onnx' }] },
  {
    handler: 'speech_to_text',
    peak: 578,
    files: [
      { precision: 'fp32', bytes: 33 * MB, path: 'onnx/encoder_model.onnx' },
      { precision: 'fp32', bytes: 118 * MB, path: 'onnx/decoder_model_merged.onnx' },
    ],
  },
  {
    handler: 'speech_to_text',
    peak: 923,
    files: [
      { precision: 'fp32', bytes: 82 * MB, path: 'onnx/encoder_model.onnx' },
      { precision: 'fp32', bytes: 209 * MB, path: 'onnx/decoder_model_merged.onnx' },
    ],
  },
] as const;

test('the memory of published models is within a quarter of what was measured', () => {
  for (const { handler, peak, files } of MEASURED) {
    const ratio = memoryOf({ name: 'wasm' }, files, handler)! / (peak * MB);
    expect(ratio, JSON.stringify(files)).toBeGreaterThan(0.75);
    expect(ratio, JSON.stringify(files)).toBeLessThan(1.25);
  }
});
