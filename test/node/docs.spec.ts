import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { examples } from '../docs/page.ts';

const dist = new URL('../../dist/', import.meta.url).href;
const { connect } = (await import(`${dist}node.js`)) as typeof import('../../src/node.ts');

/**
 * The archives of docs/model-config.md as the page has them, each with a stand-in for its model: see test/docs/make.py.
 * Configs, handlers and decoders are the same in a tab; Node starts a worker and its engine in a fraction of the time.
 */
const COCO = examples.get('coco')!['index_to_name.json']!;
const numbered = (count: number, known: Record<number, string>): string =>
  JSON.stringify({
    ...Object.fromEntries(Array.from({ length: count }, (_, index) => [index, `class ${index}`])),
    ...known,
  });
const VOCABULARY = JSON.stringify(['<unk>', 'a', 'good', 'film', 'a good', 'good film']);
const BOX = {
  xmin: expect.closeTo(270 / 2, 3),
  ymin: expect.closeTo((295 - 160) / 2, 3),
  xmax: expect.closeTo(370 / 2, 3),
  ymax: expect.closeTo((345 - 160) / 2, 3),
};

interface Example {
  /** Beside the manifest, the config and the model. */
  readonly files?: Readonly<Record<string, string>>;
  /** What is passed; without one a gray photo of 320 × 160. */
  readonly input?: unknown;
  readonly expected: unknown;
  /** A second request, with these `params`. */
  readonly again?: { readonly params: Readonly<Record<string, unknown>>; readonly expected: unknown };
}

const detector = (files: string, score: number, box: object): Example => ({
  files: { 'index_to_name.json': files },
  expected: [{ label: 'cat', score: expect.closeTo(score, 4), box }],
});
const COCO91 = numbered(91, { 0: '__background__', 17: 'cat' });
const VOC = numbered(21, { 0: '__background__', 15: 'person' });
const near = (value: number): unknown => expect.closeTo(value, 4);
const softmax = (...logits: number[]): number[] =>
  logits.map((logit) => Math.exp(logit) / logits.reduce((sum, other) => sum + Math.exp(other), 0));
const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));
const text = (labels: Record<string, number>): unknown[] =>
  Object.entries(labels)
    .sort(([, a], [, b]) => b - a)
    .map(([label, value]) => ({ label, score: near(value) }));
/** An array that came back, as `summary` tells it. */
const filled = (type: string, value: number): unknown => ({
  type,
  length: 320 * 160,
  first: near(value),
  last: near(value),
});
const tokenizer = { 'tokenizer.json': readFileSync(new URL('../docs/tokenizer.json', import.meta.url), 'utf8') };

