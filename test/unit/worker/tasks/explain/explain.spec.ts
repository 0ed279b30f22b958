import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import {
  createTestHandler,
  ImageClassifier,
  ObjectDetector,
  TextClassifier,
  VisionHandler,
  type Context,
  type TestHandlerOptions,
  type TestModel,
} from '../../../../../src/worker.ts';
import type { ImageExplanation, TextExplanation } from '../../../../../src/worker/outputs/explanation.ts';
import { mersenneTwister, occlusionMasks, riseMasks } from '../../../../../src/worker/tasks/explain/masks.ts';
import { toImagePixels } from '../../../../../src/worker/tasks/explain/images.ts';
import { scoreVariants } from '../../../../../src/worker/tasks/explain/score-variants.ts';
import { findWords, partOf } from '../../../../../src/worker/tasks/explain/texts.ts';

/** By NumPy and PyTorch: `test/models/explain/make.py`. */
const goldens = JSON.parse(
  readFileSync(new URL('../../../../models/explain/goldens.json', import.meta.url), 'utf8'),
) as {
  readonly random: Readonly<Record<string, readonly number[]>>;
  readonly masks: readonly (readonly number[])[];
  readonly texts: readonly {
    readonly input: unknown;
    readonly words: readonly { start: number; end: number; of: string }[];
  }[];
};

const options = (values: object) => values as never;

test("the random numbers are NumPy's", () => {
  for (const [seed, expected] of Object.entries(goldens.random)) {
    const random = mersenneTwister(Number(seed));
    const numbers = Array.from({ length: 1000 }, random);
    expect([0, 1, 311, 312, 999].map((at) => numbers[at])).toEqual(expected);
  }
});

test("RISE's masks are those that NumPy and PyTorch make", () => {
  const masks = riseMasks({ width: 13, height: 10 }, { masks: 3, grid: 3, probability: 0.4, seed: 5 });
  expect(masks.count).toBe(3);
  expect(goldens.masks).toHaveLength(3);
  for (const [index, expected] of goldens.masks.entries()) {
    const mask = masks.draw();
    expect(mask).toHaveLength(13 * 10);
    for (const [at, value] of expected.entries()) expect(Math.abs(mask[at]! - value)).toBeLessThan(2e-6);
    masks.add(mask, index + 1);
  }
  // The paper's formula, of three masks whose scores are 1, 2 and 3.
  for (const [at, value] of masks.heat().entries()) {
    const sum = goldens.masks.reduce((all, mask, index) => all + (index + 1) * mask[at]!, 0);
    expect(value).toBeCloseTo(sum / (0.4 * 3), 4);
  }
});

test('occlusion: each window once, cut off at the edge, and the mean of those that cover a pixel', () => {
  // 5 × 3 pixels, windows of 2 that move by 2: at x = 0, 2, 4 and y = 0, 2.
  const masks = occlusionMasks({ width: 5, height: 3 }, { window: 2, stride: 2 }, 1);
  const shown: string[] = [];
  for (let index = 0; index < masks.count; index++) {
    const mask = masks.draw();
    masks.add(mask, 1 - index / 10);
    shown.push(mask.join(''));
  }
  expect(shown).toEqual([
    '001110011111111',
    '110011100111111',
    '111101111011111',
    '111111111100111',
    '111111111111001',
    '111111111111110',
  ]);
  expect([...masks.heat()].map((value) => Math.round(value * 10))).toEqual([
    0, 0, 1, 1, 2, 0, 0, 1, 1, 2, 3, 3, 4, 4, 5,
  ]);
});

test('a heat map in pixels of the image: interpolated, NaN where a crop has cut it off', () => {
  // An image of 8 × 2 pixels; the model sees the 4 × 2 in the middle, as 2 × 1 pixels.
  const geometry = { scaleX: 0.5, scaleY: 0.5, offsetX: -1, offsetY: 0 };
  const map = toImagePixels([0, 1], { width: 8, height: 2, tensorWidth: 2, tensorHeight: 1, geometry });
  expect(Array.from(map.heat)).toEqual([NaN, NaN, 0, 0.25, 0.75, 1, NaN, NaN, NaN, NaN, 0, 0.25, 0.75, 1, NaN, NaN]);
  expect(map).toMatchObject({ width: 8, height: 2, low: 0, high: 1 });
});

