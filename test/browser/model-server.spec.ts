import { readFileSync } from 'node:fs';
import { expect, test } from './fixtures.ts';

/**
 * The model server over real models: TorchServe's answers and tensors over HTTP, and versions that change under load.
 * What needs no model is in `unit/serving-*.spec.ts`.
 */

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'));
const digits = (
  read('../models/digits.golden.json') as {
    cases: readonly { sample?: string; digit: number; logits: readonly number[] }[];
  }
).cases.filter(({ sample }) => sample);
/** Texts, and the logits of TorchServe's own functions and weights: `test/models/text/make.py`. */
const news = (
  read('../models/text/goldens.json') as {
    torchserve: { bigrams: readonly { text: string }[]; logits: readonly (readonly number[])[] };
  }
).torchserve;
const NEWS = ['World', 'Sports', 'Business', 'Sci/Tech'];
const NAMES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

function softmax(logits: readonly number[]): number[] {
  const exponents = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  const sum = exponents.reduce((total, value) => total + value, 0);
  return exponents.map((value) => value / sum);
}

test('HTTP over real models: TorchServe’s JSON within 10⁻³, tensors as JSON and as bytes @once', async ({ open }) => {
  const page = await open();
  const answers = await page.evaluate(
    async ({ samples, texts }) => {
      const server = new window.ModelServer({ load: window.tabserve.load });
      const options = { backends: ['wasm'] } as const;
      await server.register('/models/digits/', { name: 'digits', ...options, handler: 'image_classifier' });
      await server.register('/test/models/text/embedding-bag/', {
        name: 'news',
        ...options,
        handler: 'text_classifier',
      });
      const send = (path: string, init?: RequestInit) => server.fetch(new Request(path, init));
      const post = async (path: string, body: BodyInit, headers?: HeadersInit) =>
        await send(path, { method: 'POST', body, ...(headers && { headers }) });
      const pictures = await Promise.all(
        samples.map(async (name) => (await fetch(`/models/digits/samples/${name}`)).blob()),
      );
      const form = new FormData();
      form.append('data', pictures[0]!, 'digit.png');
      const base64 = btoa(String.fromCharCode(...new Uint8Array(await pictures[0]!.arrayBuffer())));
      const input = {
        name: 'image',
        shape: [1, 1, 28, 28],
        datatype: 'FP32',
        data: Array.from({ length: 784 }, (_, at) => ((at * 7) % 13) / 13),
      };
      const infer = (binary: boolean) =>
        post(
          '/v2/models/digits/infer',
          JSON.stringify({ inputs: [input], parameters: { binary_data_output: binary } }),
        );
      const binary = await infer(true);
      const bytes = await binary.arrayBuffer();
      const wrong = await post(
        '/v2/models/digits/infer',
        JSON.stringify({ inputs: [{ ...input, shape: [1, 1, 784] }] }),
      );
      const result = {
        pictures: await Promise.all(
          pictures.map(async (picture) => (await post('/predictions/digits', picture)).json()),
        ),
        texts: await Promise.all(
          texts.map(async (text) => (await post('/predictions/news', text, { 'Content-Type': 'text/plain' })).json()),
        ),
        form: await (await post('/predictions/digits', form)).json(),
        base64: await (
          await post('/v1/models/digits:predict', JSON.stringify({ instances: [{ data: base64 }] }))
        ).json(),
        metadata: await (await send('/v2/models/digits')).json(),
        json: await (await infer(false)).json(),
        binary: [...new Float32Array(bytes.slice(Number(binary.headers.get('Inference-Header-Content-Length'))))],
        wrong: [wrong.status, ((await wrong.json()) as { error: string }).error],
        garbage: await (await post('/predictions/digits', new Blob(['no image']))).json(),
        metrics: await (await send('/metrics?name[]=ts_inference_requests_total')).text(),
        described: await (await send('/models/digits')).json(),
      };
      await server.dispose();
      return result;
    },
    { samples: digits.map(({ sample }) => sample!), texts: news.bigrams.map(({ text }) => text) },
  );
  const wrong = (record: Record<string, number>, labels: readonly string[], probabilities: readonly number[]) =>
    Object.entries(record).filter(
      ([label, score]) => !(Math.abs(score - probabilities[labels.indexOf(label)]!) <= 1e-3),
    );
  expect(answers.pictures.length).toBeGreaterThan(5);
  for (const [index, { digit, logits }] of digits.entries()) {
    const record = answers.pictures[index] as Record<string, number>;
    expect(Object.keys(record).length).toBe(5);
    expect(Math.max(...Object.values(record))).toBe(record[NAMES[digit]!]);
    expect(wrong(record, NAMES, softmax(logits))).toEqual([]);
  }
  for (const [index, logits] of news.logits.entries()) {
    expect(Object.keys(answers.texts[index] as object).sort()).toEqual([...NEWS].sort());
    expect(wrong(answers.texts[index] as Record<string, number>, NEWS, softmax(logits))).toEqual([]);
  }
  expect(answers.form).toEqual(answers.pictures[0]);
  expect(answers.base64).toEqual({ predictions: [answers.pictures[0]] });
  expect(answers.metadata).toMatchObject({ inputs: [{ name: 'image', datatype: 'FP32', shape: [1, 1, 28, 28] }] });
  const [output] = (answers.json as { outputs: { shape: number[]; data: number[] }[] }).outputs;
  expect(output!.shape).toEqual([1, 10]);
  expect(output!.data.length).toBe(10);
  expect(answers.binary).toEqual(output!.data.map((value) => Math.fround(value)));
  expect(answers.wrong).toEqual([400, expect.stringContaining('Input "image" expects')]);
  expect(answers.garbage).toMatchObject({ code: 400, type: 'BadRequestException' });
  expect(answers.metrics).toContain('{model_name="digits",model_version="1.0",outcome="ok"}');
  expect(answers.described).toMatchObject([
    { modelName: 'digits', modelUrl: '/models/digits/', workers: [{ status: 'READY' }] },
  ]);
});

test('versions are swapped under load: every request is answered, and old workers end @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const server = new window.ModelServer({ load: window.tabserve.load });
    const options = { name: 'digits', handler: 'image_classifier', backends: ['wasm'] } as const;
    await server.register('/models/digits/', { ...options, version: '0' });
    const picture = await (await fetch('/models/digits/samples/digit-0.png')).blob();
    const statuses: number[] = [];
    const load = { isRunning: true };
    const clients = Array.from({ length: 4 }, async () => {
      while (load.isRunning) {
        const response = await server.fetch(new Request('/predictions/digits', { method: 'POST', body: picture }));
        await response.json();
        statuses.push(response.status);
      }
    });
    const versions: string[] = [];
    for (let version = 1; version <= 3; version++) {
      await server.register('/models/digits/', { ...options, version: String(version) });
      server.setDefault('digits', String(version));
      await server.unregister('digits', String(version - 1));
      versions.push(...server.list()[0]!.versions);
    }
    const before = statuses.length;
    while (statuses.length < before + 20) await new Promise((resolve) => setTimeout(resolve, 10));
    load.isRunning = false;
    await Promise.all(clients);
    return { statuses, versions };
  });
  expect(answer.versions).toEqual(['1', '2', '3']);
  expect(answer.statuses.length).toBeGreaterThan(40);
  expect(answer.statuses.filter((status) => status !== 200)).toEqual([]);
  await expect.poll(() => page.workers().length).toBe(1);
});
