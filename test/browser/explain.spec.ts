import type { AnswerExplanation, ImageExplanation, TextExplanation, TokenExplanation } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens, unable } from './goldens.ts';

interface Case {
  readonly model: string;
  readonly options: object;
  readonly index: number;
  readonly label: string;
  readonly score: number;
}

interface ImageCase extends Case {
  readonly photo: string;
  readonly variants: number;
  readonly size: readonly [number, number];
  readonly low: number;
  readonly high: number;
  readonly heat: readonly number[];
}

interface TextCase extends Case {
  readonly input: string | { readonly text: string; readonly textPair: string };
  readonly words: TextExplanation['words'];
}

/** By NumPy, PyTorch and ONNX Runtime in Python: `test/models/explain/make.py`. */
const goldens = readGoldens<{
  readonly images: readonly ImageCase[];
  readonly texts: readonly TextCase[];
  readonly tokens: readonly (TokenExplanation & { readonly model: string; readonly input: string })[];
  readonly answers: readonly (AnswerExplanation & {
    readonly model: string;
    readonly input: { readonly question: string; readonly context: string };
  })[];
}>('../models/explain/goldens.json');

const TOLERANCE = 1e-4;

/**
 * Masks, target and heat map are computed in the same way whatever runs the model. So `npm run test:full` has all cases
 * on WASM alone; a GPU has digits with fifty variants at most, and `npm test` digits with a hundred, on WASM.
 */
function imagesFor(backend: string, full: boolean): ImageCase[] {
  if (full && backend === 'wasm') return [...goldens.images];
  const most = backend === 'wasm' ? 100 : 50;
  return goldens.images.filter(({ model, variants }) => model.includes('digits') && variants <= most);
}

/** Cases of one model share a client. */
function byModel<One extends Case>(cases: readonly One[]): readonly (readonly One[])[] {
  return [...new Set(cases.map(({ model }) => model))].map((model) => cases.filter((one) => one.model === model));
}

