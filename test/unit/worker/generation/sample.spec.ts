import { expect, test } from '@playwright/test';
import { argmax, draw, logProbability } from '../../../../src/worker/generation/sample.ts';

/** The logits of these probabilities. */
const logitsOf = (...probabilities: readonly number[]): Float32Array => Float32Array.from(probabilities, Math.log);

test('a token is drawn where the random number falls among the sums of the probabilities', () => {
  const logits = logitsOf(0.125, 0, 0.5, 0.375);
  expect([0, 0.1, 0.13, 0.6, 0.63, 0.999].map((random) => draw(logits, random))).toEqual([0, 0, 2, 2, 3, 3]);
  expect(() => draw(logitsOf(0, 0), 0.5)).toThrow(/No token can follow/);
});

test('of equal logits, the first one is taken', () => {
  expect(argmax(Float32Array.of(1, 3, 3, 2))).toBe(1);
  expect(() => argmax(Float32Array.of(-Infinity))).toThrow(/No token can follow/);
});

test('logits that would overflow have their probabilities', () => {
  expect(logProbability(Float32Array.of(1000, 1000), 0)).toBeCloseTo(Math.log(0.5), 6);
});
