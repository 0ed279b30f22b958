import { expect, test } from '@playwright/test';
import type { Tensors } from '../../../../../src/contract/tensors.ts';
import { firstColumns, labelVectors, logitsOf } from '../../../../../src/worker/tasks/zero-shot/label-vectors.ts';

const matrix = (dims: readonly number[], ...data: number[]) => ({
  dtype: 'float32' as const,
  dims,
  data: Float32Array.from(data),
});
const TEXTS = matrix([3, 2], 1, 0, 0.6, 0.8, 0, 1);
const IMAGE = matrix([1, 2], 0.8, 0.6);
/** The products of the image with the texts are 0.8, 0.96 and 0.6. */
const run = (...logits: number[]): Tensors => ({
  logits_per_image: matrix([1, 3], ...logits),
  image_embeds: IMAGE,
  text_embeds: TEXTS,
});

test('scale and bias follow from the first run, and give the logits of another image', () => {
  for (const [scale, bias] of [
    [100, 0],
    [100, -12],
  ] as const) {
    const outputs = run(...[0.8, 0.96, 0.6].map((product) => scale * product + bias));
    const kept = labelVectors(outputs, 'logits_per_image', { labels: 3, tokens: 7 })!;
    expect(kept).toMatchObject({ tokens: 7, scale: expect.closeTo(scale, 3) });
    // The image (0, 1) with the first text alone.
    const next = {
      logits_per_image: matrix([1, 1], bias),
      image_embeds: matrix([1, 2], 0, 1),
      text_embeds: matrix([1, 2], 1, 0),
    };
    const { dims, data } = logitsOf(next, 'logits_per_image', kept);
    expect(dims).toEqual([1, 3]);
    expect([...(data as Float32Array)]).toEqual(
      [bias, 0.8 * scale + bias, scale + bias].map((one) => expect.closeTo(one, 3)),
    );
  }
});

test('beside two labels, a third text tells the scale, and is not kept', () => {
  const kept = labelVectors(run(80, 96, 60), 'logits_per_image', { labels: 2, tokens: 7 })!;
  expect(kept.texts).toEqual(TEXTS.data.slice(0, 4));
  const { data } = firstColumns(matrix([2, 3], 1, 2, 3, 4, 5, 6), 2);
  expect(data).toEqual(Float32Array.of(1, 2, 4, 5));
});

test('nothing is kept where the output is not scale · product + bias, or does not tell the scale', () => {
  expect(labelVectors(run(80, 96, 61), 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
  expect(labelVectors(run(NaN, 96, 60), 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
  const { text_embeds: _, ...others } = run(80, 96, 60);
  expect(labelVectors(others, 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
  const alike = { ...run(68, 68, 68), text_embeds: matrix([3, 2], 1, 0, 1, 0, 1, 0) };
  expect(labelVectors(alike, 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
});

test('nothing is kept where another image may have another scale', () => {
  // The model divides by the length of the image's vector, and returns it as it is: 100 for this image is 50 for the vector.
  const long = { ...run(80, 96, 60), image_embeds: matrix([1, 2], 1.6, 1.2) };
  expect(labelVectors(long, 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
  const texts = { ...run(80, 96, 60), text_embeds: matrix([3, 2], 2, 0, 1.2, 1.6, 0, 2) };
  expect(labelVectors(texts, 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
  // Probabilities of two labels: a line goes through any two.
  const two = { logits_per_image: matrix([1, 2], 0.55, 0.45), text_embeds: matrix([2, 2], 1, 0, 0, 1) };
  expect(labelVectors({ ...two, image_embeds: IMAGE }, 'logits_per_image', { labels: 3, tokens: 7 })).toBeUndefined();
});

test('the labels of many images are kept as well', () => {
  const count = 100_000;
  const repeat = (...row: number[]) =>
    Float32Array.from({ length: count * row.length }, (_, at) => row[at % row.length]!);
  const outputs = {
    logits_per_image: { ...matrix([count, 3]), data: repeat(80, 96, 60) },
    image_embeds: { ...matrix([count, 2]), data: repeat(0.8, 0.6) },
    text_embeds: TEXTS,
  };
  expect(labelVectors(outputs, 'logits_per_image', { labels: 3, tokens: 7 })).toMatchObject({
    scale: expect.closeTo(100, 3),
  });
});