test('a long text is divided as a short one, in time', () => {
  // A segmenter of the whole text is right, but its time grows with the square of the length.
  const mixed =
    "It isn't 3.14 \u0301x, d\u2019accord?\r\n 🇩🇪🇫🇷🇮🇹 👩\u200D👩\u200D👧  naïve\u00A0Жук。我们今天去北京。\t\n\n";
  const text = mixed.repeat(Math.ceil(20_000 / mixed.length));
  const expected = Array.from(
    new Intl.Segmenter('und', { granularity: 'word' }).segment(text),
    ({ segment, index }) => [segment, index],
  ).filter(([segment]) => String(segment).trim() !== '');
  expect(findWords(text).map(({ word, start }) => [word, start])).toEqual(expected);

  const start = performance.now();
  expect(findWords('Жук words '.repeat(40_000))).toHaveLength(80_000);
  // What is refused need not be counted.
  expect(findWords('Жук words '.repeat(1_000_000)).length).toBeLessThan(110_000);
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('words, and texts without one of them', () => {
  for (const { input, words } of goldens.texts) {
    const texts = typeof input === 'string' ? { text: input } : (input as { text: string; textPair: string });
    for (const [of, text] of Object.entries(texts))
      expect(findWords(text).map(({ start, end }) => [start, end])).toEqual(
        words.filter((word) => of === (word.of === 'text' ? 'text' : 'textPair')).map(({ start, end }) => [start, end]),
      );
  }
  const text = ' a film,  really';
  const without = findWords(text).map((word) => {
    const { from, to } = partOf(text, word);
    return text.slice(0, from) + text.slice(to);
  });
  expect(without).toEqual(['film,  really', ' a,  really', ' a film  really', ' a film,']);
  // Languages without spaces between words.
  expect(findWords('映画を見る').length).toBeGreaterThan(1);
  expect(findWords('👩‍👩‍👧 ok').map(({ word }) => word)).toEqual(['👩‍👩‍👧', 'ok']);
});

/** A model of 4 × 4 gray pixels whose logits are: the first pixel, and nothing. It counts its rows. */
const corner: TestModel = ({ image }) => {
  const pixels = image!.data as Float32Array;
  const rows = image!.dims[0]!;
  return {
    logits: Array.from({ length: rows }, (_, row) => [pixels[(row * pixels.length) / rows]!, 0]),
  };
};

const classifier = async (more: Partial<TestHandlerOptions> = {}, Class: typeof ImageClassifier = ImageClassifier) =>
  await createTestHandler(Class, {
    inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 1, 'height', 'width'] }],
    outputs: corner,
    labels: ['corner', 'else'],
    config: { handler: { imageProcessing: ['grayscale', { resize: [4, 4] }, 'toTensor'] } },
    ...more,
  });

const white = { data: new Uint8Array(8 * 4 * 3).fill(255), dims: [4, 8, 3] };
const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));

test('an image is explained: the pixel that counts, at the size of the image', async () => {
  const handler = await classifier();
  const found: ImageExplanation = await handler.explain(white, { params: { window: 1, stride: 1 } });
  const fall = sigmoid(1) - sigmoid(0);
  expect(found).toMatchObject({ index: 0, label: 'corner', method: 'occlusion', width: 8, height: 4 });
  expect(found.score).toBeCloseTo(sigmoid(1), 10);
  expect(found.high).toBeCloseTo(fall, 6);
  // Two pixels of the image are one of the model's.
  expect(Array.from(found.heat.slice(0, 4), (value) => Number((value / fall).toFixed(4)))).toEqual([1, 0.75, 0.25, 0]);
  expect(found.heat.slice(8).every((value) => value === 0)).toBe(true);
  // White instead of black covers nothing.
  const none = await handler.explain(white, { params: { window: 1, stride: 1, baseline: [255, 255, 255] } });
  expect([none.low, none.high]).toEqual([0, 0]);
  const other = await handler.explain(white, { params: { target: 'else', window: 2 } });
  expect(other).toMatchObject({ index: 1, low: expect.closeTo(-fall, 6) });
});