for (const engine of ['onnx', 'tfjs'] as const) {
  test(`explanations of images on ${engine}: the heat maps that Python makes with the same masks @wasm`, async ({
    open,
    backend,
    full,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(candidate === 'onnx/webgl', 'ONNX Runtime’s WebGL runs only when it is proven');
    test.slow();
    const cases = byModel(imagesFor(backend, full));
    expect(cases.length).toBeGreaterThan(0);
    const page = await open();
    for (const ofModel of cases) {
      const answers = await page.evaluate(
        async ({ ofModel, candidate }) => {
          const [{ model }] = ofModel as [ImageCase];
          const client = await window.tabserve.load<'image_classifier' | 'object_detector'>(model, {
            handler: model.includes('nanodet') ? 'object_detector' : 'image_classifier',
            backends: [candidate],
          });
          const answers = [];
          for (const { photo, options } of ofModel) {
            const seen: { done: number; total: number }[] = [];
            const blob = await (await fetch(photo)).blob();
            const { heat, ...rest } = (await client.explain(blob, {
              ...options,
              onProgress: (progress: { done: number; total: number }) => void seen.push(progress),
            } as never)) as ImageExplanation;
            const sample = Array.from({ length: 64 }, (_, i) => {
              const [x, y] = [(37 * i + 11) % rest.width, (53 * i + 7) % rest.height];
              return heat[y * rest.width + x]!;
            });
            answers.push({ ...rest, sample, seen });
          }
          await client.dispose();
          return answers;
        },
        { ofModel, candidate },
      );
      for (const [at, { photo, options, size, heat, index, label, score, low, high, variants }] of ofModel.entries()) {
        const found = answers[at]!;
        const name = `${photo} ${JSON.stringify(options)}`;
        expect(found, name).toMatchObject({ index, label, width: size[0], height: size[1] });
        const differences = heat.map((value, at) => Math.abs(value - found.sample[at]!));
        const worst = Math.max(
          ...differences,
          Math.abs(found.score - score),
          Math.abs(found.low - low),
          Math.abs(found.high - high),
        );
        console.log(`${candidate} ${name}: ${worst.toExponential(1)}`);
        expect(worst, name).toBeLessThanOrEqual(TOLERANCE);
        expect(found.seen.at(-1)).toEqual({ done: variants, total: variants });
        expect(found.seen.map(({ done }) => done)).toEqual(found.seen.map(({ done }) => done).sort((a, b) => a - b));
      }
    }
  });

  test(`explanations of texts on ${engine}: the words and weights that Python finds @wasm`, async ({
    open,
    backend,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(candidate === 'onnx/webgl', unable['word-piece']?.['onnx/webgl']);
    // There `text.spec.ts` asks the small model.
    const cases = byModel(goldens.texts);
    const page = await open();
    for (const ofModel of cases) {
      const answers = await page.evaluate(
        async ({ ofModel, candidate }) => {
          const [{ model }] = ofModel as [TextCase];
          const client = await window.tabserve.load(model, { handler: 'text_classifier', backends: [candidate] });
          const answers: TextExplanation[] = [];
          for (const { input, options } of ofModel) answers.push(await client.explain(input, options));
          await client.dispose();
          return answers;
        },
        { ofModel, candidate },
      );
      for (const [at, { input, words, index, label, score }] of ofModel.entries()) {
        const found = answers[at]!;
        expect(found).toMatchObject({ index, label, method: 'leave-one-out' });
        const plain = (list: TextExplanation['words']) =>
          list.map(({ word, start, end, of }) => ({ word, start, end, of }));
        expect(plain(found.words)).toEqual(plain(words));
        const worst = Math.max(
          Math.abs(found.score - score),
          ...words.map(({ weight }, at) => Math.abs(weight - found.words[at]!.weight)),
        );
        console.log(`${candidate} ${JSON.stringify(input)}: ${worst.toExponential(1)}`);
        expect(worst).toBeLessThanOrEqual(TOLERANCE);
      }
    }
  });
}

test('the label of a word and the ends of an answer are explained, as in Python @once', async ({ open }) => {
  const page = await open();
  const [tokens] = goldens.tokens;
  const [answers] = goldens.answers;
  const found = await page.evaluate(
    async ({ tokens, answers }) => {
      const backends = ['onnx/wasm'] as const;
      const words = await window.tabserve.load(tokens!.model, { handler: 'token_classifier', backends });
      const token = await words.explain(tokens!.input);
      await words.dispose();
      const questions = await window.tabserve.load(answers!.model, { handler: 'question_answerer', backends });
      const answer = await questions.explain(answers!.input);
      await questions.dispose();
      return { token, answer };
    },
    { tokens, answers },
  );
  const { label, word, start, end } = tokens!;
  expect(found.token).toMatchObject({ label, word, start, end, score: expect.closeTo(tokens!.score, 4) });
  expect(found.token.words.map(({ weight }) => weight)).toEqual(
    tokens!.words.map(({ weight }) => expect.closeTo(weight, 4)),
  );
  expect(found.answer).toMatchObject({ answer: answers!.answer, start: answers!.start, end: answers!.end });
  expect(found.answer.words.map(({ startWeight, endWeight }) => [startWeight, endWeight])).toEqual(
    answers!.words.map(({ startWeight, endWeight }) => [expect.closeTo(startWeight, 4), expect.closeTo(endWeight, 4)]),
  );
});

for (const batchSize of [1, 4])
  test(`other requests are answered while an image is explained, with batches of ${batchSize}; it ends with abort and dispose @once`, async ({
    open,
  }) => {
    const page = await open();
    const found = await page.evaluate(async (batchSize) => {
      const client = await window.tabserve.load('/models/digits/', {
        handler: 'image_classifier',
        backends: ['wasm'],
        batchSize,
        maxBatchDelay: 1,
      });
      const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
      const stop = new AbortController();
      let reports = 0;
      let settled = false;
      // Minutes, if nobody stops it.
      const long = { method: 'rise', masks: 100_000 } as const;
      const first = Promise.withResolvers<void>();
      const explaining = client.explain(photo, {
        ...long,
        signal: stop.signal,
        onProgress: () => {
          reports += 1;
          first.resolve();
        },
      });
      explaining.catch(() => {}).finally(() => (settled = true));
      await first.promise;
      const answers: string[] = [];
      for (let round = 0; round < 5; round++) answers.push((await client.predict(photo))[0]!.label);
      const several = await client.handle([photo, photo, photo]);
      // A second explanation waits for the first one; a request that comes after it does not.
      const second = client.explain(photo, { target: 3 });
      second.catch(() => {});
      answers.push((await client.predict(photo))[0]!.label);
      const during = { settled, answers, several: several.length };
      stop.abort();
      const aborted = await window.failure(explaining);
      const atAbort = reports;
      const { label } = await second;
      const left = client.explain(photo, long);
      const failure = window.failure(left);
      await client.predict(photo);
      await client.dispose();
      return { during, aborted, later: reports - atAbort, label, disposed: await failure };
    }, batchSize);
    expect(found.during).toEqual({ settled: false, answers: Array.from({ length: 6 }, () => 'three'), several: 3 });
    expect(found.aborted).toMatchObject({ code: 'aborted' });
    expect(found.later).toBe(0);
    expect(found.label).toBe('three');
    expect(found.disposed).toMatchObject({ code: 'disposed' });
  });

test('what is passed to explain in place of options, and a page that throws in onProgress @once', async ({ open }) => {
  const page = await open();
  const found = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: ['wasm'] });
    const pixels = { data: new Uint8Array(28 * 28 * 3), dims: [28, 28, 3] };
    const explain = (options: unknown) => window.failure(client.explain(pixels, options as never));
    const failures = [
      await explain(null),
      await explain({ onProgress: 'often' }),
      await explain({ params: 'x', target: 1 }),
      await explain({ signal: 1 }),
      await explain({ target: 'thre' }),
      await explain({ window: 29 }),
      await explain({ baseline: () => 0 }),
    ];
    const warned = new Promise<string>((resolve) => client.on('warn', ({ message }) => resolve(message)));
    const explained = await client.explain(pixels, {
      metod: 'rise',
      onProgress: () => {
        throw new Error('of the page');
      },
    } as never);
    await client.dispose();
    return { failures, warning: await warned, size: explained.heat.length };
  });
  expect(found.failures.map(({ code }) => code)).toEqual([
    'invalid-input',
    'invalid-input',
    'invalid-input',
    'invalid-input',
    'invalid-input',
    'invalid-input',
    'not-cloneable',
  ]);
  expect(found.failures[4]!.message).toContain('probably "three" is meant');
  expect(found.warning).toBe('metod is not a known key; probably method is meant.');
  expect(found.size).toBe(784);
});

