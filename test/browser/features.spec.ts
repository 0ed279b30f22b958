import type { Embedding } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';
import { readGoldens, unable } from './goldens.ts';

type Vectors = Readonly<Record<string, readonly (readonly number[])[]>>;

/** By ONNX Runtime, tokenizers and PyTorch in Python: `test/models/features/make.py`. */
const goldens = readGoldens<{
  readonly text: {
    readonly inputs: readonly string[];
    readonly raw: Vectors;
    readonly unit: Vectors;
    readonly texts: readonly (readonly number[])[];
  };
  readonly image: { readonly input: string; readonly raw: Vectors; readonly unit: Vectors };
}>('../models/features/goldens.json');

const expectVectors = (found: readonly number[][], expected: readonly (readonly number[])[], what: string): void => {
  const worst = Math.max(
    ...expected.flatMap((row, index) => row.map((value, at) => Math.abs(value - (found[index]?.[at] ?? NaN)))),
  );
  expect(found.map((row) => row.length)).toEqual(expected.map((row) => row.length));
  expect(worst, what).toBeLessThanOrEqual(1e-4);
};

for (const engine of ['onnx', 'tfjs'] as const) {
  test(`features of texts on ${engine}: each pooling as in Python, in one batch and one by one${engine === 'onnx' ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(candidate === 'onnx/webgl', unable['word-piece']?.['onnx/webgl']);
    // The text classifier shows on each GPU that ids reach the engine; vectors are pooled on the CPU.
    const { text } = goldens;
    const page = await open();
    const found = await page.evaluate(
      async ({ candidate, inputs }) => {
        const url = '/test/models/features/text/';
        const read = (vectors: unknown) => (vectors as Embedding[]).map((vector) => [...vector]);
        const client = await window.tabserve.load(url, { handler: 'text_feature_extractor', backends: [candidate] });
        const answers: Record<string, number[][]> = {};
        for (const pooling of ['mean', 'cls', 'last-token'] as const)
          for (const normalize of [true, false])
            answers[`${pooling} ${normalize}`] = read(await client.handle(inputs, { params: { pooling, normalize } }));
        const alone = read(await Promise.all(inputs.map((input) => client.predict(input))));
        await client.dispose();
        const other = await window.tabserve.load(url, {
          handler: 'text_feature_extractor',
          backends: [candidate],
          config: { handler: { outputName: 'texts', normalize: false } },
        });
        const texts = read(await other.handle(inputs));
        const failure = await window.failure(other.predict('a', { params: { pooling: 'mean' } }));
        await other.dispose();
        const best = window.tabserve.nearest(alone[1]!, alone, 2);
        return { answers, alone, texts, failure, best };
      },
      { candidate, inputs: text.inputs },
    );
    for (const pooling of ['mean', 'cls', 'last-token']) {
      expectVectors(found.answers[`${pooling} true`]!, text.unit[pooling]!, `${pooling}, unit`);
      expectVectors(found.answers[`${pooling} false`]!, text.raw[pooling]!, `${pooling}, raw`);
    }
    expectVectors(found.alone, text.unit['mean']!, 'one by one');
    expectVectors(found.texts, text.texts, 'an output with one vector for each text');
    expect(found.failure).toMatchObject({ code: 'invalid-input', message: expect.stringContaining('Remove pooling') });
    const cosines = text.unit['mean']!.map((vector) =>
      vector.reduce((sum, value, at) => sum + value * text.unit['mean']![1]![at]!, 0),
    );
    const [first, second] = cosines.map((score, index) => ({ index, score })).sort((a, b) => b.score - a.score);
    expect(found.best).toEqual([
      { index: 1, score: expect.closeTo(first!.score, 4) },
      { index: second!.index, score: expect.closeTo(second!.score, 4) },
    ]);
  });

  test(`features of images on ${engine}: maps and positions as in Python @wasm`, async ({ open, backend }) => {
    const { image } = goldens;
    const page = await open();
    const found = await page.evaluate(
      async ({ candidate, input }) => {
        const photo = await (await fetch(`/${input}`)).blob();
        const answers: Record<string, number[][]> = {};
        for (const outputName of ['maps', 'positions']) {
          const client = await window.tabserve.load('/test/models/features/image/', {
            handler: 'image_feature_extractor',
            backends: [candidate],
            config: { handler: { outputName } },
          });
          for (const pooling of outputName === 'maps' ? [undefined] : (['mean', 'cls'] as const))
            for (const normalize of [true, false])
              answers[`${pooling ?? outputName} ${normalize}`] = [
                [...(await client.predict(photo, { params: { normalize, ...(pooling && { pooling }) } }))],
              ];
          await client.dispose();
        }
        return answers;
      },
      { candidate: `${engine}/${backend}` as const, input: image.input },
    );
    for (const kind of ['maps', 'mean', 'cls']) {
      expectVectors(found[`${kind} true`]!, image.unit[kind]!, `${kind}, unit`);
      expectVectors(found[`${kind} false`]!, image.raw[kind]!, `${kind}, raw`);
    }
  });
}