test('the same seed gives the same heat map, another seed another', async () => {
  const handler = await classifier();
  const explain = async (seed: number) => [
    ...(await handler.explain(white, { params: { method: 'rise', masks: 50, grid: 3, seed } })).heat,
  ];
  const first = await explain(1);
  expect(await explain(1)).toEqual(first);
  expect(await explain(2)).not.toEqual(first);
  expect(Math.max(...first)).toBe(first[0]);
});

test('wrong options of an explanation say what is possible', async () => {
  const handler = await classifier({ labels: ['tiger cat', 'else'] });
  const fail = async (params: object) =>
    await handler.explain(white, { params: options(params) }).then(
      () => 'nothing',
      (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
    );
  expect(await fail({ target: 'tiger ct' })).toBe(
    'invalid-input: target: there is no class "tiger ct"; probably "tiger cat" is meant.',
  );
  expect(await fail({ target: 2 })).toBe(
    'invalid-input: target: there is no class 2; the model has 2 classes, 0 to 1.',
  );
  expect(await fail({ target: 'zebra' })).toContain('the model has 2 classes');
  expect(await fail({ target: -1 })).toContain('target must be an integer ≥ 0, not -1');
  expect(await fail({ target: 1.5 })).toContain('invalid-input: target must be an integer');
  expect(await fail({ method: 'oclusion' })).toBe(
    'invalid-input: method must be "occlusion" or "rise", not "oclusion"; probably occlusion is meant.',
  );
  expect(await fail({ window: 5 })).toBe(
    "invalid-input: window: it must fit into the model's input of 4 × 4 pixels, got 5.",
  );
  expect(await fail({ window: 0 })).toContain('window must be an integer ≥ 1, not 0');
  expect(await fail({ stride: 0 })).toContain('stride must be an integer ≥ 1, not 0');
  expect(await fail({ window: 2, stride: 3 })).toContain('stride: it must be at most the window of 2 pixels');
  expect(await fail({ method: 'rise', masks: 0 })).toContain('masks must be an integer in 1..100000, not 0');
  expect(await fail({ method: 'rise', masks: 1e9 })).toContain('masks must be an integer in 1..100000');
  expect(await fail({ method: 'rise', grid: 5 })).toContain('invalid-input: grid: ');
  expect(await fail({ method: 'rise', probability: 1 })).toContain('probability must be a number');
  expect(await fail({ method: 'rise', seed: -1 })).toContain('seed must be an integer');
  expect(await fail({ method: 'rise', window: 2 })).toContain('window: it is only for the method occlusion');
  expect(await fail({ masks: 20 })).toContain('masks: it is only for the method rise');
  expect(await fail({ baseline: [0, 0] })).toContain('baseline must be');
  expect(await fail({ baseline: 256 })).toContain('baseline must be');
  const many = await classifier({
    config: { handler: { imageProcessing: ['grayscale', { resize: [400, 400] }, 'toTensor'] } },
  });
  await expect(many.explain(white, { params: { window: 1, stride: 1 } })).rejects.toMatchObject({
    code: 'invalid-input',
    message: 'stride: there would be 160000 windows, and the limit is 100000. Use a larger stride.',
  });
});

test('a class of two labels is the one with the higher score; a class without a label has its index', async () => {
  const outputs = { logits: [[0, 2, 1]] };
  const crane = await classifier({ outputs, labels: ['crane', 'crane', 'else'] });
  expect(await crane.explain(white, { params: { target: 'crane' } })).toMatchObject({ index: 1 });
  const bare = await createTestHandler(ImageClassifier, {
    outputs,
    config: { handler: { imageProcessing: ['toTensor'] } },
  });
  expect(await bare.explain(white, { params: { target: '2' } })).toMatchObject({ index: 2, label: '2' });
});

test('a tensor instead of an image has a heat map of its own size; what is not finite is an error', async () => {
  const handler = await classifier();
  const tensor = { data: new Float32Array(16).fill(1), dims: [1, 4, 4] };
  expect(await handler.explain(tensor, { params: { window: 1 } })).toMatchObject({ width: 4, height: 4, index: 0 });
  const broken = await classifier({ outputs: { logits: [[NaN, 1]] } });
  await expect(broken.explain(white)).rejects.toMatchObject({ code: 'inference-failed' });
  await expect(handler.explain({ data: new Float32Array(18), dims: [2, 3, 3] })).rejects.toMatchObject({
    code: 'invalid-input',
  });
});

test('batches grow while they are fast, and stop between two when the request is aborted', async () => {
  const handler = await classifier();
  await handler.explain(white, { params: { method: 'rise', masks: 200, grid: 2 } });
  const rows = handler.runs.map(({ image }) => image!.dims[0]!);
  expect(rows.slice(0, 4)).toEqual([1, 1, 2, 4]);
  expect(Math.max(...rows)).toBeLessThanOrEqual(64);
  expect(rows.reduce((sum, count) => sum + count, 0)).toBe(201);

  const aborter = new AbortController();
  const aborted = await classifier({
    outputs: (feeds) => {
      if (feeds['image']!.dims[0]! >= 8) aborter.abort(new Error('enough'));
      return corner(feeds);
    },
  });
  const failure = aborted.explain(white, {
    params: { method: 'rise', masks: 100_000, grid: 2 },
    signal: aborter.signal,
  });
  await expect(failure).rejects.toThrow('enough');
  expect(aborted.runs.length).toBeLessThan(8);
});

test('what is known so far: twice a second, before the last batch, in the form of the explanation', async () => {
  let now = 0;
  const sent: { readonly done: number; readonly explanation?: ImageExplanation }[] = [];
  const context = {
    signal: new AbortController().signal,
    heartbeat: () => {},
    now: () => now,
    send: async (_: number, progress: never) => void sent.push(progress),
  } as unknown as Context;
  const masks = occlusionMasks({ width: 5, height: 1 }, { window: 1, stride: 1 }, 1);
  const explanation = (): ImageExplanation => ({
    index: 0,
    label: 'corner',
    score: 1,
    method: 'occlusion',
    ...toImagePixels(masks.heat(), {
      width: 5,
      height: 1,
      tensorWidth: 5,
      tensorHeight: 1,
      geometry: { scaleX: 1, scaleY: 1, offsetX: 0, offsetY: 0 },
    }),
  });
  await scoreVariants(
    {
      count: masks.count,
      mostRows: 1,
      make: () => [masks.draw()],
      async score([mask]) {
        now += 300;
        masks.add(mask!, 0.5);
        return [0.5];
      },
      partial: explanation,
    },
    0,
    context,
  );
  expect(sent.map(({ done }) => done)).toEqual([1, 2, 3, 4, 5]);
  expect(sent.map((one) => one.explanation && Array.from(one.explanation.heat))).toEqual([
    undefined,
    // A pixel is between two of the model's: both must be known.
    [0.5, NaN, NaN, NaN, NaN],
    undefined,
    [0.5, 0.5, 0.5, NaN, NaN],
    // The last one is the result itself.
    undefined,
  ]);
  expect(sent[1]!.explanation).toMatchObject({ low: 0.5, high: 0.5 });
});

test('RISE: the heat of the first masks is the mean of these', () => {
  const options = { grid: 2, probability: 0.5, seed: 3 };
  const [some, few] = [6, 2].map((masks) => riseMasks({ width: 4, height: 4 }, { masks, ...options }));
  for (const masks of [some!, few!]) for (const score of [0.2, 0.7]) masks.add(masks.draw(), score);
  expect([...some!.heat()]).toEqual([...few!.heat()]);
});

test('the rows of a model without a batch axis, and its other inputs', async () => {
  const handler = await createTestHandler(ImageClassifier, {
    inputs: [
      { name: 'image', dtype: 'uint8', dims: ['batch', 4, 4, 3] },
      { name: 'pixel_mask', dtype: 'int64', dims: ['batch', 4, 4] },
    ],
    outputs: ({ image, pixel_mask }) => {
      expect(pixel_mask!.dims[0]).toBe(image!.dims[0]);
      const rows = image!.dims[0]!;
      return { logits: Array.from({ length: rows }, (_, row) => [(image!.data[row * 48] as number) / 255, 0]) };
    },
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, { toTensor: { scale: 1 } }, { layout: 'NHWC' }] } },
  });
  const { high } = await handler.explain(white, { params: { window: 1 } });
  expect(high).toBeCloseTo(sigmoid(1) - sigmoid(0), 6);
});

