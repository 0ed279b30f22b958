// The resampler against test/models/vad/reference.py, which evaluates torchaudio's formula in float64, sample by
// sample.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { resample, Resampler } from '../../../../src/worker/audio/resampler.ts';

interface Golden {
  readonly from: number;
  readonly to: number;
  readonly length: number;
  readonly result: readonly number[];
}

const { resampling } = JSON.parse(
  readFileSync(new URL('../../../models/vad/goldens.json', import.meta.url), 'utf8'),
) as {
  readonly resampling: readonly Golden[];
};

/** As in make.py: a tone that rises from 50 Hz to 0.45 of the rate. */
function chirp(rate: number, length: number): Float32Array {
  return Float32Array.from({ length }, (_, n) => {
    const turns = (50 / rate) * n + ((0.45 - 50 / rate) * n * n) / (2 * length);
    return 0.7 * Math.sin(2 * Math.PI * turns);
  });
}

function largestDifference(got: ArrayLike<number>, expected: ArrayLike<number>): number {
  expect(got.length).toBe(expected.length);
  let worst = 0;
  for (let index = 0; index < got.length; index++) worst = Math.max(worst, Math.abs(got[index]! - expected[index]!));
  return worst;
}

for (const { from, to, length, result } of resampling)
  test(`${length} samples from ${from} to ${to} Hz`, () => {
    expect(largestDifference(resample(chirp(from, length), from, to), result)).toBeLessThan(1e-6);
  });

test('in pieces of any lengths, stopped and continued anywhere: exactly as in one piece', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...resampling.filter(({ length }) => length > 100)),
      fc.array(fc.nat({ max: 200 }), { minLength: 1, maxLength: 40 }),
      ({ from, to }, sizes) => {
        const length = sizes.reduce((sum, size) => sum + size, 0);
        const samples = chirp(from, length);
        const parts: number[] = [];
        let resampler = new Resampler(from, to);
        let at = 0;
        for (const size of sizes) {
          parts.push(...resampler.push(samples.slice(at, (at += size))));
          resampler = new Resampler(from, to, structuredClone(resampler.state));
        }
        parts.push(...resampler.flush());
        expect(parts).toEqual([...resample(samples, from, to)]);
      },
    ),
    { numRuns: 100 },
  );
});

test('a live resampler keeps few samples, and lags behind by less than a millisecond', () => {
  const resampler = new Resampler(44_100, 16_000);
  let made = 0;
  for (let second = 0; second < 3; second++) made += resampler.push(new Float32Array(44_100)).length;
  expect(made).toBeGreaterThan(3 * 16_000 - 16);
  expect(resampler.state.tail.length).toBeLessThan(64);
});
