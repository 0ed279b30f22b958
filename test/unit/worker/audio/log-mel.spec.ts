// Spectrograms against transformers' `WhisperFeatureExtractor`: `test/goldens/speech/make.py`.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { Fourier } from '../../../../src/worker/audio/fourier.ts';
import { LogMel, type LogMelOptions } from '../../../../src/worker/audio/log-mel.ts';
import { soundOf } from '../../../models/tasks/sound.ts';

function readGoldens<T>(file: string): T {
  return JSON.parse(readFileSync(new URL(`../../../goldens/speech/${file}`, import.meta.url), 'utf8')) as T;
}

interface Case {
  readonly options: LogMelOptions;
  readonly samples: number;
  readonly dims: readonly [number, number];
  readonly frames: readonly number[];
  readonly mels: readonly number[];
  readonly values: readonly (readonly number[])[];
  readonly sum: number;
}

for (const { options, samples, dims, frames, mels, values, sum } of readGoldens<readonly Case[]>('features.json'))
  test(`a spectrogram of ${samples} samples, with ${options.mels} mels and frames of ${options.frameLength}`, () => {
    const logMel = new LogMel(options);
    const found = logMel.spectrogram(soundOf(samples));
    expect([options.mels, logMel.frames]).toEqual(dims);
    expect(found).toHaveLength(dims[0] * dims[1]);
    const differences = mels.flatMap((mel, row) =>
      frames.map((frame, at) => Math.abs(found[mel * dims[1] + frame]! - values[row]![at]!)),
    );
    expect(Math.max(...differences)).toBeLessThan(1e-5);
    // No other value is far from its own.
    expect(Math.abs(found.reduce((total, value) => total + value, 0) - sum) / found.length).toBeLessThan(1e-6);
  });

test("Fourier's transform of sizes with other factors is the sum that defines it", () => {
  for (const size of [2, 3, 4, 14, 60, 97 - 36, 128, 400]) {
    const real = Float64Array.from({ length: size }, (_, at) => Math.sin(at * at) + (at % 3));
    const imaginary = Float64Array.from({ length: size }, (_, at) => Math.cos(at * 5) - (at % 2));
    const expected = Array.from({ length: size }, (_, bin) => {
      let [sumReal, sumImaginary] = [0, 0];
      for (let at = 0; at < size; at++) {
        const angle = (-2 * Math.PI * bin * at) / size;
        sumReal += real[at]! * Math.cos(angle) - imaginary[at]! * Math.sin(angle);
        sumImaginary += real[at]! * Math.sin(angle) + imaginary[at]! * Math.cos(angle);
      }
      return [sumReal, sumImaginary] as const;
    });
    new Fourier(size).transform(real, imaginary);
    for (const [bin, [sumReal, sumImaginary]] of expected.entries()) {
      expect(real[bin]).toBeCloseTo(sumReal, 8);
      expect(imaginary[bin]).toBeCloseTo(sumImaginary, 8);
    }
  }
  expect([400, 512, 61, 1, 0, 2.5, 67, 400 * 67].map((size) => Fourier.takes(size))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
    false,
    false,
  ]);
});