test('a detector is explained by the best box of a class, an own handler by scores of its own', async () => {
  const detector = await createTestHandler(ObjectDetector, {
    outputs: ({ image }) => {
      const rows = image!.dims[0]!;
      const at = (row: number) => image!.data[(row * image!.data.length) / rows] as number;
      return {
        boxes: Array.from({ length: rows }, () => [
          [0, 0, 2, 2],
          [0, 0, 4, 4],
        ]),
        labels: Array.from({ length: rows }, () => [1n, 1n]),
        scores: Array.from({ length: rows }, (_, row) => [0.9 * at(row), 0.2]),
      };
    },
    labels: ['none', 'thing'],
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'], decoder: 'torchvision' } },
  }).catch((error: Error) => error);
  if (detector instanceof Error) throw detector;
  const { high, label, score } = await detector.explain(white, { params: { window: 1 } });
  expect([label, score]).toEqual(['thing', expect.closeTo(0.9)]);
  expect(high).toBeCloseTo(0.7, 6);

  class Brightness extends VisionHandler {
    override async getInsights(inputs: never, _data: readonly never[], context: Context): Promise<ImageExplanation[]> {
      return await this.explainImages(inputs, context, (outputs, rows) =>
        Array.from({ length: rows }, (_, row) => [outputs['mean']!.data[row] as number]),
      );
    }
  }
  const bright = await createTestHandler(Brightness, {
    outputs: ({ image }) => ({
      mean: Array.from({ length: image!.dims[0]! }, (_, row) => [image!.data[row * 48] as number]),
    }),
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'] } },
  });
  expect(await bright.explain(white, { params: { window: 1 } })).toMatchObject({ high: 1, label: '0' });
});

