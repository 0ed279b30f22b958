import { expect, test } from '@playwright/test';
import { transformWithOxc } from 'vite';
import type { Demo, Run } from '../../../demo/demo.ts';
import { literal } from '../../../demo/demos/code.ts';
import { detection } from '../../../demo/demos/detection.ts';
import { digits } from '../../../demo/demos/digits.ts';
import { language } from '../../../demo/demos/language.ts';
import { orientation } from '../../../demo/demos/orientation.ts';
import { segmentation } from '../../../demo/demos/segmentation.ts';
import { textInPhotos } from '../../../demo/demos/text-in-photos.ts';
import { upscaling } from '../../../demo/demos/upscaling.ts';
import { shareOf } from '../../../demo/outputs/share.ts';
import { digitReasons, photoReasons } from '../../../demo/reasons/demos.ts';
import { inWords } from '../../../demo/panels/words.ts';
import { ERROR_CODES, TabServeError, type ErrorCode } from '../../../src/contract/errors.ts';

const RUN: Run = {
  archive: 'https://site.example/models/one/',
  backends: undefined,
  source: { kind: 'sample', url: 'https://site.example/samples/one.jpg' },
  params: {},
  settings: {},
};

interface Ran {
  readonly loaded: readonly unknown[];
  readonly predicted: readonly (readonly unknown[])[];
  readonly logged: readonly unknown[];
  readonly drawn: readonly string[];
  readonly disposed: boolean;
}

/** Runs a demo's code as it stands, with stand-ins for the package and the browser. */
async function runSnippet(demo: Demo, run: Run, answer: (call: number) => Promise<unknown>): Promise<Ran> {
  const ran = {
    loaded: [] as unknown[],
    predicted: [] as unknown[][],
    logged: [] as unknown[],
    drawn: [] as string[],
    disposed: false,
  };
  const client: Record<string, unknown> = {
    backend: 'the backend',
    predict: async (...input: unknown[]) => await answer(ran.predicted.push(input)),
    async *frames(...input: unknown[]) {
      for (let frame = 0; frame < 3; frame++)
        yield {
          result: await answer(ran.predicted.push(input)),
          frame: { displayWidth: 300, displayHeight: 200 },
        };
    },
    openSequence: () => client,
    explain: async (...input: unknown[]) => await answer(ran.predicted.push(input)),
    dispose: async () => void (ran.disposed = true),
  };
  const context = new Proxy(
    {},
    {
      get: (_, name) =>
        name === 'createLinearGradient' ? () => ({ addColorStop() {} }) : () => ran.drawn.push(String(name)),
      set: (_, name, value) => ran.drawn.push(`${String(name)} = ${value}`) > 0,
    },
  );
  const video = { async play() {} };
  const canvas = { getContext: () => context };
  const globals = {
    load: async (...how: unknown[]) => (ran.loaded.push(...how), client),
    paintMask: (mask: unknown) => mask,
    paintPicture: (picture: unknown) => picture,
    paintHeatMap: (explanation: unknown) => explanation,
    location: { href: 'https://site.example/app/' },
    console: { log: (first: unknown) => ran.logged.push(first) },
    document: {
      createElement: (tag: string) => (tag === 'video' ? video : canvas),
      querySelector: (selector: string) => (selector.startsWith('input') ? { files: ['the file'] } : selector),
      body: { append: () => ran.drawn.push('shown') },
    },
    navigator: { mediaDevices: { getUserMedia: async () => 'a stream' } },
    createImageBitmap: async () => ({ width: 300, height: 200 }),
    fetch: async (url: URL) => ({ blob: async () => url }),
    OffscreenCanvas: function (width: number, height: number) {
      return { ...canvas, width, height, what: 'turned' };
    },
  };
  const { code } = await transformWithOxc(demo.snippet(run).replace(/^import .*$/m, ''), 'sample.ts');
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<void>;
  await new AsyncFunction(...Object.keys(globals), code)(...Object.values(globals));
  return ran;
}

test('the code of each demo loads what was loaded, predicts the sample with the parameters in force, and disposes', async () => {
  for (const [demo, handler] of [
    [detection, 'object_detector'],
    [segmentation, 'image_segmenter'],
    [digits, 'image_classifier'],
    [orientation, 'image_classifier'],
    [upscaling, 'image_to_image'],
    [textInPhotos, 'text_reader'],
  ] as const) {
    const run: Run = { ...RUN, backends: ['tfjs/wasm'], params: { scoreThreshold: 0.45 } };
    const { loaded, predicted, disposed } = await runSnippet(demo, run, async () => []);
    expect(loaded).toEqual([RUN.archive, { handler, backends: ['tfjs/wasm'] }]);
    expect(predicted.map(([input, options]) => [String(input), options])).toEqual([
      ['https://site.example/samples/one.jpg', { params: { scoreThreshold: 0.45 } }],
    ]);
    expect(disposed).toBe(true);
  }
});

