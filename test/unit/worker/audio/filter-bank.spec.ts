// Kaldi's features against transformers' `ASTFeatureExtractor`, and against torchaudio: `test/goldens/speech/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { FilterBank, type FrameWindow } from '../../../../src/worker/audio/filter-bank.ts';
import { soundOf } from '../../../models/tasks/sound.ts';

interface Case {
  readonly sampleRate: number;
  readonly mels: number;
  readonly samples: number;
  readonly frames: number;
  readonly every: number;
  readonly values: readonly (readonly number[])[];
  readonly window?: FrameWindow;
  /** What a sample of full scale is. */
  readonly scale?: number;
}

const CASES = ['filter-banks', 'kaldi-banks'].flatMap(
  (name) =>
    JSON.parse(
      readFileSync(new URL(`../../../goldens/speech/${name}.json`, import.meta.url), 'utf8'),
    ) as readonly Case[],
);

for (const { sampleRate, mels, samples, frames, every, values, window, scale = 1 } of CASES)
  test(`${mels} mels of ${samples} samples at ${sampleRate} Hz, ${window ?? 'hann'}`, () => {
    const found = new FilterBank(sampleRate, mels, window).features(soundOf(samples).map((one) => one * scale));
    expect(found).toHaveLength(frames * mels);
    for (const [row, expected] of values.entries())
      for (const [mel, value] of expected.entries()) expect(found[row * every * mels + mel]).toBeCloseTo(value, 3);
  });

test('sound that is shorter than a frame has none, and later frames may be left out', () => {
  const bank = new FilterBank(16_000, 8);
  expect(bank.features(soundOf(399))).toHaveLength(0);
  expect(bank.features(soundOf(400))).toHaveLength(8);
  expect(bank.features(soundOf(4000), 3)).toEqual(bank.features(soundOf(4000)).subarray(0, 24));
});