test('a detector of one image a run, whose answers differ in length, is explained variant by variant', async () => {
  const detector = await createTestHandler(ObjectDetector, {
    inputs: [{ name: 'image', dtype: 'float32', dims: [1, 3, 4, 4] }],
    outputs: ({ image }) => {
      const last = image!.data[3] as number;
      const boxes = [[0, 0, 4, 4, 0.2, 0], ...(last > 0 ? [[0, 0, 2, 2, 0.9 * last, 0]] : [])];
      return { output: { dtype: 'float32', dims: [1, boxes.length, 6], data: Float32Array.from(boxes.flat()) } };
    },
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'], decoder: 'rows' } },
  });
  const { high } = await detector.explain(white, { params: { window: 1 } });
  expect(high).toBeCloseTo(0.7, 6);
  // The whole image, and each of the 16 windows, of which some ran in a batch that failed as well.
  expect(detector.runs.length).toBeGreaterThanOrEqual(17);
  expect(detector.runs.length).toBeLessThan(30);
});

/**
 * A detector without labels, of images of 4 × 4 white pixels. `find` returns its boxes by what the first pixel is:
 * their scores and classes.
 */
async function unlabelled(find: (pixel: number) => readonly (readonly [score: number, index: number])[]) {
  return await createTestHandler(ObjectDetector, {
    inputs: [{ name: 'image', dtype: 'float32', dims: [1, 3, 4, 4] }],
    outputs: ({ image }) => {
      const boxes = find(image!.data[0] as number).flatMap(([score, index]) => [0, 0, 4, 4, score, index]);
      return { output: { dtype: 'float32', dims: [1, boxes.length / 6, 6], data: Float32Array.from(boxes) } };
    },
    config: { handler: { imageProcessing: [{ resize: [4, 4] }, 'toTensor'], decoder: 'rows' } },
  });
}

test('a detector without labels: where a variant hides the object, its class scores 0', async () => {
  const detector = await unlabelled((pixel) =>
    pixel > 0
      ? [
          [0.75, 5],
          [0.25, 1],
        ]
      : [[0.25, 1]],
  );
  const { index, score, heat, low, high } = await detector.explain(white, { params: { window: 1 } });
  expect([index, score, low, high]).toEqual([5, 0.75, 0, 0.75]);
  expect(heat.some(Number.isNaN)).toBe(false);
});

