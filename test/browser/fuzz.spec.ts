import { readdirSync, readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import { casesOf, Outcomes, SEED, type Kind } from '../fuzz/cases.ts';
import { expect, test } from './fixtures.ts';
import type { FuzzAnswer, FuzzRequest } from './workers/fuzz.worker.ts';

// A renderer that crashes ends no other test.
test.use({ reuseTab: false });

/**
 * Damaged models and images, opened and run by the engines on WASM and decoded by the browser, in one worker. It is
 * replaced only after an error that says that it must be. `npm run fuzz` runs many, the suite runs a few;
 * `test/unit/worker/models/fuzz.spec.ts` has the files that need no browser.
 */
const COUNT = Number(process.env['FUZZ_BROWSER_COUNT'] ?? 60);
const BATCH = 25;

const MODELS = new URL('../models/', import.meta.url);
const TFJS = [
  'affine',
  'affine.layers',
  'branch',
  'decisions',
  'dynamic_image',
  'tiny_classifier',
  'tiny_classifier_batch.layers',
  'two_inputs',
  'two_inputs.layers',
];
/**
 * Not `slow`: its weights say how often it loops, so a damaged file is a model like any other that runs for minutes;
 * the watchdog ends its worker.
 */
const SHARDS = readdirSync(new URL('tfjs/', MODELS)).filter(
  (name) => name.endsWith('.bin') && !/^(huge|slow)/.test(name),
);
const IMAGES = [
  '420.jpg',
  'cmyk.jpg',
  'exif-6.jpg',
  'progressive.jpg',
  'alpha.png',
  'palette.png',
  'rgb16.png',
  'animated.gif',
  'rgb.bmp',
  'lossy.webp',
  'alpha.webp',
  'lossy.avif',
  'drawing.svg',
];

/** The kinds, how much of the count each is, and who opens them. */
const KINDS: Readonly<Record<string, Kind & { share: number; engine: FuzzRequest['engine'] }>> = {
  'ONNX Runtime': {
    engine: 'onnx',
    share: 3,
    mutate: 'bytes',
    files: ['affine', 'branch', 'dtypes', 'float16', 'hardsigmoid', 'tiny_classifier', 'two_inputs', 'where'].map(
      (name) => `test/models/${name}.onnx`,
    ),
  },
  'TensorFlow.js': {
    engine: 'tfjs',
    share: 3,
    mutate: 'json',
    files: TFJS.map((name) => `test/models/tfjs/${name}.json`),
  },
  weights: { engine: 'tfjs', share: 1, mutate: 'bytes', files: SHARDS.map((name) => `test/models/tfjs/${name}`) },
  images: { engine: 'image', share: 3, mutate: 'bytes', files: IMAGES.map((name) => `test/goldens/images/${name}`) },
};

const read = (path: string): Uint8Array => new Uint8Array(readFileSync(new URL(`../../${path}`, import.meta.url)));

/** The files of a request, in base64, and the path of its main file. */
function filesOf(
  engine: FuzzRequest['engine'],
  seed: string,
  bytes: Uint8Array,
): { path: string; files: Record<string, string> } {
  const file = seed.split('/').at(-1)!;
  if (engine !== 'tfjs') return { path: file, files: { [file]: base64(bytes) } };
  const path = file.replace(/\.\d+of\d+\.bin$/, '.json');
  const prefix = path.slice(0, -'json'.length);
  const shards = SHARDS.filter((name) => name.startsWith(prefix) && /^\d+of/.test(name.slice(prefix.length)));
  const names = [path, ...shards].map((name) => [
    name,
    base64(name === file ? bytes : read(`test/models/tfjs/${name}`)),
  ]);
  return { path, files: Object.fromEntries(names) as Record<string, string> };
}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

test('damaged models and images @once: a result, or an error of the table, and the worker lives @full', async ({
  open,
}) => {
  test.setTimeout(3_600_000);
  const page = await open();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  const outcomes = new Outcomes();
  const shares = Object.values(KINDS).reduce((sum, { share }) => sum + share, 0);
  for (const [kind, definition] of Object.entries(KINDS)) {
    let batch: { name: string; request: ReturnType<typeof filesOf> & { engine: FuzzRequest['engine'] } }[] = [];
    const flush = async (): Promise<void> => {
      const answers = await runAll(
        page,
        batch.map(({ request }) => request),
      );
      for (const [index, { code, message }] of answers.entries()) {
        outcomes.add(kind, code);
        if (['untyped', 'hang', 'lost'].includes(code))
          outcomes.broken.push(`${batch[index]!.name}: ${code}: ${message}`);
      }
      batch = [];
    };
    for (const { name, seed, bytes } of casesOf(kind, definition, Math.ceil((COUNT * definition.share) / shares))) {
      batch.push({
        name: `${name} (${seed})`,
        request: { engine: definition.engine, ...filesOf(definition.engine, seed, bytes) },
      });
      if (batch.length === BATCH) await flush();
    }
    await flush();
  }
  if (process.env['FUZZ_BROWSER_COUNT']) console.log(`\nbrowser, seed ${SEED}:\n${outcomes.table()}`);
  expect(errors).toEqual([]);
  expect(outcomes.broken.slice(0, 12)).toEqual([]);
});

/**
 * Sends one file after another to a worker of the page. A worker that says that it is spent, that hangs or that ends is
 * replaced.
 */
async function runAll(page: Page, requests: readonly object[]): Promise<FuzzAnswer[]> {
  return await page.evaluate(async (list) => {
    const kept = window as unknown as { fuzzWorker?: Worker | undefined };
    const answers: FuzzAnswer[] = [];
    for (const { files, ...request } of list as { files: Record<string, string> }[]) {
      const worker = (kept.fuzzWorker ??= window.workers.fuzz());
      const bytes = Object.fromEntries(
        Object.entries(files).map(([path, text]) => [
          path,
          Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0)),
        ]),
      );
      const answer = await new Promise<FuzzAnswer>((resolve) => {
        const timer = setTimeout(() => resolve({ code: 'hang', message: 'no answer within 10 s' }), 10_000);
        const settle = (value: FuzzAnswer): void => {
          clearTimeout(timer);
          resolve(value);
        };
        worker.addEventListener('message', ({ data }: MessageEvent<FuzzAnswer>) => settle(data));
        worker.addEventListener('error', (event) => settle({ code: 'lost', message: event.message }));
        worker.postMessage({ ...request, files: bytes });
      });
      answers.push(answer);
      if (['hang', 'lost', 'worker-lost', 'device-lost', 'out-of-memory'].includes(answer.code)) {
        worker.terminate();
        kept.fuzzWorker = undefined;
      }
    }
    return answers;
  }, requests);
}