const CLASSES = {
  result: 'classes',
  width: 320,
  height: 160,
  labels: Object.values(JSON.parse(VOC) as object),
  classes: filled('Uint8Array', 15),
};
const EXAMPLES: Readonly<Record<string, Example>> = {
  mobilenet: {
    files: { 'index_to_name.json': numbered(1000, { 281: 'tabby' }) },
    expected: expect.arrayContaining([{ label: 'tabby', score: near(Math.exp(9) / (Math.exp(9) + 999)) }]),
  },
  'mobilenet-keras': {
    files: { 'index_to_name.json': numbered(1000, { 281: 'tabby' }) },
    expected: expect.arrayContaining([{ label: 'tabby', score: near(0.9) }]),
  },
  fasterrcnn: detector(COCO91, 0.9, { xmin: 10, ymin: 20, xmax: 110, ymax: 160 }),
  yolov5: detector(COCO, 0.95 * 0.9, BOX),
  // The labels are in the model's file.
  yolov8: { expected: [{ label: 'cat', score: near(0.9), box: BOX }] },
  // 208 ± 50 and 104 ± 25 pixels of 416, of an image that is 320 wide and begins at the top left.
  yolox: detector(COCO, 0.95 * 0.9, {
    xmin: near((158 * 320) / 416),
    ymin: near((79 * 320) / 416),
    xmax: near((258 * 320) / 416),
    ymax: near((129 * 320) / 416),
  }),
  // Anchor 0 has its center at 8 pixels and a side of 0.2 · 320 = 64, which is 0.1 · 30 · 64 = 192 pixels away: 200 ±
  // 32 of 320, and 104 ± 32 stretched to 160.
  ssdlite: detector(COCO91, Math.exp(9) / (Math.exp(9) + 90), {
    xmin: near(168),
    ymin: near(36),
    xmax: near(232),
    ymax: near(68),
  }),
  yolov10: detector(COCO, 0.9, BOX),
  detr: detector(COCO91, Math.exp(9) / (Math.exp(9) + 91), {
    xmin: near(120),
    ymin: near(60),
    xmax: near(200),
    ymax: near(100),
  }),
  rtdetr: detector(COCO, sigmoid(9), { xmin: near(120), ymin: near(60), xmax: near(200), ymax: near(100) }),
  nanodet: detector(COCO, 0.9, { xmin: 0, ymin: 0, xmax: near((56 * 320) / 416), ymax: near((56 * 160) / 416) }),
  deeplab: {
    files: { 'index_to_name.json': VOC },
    expected: {
      ...CLASSES,
      scores: filled('Float32Array', Math.exp(9) / (Math.exp(9) + 20)),
    },
    again: {
      params: { result: 'mask', foreground: 'person' },
      expected: {
        result: 'mask',
        width: 320,
        height: 160,
        label: 'person',
        mask: filled('Float32Array', Math.exp(9) / (Math.exp(9) + 20)),
      },
    },
  },
  'deeplab-argmax': {
    files: { 'index_to_name.json': VOC },
    expected: CLASSES,
  },
  u2net: {
    expected: { result: 'mask', width: 320, height: 160, label: 'foreground', mask: filled('Float32Array', 0.9) },
  },
  'pp-humanseg': {
    expected: { result: 'mask', width: 320, height: 160, label: 'person', mask: filled('Float32Array', 0.9) },
  },
  minilm: { files: tokenizer, input: 'a good film', expected: { 0: near(0.6), 1: near(0.8) } },
  'resnet-features': { expected: { 0: near(0.6), 1: near(0.8) } },
  'esrgan-slim': {
    expected: {
      width: 640,
      height: 320,
      data: { type: 'Uint8ClampedArray', length: 640 * 320 * 4, first: 255, last: 255 },
    },
  },
  distilbert: {
    files: tokenizer,
    input: 'a good film',
    expected: text({ POSITIVE: sigmoid(4), NEGATIVE: sigmoid(-4) }),
  },
  'toxic-bert': { files: tokenizer, input: 'you bad film', expected: text({ toxic: sigmoid(3), obscene: sigmoid(2) }) },
  'bert-pairs': {
    files: tokenizer,
    input: { text: 'a good film', textPair: 'good' },
    expected: text(
      Object.fromEntries(
        softmax(2, 0, -2).map((value, index) => [['entailment', 'neutral', 'contradiction'][index], value]),
      ),
    ),
  },
  'ag-news': {
    files: { 'source_vocab.json': VOCABULARY },
    input: 'A good film',
    expected: text(
      Object.fromEntries(
        softmax(0, 3, 0, 0).map((value, index) => [['World', 'Sports', 'Business', 'Sci/Tec'][index], value]),
      ),
    ),
  },
};

/** Serves an archive's files, and beside them the stand-ins for models. */
async function serve(files: Readonly<Record<string, string>>): Promise<{ origin: string } & AsyncDisposable> {
  const server = createServer((request, response) => {
    const path = request.url!.slice(1);
    const body =
      files[path] ?? (path.endsWith('.onnx') ? readFileSync(new URL(`../docs/${path}`, import.meta.url)) : undefined);
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/octet-stream' }).end(body);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await once(server.close(), 'close');
    },
  };
}

test('every archive of the page is run', () => {
  expect(Object.keys(EXAMPLES).sort()).toEqual([...examples.keys()].filter((name) => name !== 'coco').sort());
});

/** An answer with its arrays told by their ends. */
function summary(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer;
  return Object.fromEntries(
    Object.entries(answer as object).map(([key, value]: [string, unknown]) => [
      key,
      ArrayBuffer.isView(value)
        ? {
            type: value.constructor.name,
            length: (value as Uint8Array).length,
            first: (value as Uint8Array).at(0),
            last: (value as Uint8Array).at(-1),
          }
        : value,
    ]),
  );
}

for (const [name, { files = {}, input, expected, again }] of Object.entries(EXAMPLES)) {
  test(`the page's archive ${name}`, async () => {
    await using site = await serve({ ...examples.get(name), ...files });
    const warnings: string[] = [];
    await using client = connect({ model: `${site.origin}/` });
    client.on('warn', ({ message }) => warnings.push(message));
    await client.initialize();
    const photo = { data: new Uint8ClampedArray(320 * 160 * 4).fill(128), dims: [160, 320, 4] };
    const answers: unknown[] = [];
    for (const params of [{}, ...(again ? [again.params] : [])])
      answers.push(summary(await client.predict((input ?? photo) as never, { params })));
    expect(answers).toEqual([expected, ...(again ? [again.expected] : [])]);
    expect(warnings).toEqual([]);
  });
}
