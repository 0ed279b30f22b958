import type { Page } from '@playwright/test';
import { expect, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

/**
 * Repositories as Hugging Face's exporters lay them out, without a line of config, against transformers in Python:
 * `test/models/hugging-face/make.py`.
 */
interface Label {
  readonly label: string;
  readonly score: number;
}
interface Box extends Label {
  readonly box: { readonly xmin: number; readonly ymin: number; readonly xmax: number; readonly ymax: number };
}

const expected = readGoldens<{
  readonly vit: readonly Label[];
  readonly detr: readonly Box[];
  readonly rtdetr: readonly Box[];
  readonly segformer: {
    readonly width: number;
    readonly height: number;
    readonly classes: string;
    readonly scores: readonly number[];
  };
  readonly bert: readonly (readonly Label[])[];
  readonly distilbert: readonly (readonly Label[])[];
  readonly texts: readonly string[];
}>('../models/hugging-face/expected.json');

const url = (name: string): string => `/test/models/hugging-face/${name}/`;

/** Adds `photo()`, the photo of make.py, to the page. */
async function withPhoto(page: Page): Promise<Page> {
  await page.evaluate(() => {
    const [width, height] = [61, 47];
    const data = new Uint8ClampedArray(width * height * 4);
    for (let at = 0, y = 0; y < height; y++)
      for (let x = 0; x < width; x++, at += 4)
        data.set(
          [Math.floor((x * 255) / (width - 1)), Math.floor((y * 255) / (height - 1)), (x * 3 + y * 5) % 256, 255],
          at,
        );
    Object.assign(window, { photo: () => new ImageData(data, width, height) });
  });
  return page;
}
declare const photo: () => ImageData;

function expectLabels(actual: readonly Label[], wanted: readonly Label[]): void {
  expect(actual.map(({ label }) => label)).toEqual(wanted.map(({ label }) => label));
  for (const [index, { score }] of actual.entries()) expect(score).toBeCloseTo(wanted[index]!.score, 4);
}

function expectBoxes(actual: readonly Box[], wanted: readonly Box[]): void {
  expectLabels(actual, wanted);
  for (const [index, { box }] of actual.entries())
    for (const side of ['xmin', 'ymin', 'xmax', 'ymax'] as const)
      expect(Math.abs(box[side] - wanted[index]!.box[side]), `${side} of object ${index}`).toBeLessThan(61e-4);
}

test('an image classifier: ViT @once', async ({ open, backend }) => {
  const page = await withPhoto(await open());
  const answer = await page.evaluate(
    async ({ url, backend }) => {
      const client = await window.tabserve.load(url, { backends: [backend] });
      return { labels: await client.predict(photo()), handler: (await client.describe()).handler };
    },
    { url: url('vit'), backend },
  );
  expect(answer.handler).toBe('image_classifier');
  expectLabels(answer.labels as Label[], expected.vit);
});

for (const [model, note] of [
  ['detr', 'sides by the shorter and the longer edge, a pixel mask, softmax'],
  ['rtdetr', 'a sigmoid for each class; the model beside its config'],
] as const)
  test(`a detector: ${model}, ${note} @once`, async ({ open, backend }) => {
    const page = await withPhoto(await open());
    const answer = await page.evaluate(
      async ({ url, backend }) => {
        const client = await window.tabserve.load(url, {
          handler: 'object_detector',
          backends: [backend],
          config: { handler: { scoreThreshold: 0.3 } },
        });
        return await client.predict(photo());
      },
      { url: url(model), backend },
    );
    expect(expected[model].length).toBeGreaterThan(3);
    expectBoxes(answer, expected[model]);
  });

test('a segmenter: SegFormer, from a quarter of the size to the size of the photo @once', async ({ open, backend }) => {
  const page = await withPhoto(await open());
  const { classes, scores, ...size } = await page.evaluate(
    async ({ url, backend }) => {
      const client = await window.tabserve.load(url, { handler: 'image_segmenter', backends: [backend] });
      const { width, height, classes, scores } = await client.predict(photo(), { params: { result: 'classes' } });
      return { width, height, classes: [...classes], scores: [...scores!] };
    },
    { url: url('segformer'), backend },
  );
  const wanted = expected.segformer;
  expect(size).toEqual({ width: wanted.width, height: wanted.height });
  expect(classes.map((one, index) => (wanted.classes[index] === '?' ? '?' : one)).join('')).toBe(wanted.classes);
  for (const [index, score] of wanted.scores.entries()) expect(scores[index * 97]).toBeCloseTo(score, 4);
});

test('text classifiers: BERT with softmax, DistilBERT with several labels; long texts are truncated @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ bert, distilbert, texts, backend }) => {
      const options = { handler: 'text_classifier', backends: [backend] } as const;
      const single = await window.tabserve.load(bert, options);
      const several = await window.tabserve.load(distilbert, { ...options, config: { handler: { threshold: 0 } } });
      return { bert: await single.handle(texts), distilbert: await several.handle(texts) };
    },
    { bert: url('bert'), distilbert: url('distilbert'), texts: expected.texts, backend },
  );
  for (const model of ['bert', 'distilbert'] as const)
    for (const [index, labels] of (answer[model] as Label[][]).entries()) expectLabels(labels, expected[model][index]!);
});

test('an architecture without a handler, and a file that is missing, name the field and the key @once', async ({
  open,
}) => {
  const page = await open();
  await page.route('**/hf-tokens/**', async (route) => {
    const isConfig = route.request().url().endsWith('/config.json');
    const body = JSON.stringify({ architectures: ['BertForNextSentencePrediction'] });
    await route.fulfill(isConfig || route.request().url().endsWith('.onnx') ? { body } : { status: 404 });
  });
  const message = await page.evaluate(
    async () =>
      await window.tabserve.load('/hf-tokens/').then(
        () => 'loaded',
        (error: Error) => `${(error as Error & { code: string }).code}: ${error.message}`,
      ),
  );
  expect(message).toMatch(/^unknown-handler: .*BertForNextSentencePrediction.*config\.json.*`handler`.*base_handler/);
});
