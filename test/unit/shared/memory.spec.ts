import { expect, test } from '@playwright/test';
import { memoryOf } from '../../../src/shared/memory.ts';

const MB = 1e6;

/** The peaks while models open that `npm run published` and the benchmark have measured. */
const MEASURED = [
  { handler: 'text_generator', peak: 1102, files: [{ precision: 'fp32', bytes: 539 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 562, files: [{ precision: 'q8', bytes: 137 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 1106, files: [{ precision: 'fp16', bytes: 270 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_generator', peak: 575, files: [{ precision: 'q4', bytes: 181 * MB, path: 'onnx/model.onnx' }] },
  { handler: 'text_feature_extractor', peak: 311, files: [{ precision: 'fp32', bytes: 90 * MB, path: 'model.onnx' }] },
  {
    handler: 'speech_to_text',
    peak: 580,
    files: [
      { precision: 'fp32', bytes: 33 * MB, path: 'onnx/encoder_model.onnx' },
      { precision: 'fp32', bytes: 118 * MB, path: 'onnx/decoder_model_merged.onnx' },
    ],
  },
  {
    handler: 'speech_to_text',
    peak: 780,
    files: [
      { precision: 'fp32', bytes: 82 * MB, path: 'onnx/encoder_model.onnx' },
      { precision: 'fp32', bytes: 209 * MB, path: 'onnx/decoder_model_merged.onnx' },
    ],
  },
  {
    handler: 'speech_to_text',
    peak: 347,
    files: [
      { precision: 'q8', bytes: 10 * MB, path: 'onnx/encoder_model_quantized.onnx' },
      { precision: 'q8', bytes: 30 * MB, path: 'onnx/decoder_model_merged_quantized.onnx' },
    ],
  },
  {
    handler: 'speech_to_text',
    peak: 425,
    files: [
      { precision: 'q8', bytes: 23 * MB, path: 'onnx/encoder_model_quantized.onnx' },
      { precision: 'q8', bytes: 53 * MB, path: 'onnx/decoder_model_merged_quantized.onnx' },
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