test('the code of the reasons explains with the parameters in force', async () => {
  const run: Run = { ...RUN, params: { method: 'rise', masks: 300, target: 'cat' } };
  for (const [demo, handler] of [
    [photoReasons(), 'object_detector'],
    [digitReasons(), 'image_classifier'],
  ] as const) {
    const { loaded, predicted, drawn, disposed } = await runSnippet(demo, run, async () => ({ width: 3, height: 2 }));
    expect(loaded).toEqual([RUN.archive, { handler }]);
    expect(predicted).toEqual([[expect.any(URL), { ...run.params, onProgress: expect.any(Function) }]]);
    expect(drawn).toEqual(['putImageData', 'shown']);
    expect(disposed).toBe(true);
  }
});

test('the code of the language demo holds the text, whatever it is', async () => {
  const text = 'C’est l\'été. "Oui"\n\\ `${x}`';
  const { predicted, logged } = await runSnippet(
    language,
    { ...RUN, source: { kind: 'text', text } },
    async () => 'the answer',
  );
  expect(predicted).toEqual([[text]]);
  expect(logged).toEqual(['the answer']);
});

test('the code of the orientation demo turns the image where the page turned it', async () => {
  const turned = { ...RUN, settings: { turned: 'yes' } };
  const { predicted, drawn } = await runSnippet(orientation, turned, async () => []);
  expect(predicted).toEqual([[expect.objectContaining({ width: 300, height: 200, what: 'turned' })]]);
  expect(drawn).toEqual(['translate', 'rotate', 'drawImage']);
});

test('the code of the background demo draws the chosen background', async () => {
  const draw = async (backdrop: string): Promise<readonly string[]> =>
    (await runSnippet(segmentation, { ...RUN, settings: { backdrop, color: '#123456' } }, async () => 'a mask')).drawn;
  const person = [
    'drawImage',
    'globalCompositeOperation = destination-in',
    'drawImage',
    'globalCompositeOperation = destination-over',
  ];
  expect(await draw('blur')).toEqual([...person, 'drawImage', 'shown']);
  expect(await draw('color')).toEqual([...person, 'fillStyle = #123456', 'fillRect', 'shown']);
  expect(await draw('scenery')).toEqual([...person, 'fillStyle = [object Object]', 'fillRect', 'shown']);
  expect(await draw('mask')).toEqual(['fillRect', 'drawImage', 'shown']);
});

test('the code shows the beginning of the result', () => {
  const result = [{ label: 'cat', score: 0.98765, box: { xmin: 1.00049, ymin: 2, xmax: 3, ymax: 4 } }, {}];
  expect(detection.snippet({ ...RUN, result })).toContain(
    "// [{ label: 'cat', score: 0.988, box: { xmin: 1, ymin: 2, xmax: 3, ymax: 4 } }, …]\n",
  );
  expect(literal("it's")).toBe(String.raw`'it\'s'`);
});

test.describe('the code for a camera', () => {
  const camera: Run = { ...RUN, source: { kind: 'camera' } };
  const answer = async (call: number): Promise<unknown> => `answer ${call}`;

  test('logs what is found in each frame, with ids', async () => {
    const params = { scoreThreshold: 0.4 };
    const run = { ...camera, archive: 'https://site.example/models/nanodet/', params };
    const { loaded, predicted, logged, disposed } = await runSnippet(detection, run, answer);
    expect(loaded).toEqual(['https://site.example/models/tracker/', { handler: 'object_tracker' }]);
    expect(predicted[0]?.[1]).toEqual({ params: { trackThreshold: 0.4 } });
    expect(logged).toEqual(['answer 1', 'answer 2', 'answer 3']);
    expect(disposed).toBe(true);
  });

  test('draws the person of each frame over a blurred copy of the frame', async () => {
    const { drawn, disposed } = await runSnippet(segmentation, camera, answer);
    expect(drawn.filter((what) => what === 'drawImage')).toHaveLength(3 * 3);
    expect(disposed).toBe(true);
  });
});

test('every error is in a visitor’s words: two sentences without the code, which is in the folded message', () => {
  for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
    const { text, technical } = inWords(new TabServeError(code, 'the technical message'), 'cat.jpg');
    expect(text).toMatch(/^[A-Zc].+\. .+\.$/);
    expect(text).not.toContain('technical');
    expect(technical).toBe(`${code}: the technical message`);
  }
});

test('a person’s share of a picture is the pixels that are more likely theirs than not', () => {
  expect(shareOf({ mask: Float32Array.of(0.1, 0.5, 0.51, 1) })).toBe(0.5);
  expect(shareOf({ mask: Float32Array.of(0.4, 0.4) })).toBe(0);
});