test('a detector that finds nothing, or no numbers, is not explained as if it had found the first class', async () => {
  const nothing = await unlabelled(() => []);
  await expect(nothing.explain(white)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/^target: /),
  });
  const named = await nothing.explain(white, { params: { target: 0, window: 1 } });
  expect([named.score, named.low, named.high]).toEqual([0, 0, 0]);
  for (const [score, index, message] of [
    [NaN, 1, /finite/],
    [Infinity, 1, /finite/],
    [80, 1, /score 80; a score must be in 0\.\.1/],
    [0.5, -1, /class -1; a class must be/],
    // As an index of a list of scores, it would take minutes and gigabytes.
    [0.5, 2 ** 28, /class 268435456; a class must be/],
    [0.5, 3e38, /class 2147483647; a class must be/],
  ] as const) {
    const detector = await unlabelled(() => [[score, index]]);
    await expect(detector.explain(white), String([score, index])).rejects.toMatchObject({
      code: 'inference-failed',
      message: expect.stringMatching(message),
    });
  }
  const later = await unlabelled((pixel) => [[pixel > 0 ? 0.5 : NaN, 0]]);
  await expect(later.explain(white, { params: { window: 1 } })).rejects.toMatchObject({ code: 'inference-failed' });
});

test('without getInsights there is no explanation', async () => {
  const handler = await createTestHandler(VisionHandler, { outputs: { y: [[1]] } });
  await expect(handler.explain(white)).rejects.toMatchObject({ code: 'unsupported' });
});

/** A model that says yes as often as the text has the word "good", whose id is 5. */
const tokenizer = readFileSync(new URL('../../../../docs/tokenizer.json', import.meta.url), 'utf8');
const texts = async (file = tokenizer) =>
  await createTestHandler(TextClassifier, {
    inputs: [{ name: 'input_ids', dtype: 'int64', dims: ['batch', 'length'] }],
    outputs: ({ input_ids }) => {
      const [rows, length] = input_ids!.dims as [number, number];
      const ids = Array.from(input_ids!.data as BigInt64Array, Number);
      return {
        logits: Array.from({ length: rows }, (_, row) => [
          ids.slice(row * length, (row + 1) * length).filter((id) => id === 5).length,
          0,
        ]),
      };
    },
    labels: ['yes', 'no'],
    files: { 'tokenizer.json': file },
  });

test('a text is explained: its words, and what each counts', async () => {
  const handler = await texts();
  const found: TextExplanation = await handler.explain('a good film');
  expect(found).toMatchObject({ index: 0, label: 'yes', method: 'leave-one-out' });
  expect(found.words).toEqual([
    { word: 'a', start: 0, end: 1, of: 'text', weight: 0 },
    { word: 'good', start: 2, end: 6, of: 'text', weight: expect.closeTo(sigmoid(1) - sigmoid(0)) },
    { word: 'film', start: 7, end: 11, of: 'text', weight: 0 },
  ]);
  const against = await handler.explain(new Blob(['good good']), { params: { target: 'no' } });
  expect(against.words.map(({ weight }) => weight < 0)).toEqual([true, true]);
  const pair = await handler.explain({ text: 'a film', textPair: 'good' });
  expect(pair.words.map(({ of, word }) => `${of} ${word}`)).toEqual(['text a', 'text film', 'textPair good']);
  await expect(handler.explain('a', { params: options({ target: 'yess' }) })).rejects.toThrow(
    /probably "yes" is meant/,
  );
  await expect(handler.explain('a', { params: options({ method: 'rise' }) })).rejects.toThrow(/"leave-one-out"/);
});

test('a text of one word, and one without any', async () => {
  const handler = await texts();
  expect((await handler.explain('good')).words).toHaveLength(1);
  expect((await handler.explain('')).words).toEqual([]);
  // Without special tokens, nothing is left of it.
  const bare = await texts(JSON.stringify({ ...(JSON.parse(tokenizer) as object), post_processor: null }));
  await expect(bare.explain('good')).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('has only the word "good"'),
  });
  await expect(bare.explain(' ')).rejects.toMatchObject({ code: 'invalid-input' });
});