/**
 * Five photos, in each an object that is a part of it: one that fills the photo has its reasons everywhere, and a map
 * in any order is as good as another. The models' cards in `public/models` tell where the photos come from.
 */
const PHOTOS = [
  ['nanodet/samples/bar.jpg', 'cup'],
  ['nanodet/samples/party.jpg', 'wine glass'],
  ['nanodet/samples/grace-hopper.jpg', 'tie'],
  ['upscaler/samples/cup.png', 'cup'],
  ['selfie/samples/photographer.jpg', 'person'],
] as const;

/** Random maps of a photo, whose mean score is chance. */
const MAPS = 4;

test('deletion and insertion scores of five photos are better than those of random maps @once @long', async ({
  open,
}) => {
  test.setTimeout(5_400_000);
  const page = await open();
  const rows: Record<'random' | 'occlusion' | 'rise', { deletion: number; insertion: number }>[] = [];
  for (const [file, target] of PHOTOS) {
    const row = await page.evaluate(
      async ({ url, target, maps }) => {
        const client = await window.tabserve.load('/models/nanodet/', { handler: 'object_detector' });
        const blob = await (await fetch(url)).blob();
        const photo = await createImageBitmap(blob);
        const { width, height } = photo;
        const draw = (filter: string): ImageData => {
          const context = new OffscreenCanvas(width, height).getContext('2d')!;
          context.filter = filter;
          context.drawImage(photo, 0, 0);
          return context.getImageData(0, 0, width, height);
        };
        const [whole, blurred] = [draw('none'), draw(`blur(${width / 25}px)`)];
        const gray = whole.data.map((_, at) => (at % 4 === 3 ? 255 : 114));
        const score = async (data: Uint8ClampedArray<ArrayBuffer>): Promise<number> => {
          const found = await client.predict(new ImageData(data, width, height), {
            params: { scoreThreshold: 0.01 },
          });
          return Math.max(0, ...found.filter(({ label }) => label === target).map((one) => one.score));
        };
        /** The mean score while the pixels of `from` are replaced by those of `to`, hottest first, in 10 steps. */
        const curve = async (
          order: Uint32Array,
          from: Uint8ClampedArray<ArrayBuffer>,
          to: Uint8ClampedArray,
        ): Promise<number> => {
          const data = from.slice();
          const [source, target] = [new Uint32Array(to.buffer), new Uint32Array(data.buffer)];
          const scores = [await score(data.slice())];
          for (let step = 0; step < 10; step++) {
            const end = Math.round(((step + 1) * order.length) / 10);
            for (let at = Math.round((step * order.length) / 10); at < end; at++)
              target[order[at]!] = source[order[at]!]!;
            scores.push(await score(data.slice()));
          }
          return scores.reduce((sum, one, at) => sum + one * (at === 0 || at === 10 ? 0.5 : 1), 0) / 10;
        };
        const both = async (heat: ArrayLike<number>) => {
          const order = Uint32Array.from({ length: heat.length }, (_, at) => at).sort((a, b) => heat[b]! - heat[a]!);
          return {
            deletion: await curve(order, whole.data, gray),
            insertion: await curve(order, blurred.data, whole.data),
          };
        };
        /** A random map as smooth as those of RISE: 7 × 7 cells, enlarged. */
        const chance = (seed: number): Uint8ClampedArray => {
          const random = window.random(seed);
          const cells = new ImageData(7, 7);
          for (let at = 0; at < 49; at++) cells.data.set([255 * random(), 0, 0, 255], at * 4);
          const small = new OffscreenCanvas(7, 7);
          small.getContext('2d')!.putImageData(cells, 0, 0);
          const context = new OffscreenCanvas(width, height).getContext('2d')!;
          context.drawImage(small, 0, 0, width, height);
          return context.getImageData(0, 0, width, height).data.filter((_, at) => at % 4 === 0);
        };
        const random = { deletion: 0, insertion: 0 };
        for (let seed = 1; seed <= maps; seed++) {
          const { deletion, insertion } = await both(chance(seed));
          random.deletion += deletion / maps;
          random.insertion += insertion / maps;
        }
        const occlusion = await client.explain(blob, { target, window: 104, stride: 52 });
        const rise = await client.explain(blob, { target, method: 'rise', masks: 500 });
        const result = { random, occlusion: await both(occlusion.heat), rise: await both(rise.heat) };
        await client.dispose();
        return result;
      },
      { url: `/models/${file}`, target, maps: MAPS },
    );
    rows.push(row);
    console.log(file, target, JSON.stringify(row));
  }
  const mean = (method: keyof (typeof rows)[number], score: 'deletion' | 'insertion'): number =>
    rows.reduce((sum, row) => sum + row[method][score], 0) / rows.length;
  for (const method of ['occlusion', 'rise'] as const) {
    console.log(
      `${method}: deletion ${mean(method, 'deletion').toFixed(3)} (random ${mean('random', 'deletion').toFixed(3)}), insertion ${mean(method, 'insertion').toFixed(3)} (random ${mean('random', 'insertion').toFixed(3)})`,
    );
    expect(mean(method, 'deletion')).toBeLessThan(mean('random', 'deletion'));
    expect(mean(method, 'insertion')).toBeGreaterThan(mean('random', 'insertion'));
  }
});
