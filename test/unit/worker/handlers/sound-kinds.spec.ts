// What the features are is compared with Python's in `test/browser/coverage.spec.ts`, by the models that hear them.
import { expect, test } from '@playwright/test';
import { KINDS } from '../../../../src/worker/handlers/sound-kinds.ts';

const BASE = { conv_kernel: [10, 3, 3, 3, 3, 2, 2], conv_stride: [5, 2, 2, 2, 2, 2, 2] };
const VECTOR = { architectures: ['TinyForXVector'], tdnn_kernel: [5, 3, 3, 1, 1], tdnn_dilation: [1, 2, 3, 1, 1] };

const kind = (name: string, extractor: object = {}, config: object = {}) =>
  KINDS[name]!(extractor as never, { sampleRate: 16_000, config: config as never, warn: () => {} });

test('an x-vector needs as many frames as its layers see together, and one more', () => {
  expect(kind('Wav2Vec2FeatureExtractor', {}, BASE).leastSamples).toBe(400);
  // 4 · 1 + 2 · 2 + 2 · 3 + 1 frames more.
  expect(kind('Wav2Vec2FeatureExtractor', {}, { ...BASE, ...VECTOR }).leastSamples).toBe(400 + 15 * 320);
  expect(kind('SeamlessM4TFeatureExtractor').leastSamples).toBe(400 + 160);
  expect(kind('SeamlessM4TFeatureExtractor', {}, VECTOR).leastSamples).toBe(400 + 160 + 15 * 320);
});

test('frames in pairs: one that is left over is padding', () => {
  const { of } = kind('SeamlessM4TFeatureExtractor', { num_mel_bins: 4, padding_value: 7 });
  const sound = Float32Array.from({ length: 400 + 4 * 160 }, (_, at) => Math.sin(at * at));
  const even = of(sound.subarray(0, 400 + 3 * 160));
  expect([even.dims, even.count]).toEqual([[2, 8], 2]);
  const odd = of(sound);
  expect([odd.dims, odd.count]).toEqual([[3, 8], 2]);
  expect(odd.data.slice(-4)).toEqual(Float32Array.of(7, 7, 7, 7));
});

for (const [name, extractor, message] of [
  ['SeamlessM4TFeatureExtractor', { stride: 3 }, 'stride is 3'],
  ['SeamlessM4TFeatureExtractor', { num_mel_bins: 0 }, 'num_mel_bins is 0'],
  ['ParakeetFeatureExtractor', { feature_size: '80' }, 'feature_size is "80"'],
  ['ParakeetFeatureExtractor', { n_fft: 511 }, 'n_fft is 511'],
  ['ParakeetFeatureExtractor', { win_length: 513 }, 'win_length is 513'],
] as const)
  test(`${name}: what cannot be done is refused: ${message}`, () => {
    expect(() => kind(name, extractor)).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining(message) }),
    );
  });
