import { readFileSync } from 'node:fs';
import { expect, FULL_ONLY, test } from './fixtures.ts';

/** PaddleOCR's pipeline in Python, on the same photos: test/goldens/ocr/make.py. */
interface Line {
  readonly text: string;
  readonly score: number;
  readonly box: readonly (readonly [x: number, y: number])[];
}
const goldens = JSON.parse(readFileSync(new URL('../models/ocr.golden.json', import.meta.url), 'utf8')) as Record<
  string,
  { readonly lines: readonly Line[] }
>;

/**
 * Measured on WASM: 2 pixels and 0.003. Browsers decode JPEG and WebP otherwise than OpenCV, by a gray level or two.
 */
const TOLERANCE = { pixels: 2, score: 0.01 };

/** The photo of `npm test`: it is upside down. */
const FEW = ['letter-upside-down.png'];

test('text in photos is what PaddleOCR reads in Python, character for character', async ({ open, backend, full }) => {
  test.skip(backend !== 'wasm', 'A photo takes minutes on a GPU in software: the tests below prove the models there');
  test.slow();
  const page = await open();
  const samples = full ? Object.keys(goldens) : FEW;
  const answers = await page.evaluate(
    async ({ samples, backend }) => {
      const progress: (readonly [string, number | undefined])[] = [];
      const reader = await window.tabserve.load('/models/ocr/', {
        handler: 'text_reader',
        backends: [backend],
        onProgress: ({ file, overall }) => progress.push([file, overall.total]),
      });
      const nodes: unknown[] = [];
      reader.on('response', (response) => nodes.push(response.nodes));
      const lines: Record<string, readonly Line[]> = {};
      for (const name of samples) {
        const photo = await (await fetch(`/models/ocr/samples/${name}`)).blob();
        lines[name] = (await reader.predict(photo)) as unknown as readonly Line[];
      }
      const parts: unknown[] = [];
      const photo = await (await fetch(`/models/ocr/samples/${samples.at(-1)!}`)).blob();
      for await (const part of reader.stream(photo)) parts.push(part);
      const blank = new ImageData(300, 200);
      const empty = await reader.predict(blank);
      const noise = new ImageData(400, 300);
      for (let index = 0; index < noise.data.length; index++) noise.data[index] = (index * 7919) % 256;
      const found = await reader.predict(noise);
      const { backend: used } = reader;
      const info = await reader.describe();
      await reader.dispose();
      return {
        lines,
        nodes,
        parts,
        empty,
        found,
        used,
        described: Object.keys(info.nodes!),
        last: progress.at(-1),
        files: [...new Set(progress.map(([file]) => file))],
      };
    },
    { samples, backend },
  );
  let [pixels, score] = [0, 0];
  for (const name of samples) {
    const [found, expected] = [answers.lines[name]!, goldens[name]!.lines];
    expect(
      found.map(({ text }) => text),
      name,
    ).toEqual(expected.map(({ text }) => text));
    for (const [index, line] of found.entries()) {
      score = Math.max(score, Math.abs(line.score - expected[index]!.score));
      for (const [corner, [x, y]] of line.box.entries()) {
        const [u, v] = expected[index]!.box[corner]!;
        pixels = Math.max(pixels, Math.abs(x - u), Math.abs(y - v));
      }
    }
  }
  test.info().annotations.push({ type: 'measured', description: `${pixels} pixels, score ${score.toFixed(4)}` });
  expect(pixels).toBeLessThanOrEqual(TOLERANCE.pixels);
  expect(score).toBeLessThanOrEqual(TOLERANCE.score);
  expect(answers.used).toMatchObject({ name: backend, proof: 'golden' });
  expect(answers.described.sort()).toEqual(['detect', 'orient', 'recognize']);
  expect(answers.nodes[0]).toMatchObject({ detect: { inference: expect.any(Number) }, orient: {}, recognize: {} });
  expect(answers.files).toEqual(
    expect.arrayContaining(['detect/model.onnx', 'recognize/model.onnx', 'recognize/characters.txt']),
  );
  expect(answers.parts.slice(0, -1)).toHaveLength((answers.parts.at(-1) as unknown[]).length);
  expect(answers.empty).toEqual([]);
  expect(Array.isArray(answers.found)).toBe(true);
});

test('WebGPU reproduces the golden example of each node', async ({ open, backend, full }) => {
  test.skip(
    backend !== 'webgpu' || !full,
    backend === 'webgpu' ? FULL_ONLY : 'Another test reads photos there, or tells why not',
  );
  test.slow();
  const page = await open();
  const used = await page.evaluate(async () => {
    const reader = await window.tabserve.load('/models/ocr/', { backends: ['onnx/webgpu'], startupTimeout: 250 });
    const { backend } = reader;
    await reader.dispose();
    return backend;
  });
  expect(used).toMatchObject({ name: 'webgpu', proof: 'golden' });
});

test('a backend that cannot run one node is skipped with a reason that names the node', async ({ open, backend }) => {
  test.skip(backend !== 'webgl', 'ONNX Runtime runs the models on the other backends');
  const page = await open();
  const failure = await page.evaluate(
    async () => await window.failure(window.tabserve.load('/models/ocr/', { backends: ['onnx/webgl'] })),
  );
  expect(failure).toMatchObject({ code: 'no-backend' });
  expect(failure.message).toMatch(/onnx\/webgl.*Node "(detect|orient|recognize)": /);
});
