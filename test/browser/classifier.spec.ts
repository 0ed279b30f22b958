import type { Classification } from '../../src/index.ts';
import { expect, FULL_ONLY, test } from './fixtures.ts';
import { readGoldens } from './goldens.ts';

interface Case {
  readonly sample?: string;
  readonly probabilities: readonly number[];
  readonly pixels?: readonly number[];
}

const digits = readGoldens<{ cases: Case[] }>('../models/digits.golden.json').cases;
const orientation = readGoldens<{ cases: Case[] }>('../models/orientation.golden.json').cases;
const DIGITS = readGoldens<Record<string, string>>('../../public/models/digits/index_to_name.json');
const SIDES = readGoldens<Record<string, string>>('../../public/models/orientation/index_to_name.json');

/** Chromium's and Pillow's decoders agree on PNG, so the whole way from the file may be compared. */
const TOLERANCE = 1e-4;

for (const engine of ['onnx', 'tfjs'] as const) {
  test(`digits by ${engine}: from the file to the probabilities as torchvision and ONNX Runtime in Python`, async ({
    open,
    backend,
    full,
  }) => {
    // There `explain.spec.ts` asks for a digit.
    test.skip(!full && (backend === 'webgpu' || `${engine}/${backend}` === 'tfjs/webgl'), FULL_ONLY);
    const page = await open();
    const samples = digits.filter(({ sample }) => sample);
    expect(samples.length).toBeGreaterThanOrEqual(10);
    const answers = await page.evaluate(
      async ({ candidate, names }) => {
        const client = await window.tabserve.load('/models/digits/', {
          handler: 'image_classifier',
          backends: [candidate],
        });
        const blobs = await Promise.all(
          names.map(async (name) => await (await fetch(`/models/digits/samples/${name}`)).blob()),
        );
        return {
          ran: `${client.backend!.engine}/${client.backend!.name}`,
          rows: (await client.handle(blobs, { params: { topK: 10 } })) as Classification[],
        };
      },
      { candidate: `${engine}/${backend}` as const, names: samples.map(({ sample }) => sample!) },
    );
    expect(answers.ran).toBe(`${engine}/${backend}`);
    for (const [index, { probabilities }] of samples.entries())
      expectProbabilities(answers.rows[index]!, probabilities, DIGITS);
  });

  test(`digits by ${engine}: from 8-bit pixels, one by one @once`, async ({ open, backend }) => {
    const page = await open();
    const cases = digits.filter(({ sample, pixels }) => !sample && pixels).slice(0, 12);
    const answers = await page.evaluate(
      async ({ candidate, pixels }) => {
        const client = await window.tabserve.load('/models/digits/', {
          handler: 'image_classifier',
          backends: [candidate],
        });
        return await Promise.all(
          pixels.map((data) =>
            client.predict({ data: Uint8Array.from(data), dims: [28, 28, 1] }, { params: { topK: 10 } }),
          ),
        );
      },
      { candidate: `${engine}/${backend}` as const, pixels: cases.map(({ pixels }) => pixels!) },
    );
    for (const [index, { probabilities }] of cases.entries())
      expectProbabilities(answers[index]!, probabilities, DIGITS);
  });
}

for (const engine of ['onnx', 'tfjs'] as const) {
  test(`orientation by ${engine}: a pretrained model from a package${engine === 'onnx' ? ' @wasm' : ' @full'}`, async ({
    open,
    backend,
  }) => {
    const candidate = `${engine}/${backend}` as const;
    test.skip(candidate === 'onnx/webgl', 'ONNX Runtime WebGL: no HardSigmoid');
    // SwiftShader takes most of a minute to compile this model's shaders.
    test.slow(backend !== 'wasm');
    const page = await open();
    const some = backend === 'wasm' ? orientation : orientation.slice(0, 3);
    const answers = await page.evaluate(
      async ({ candidate, names }) => {
        const client = await window.tabserve.load('/models/orientation/', {
          handler: 'image_classifier',
          backends: [candidate],
        });
        const blobs = await Promise.all(
          names.map(async (name) => await (await fetch(`/models/orientation/samples/${name}`)).blob()),
        );
        return {
          ran: `${client.backend!.engine}/${client.backend!.name}`,
          rows: (await client.handle(blobs)) as Classification[],
        };
      },
      { candidate, names: some.map(({ sample }) => sample!) },
    );
    expect(answers.ran).toBe(candidate);
    for (const [index, { probabilities }] of some.entries())
      expectProbabilities(answers.rows[index]!, probabilities, SIDES);
  });
}

test('every kind of input gives the same answer @once', async ({ open, backend }) => {
  const page = await open();
  const answers = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] });
    const blob = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
    const bitmap = await createImageBitmap(blob);
    const canvas = Object.assign(document.createElement('canvas'), { width: bitmap.width, height: bitmap.height });
    const drawing = canvas.getContext('2d')!;
    drawing.drawImage(bitmap, 0, 0);
    const pixels = drawing.getImageData(0, 0, canvas.width, canvas.height);
    const offscreen = new OffscreenCanvas(bitmap.width, bitmap.height);
    offscreen.getContext('2d')!.drawImage(bitmap, 0, 0);
    const image = Object.assign(new Image(), { src: URL.createObjectURL(blob) });
    const frame = new VideoFrame(bitmap, { timestamp: 0 });
    const inputs = {
      blob,
      file: new File([blob], 'three.png'),
      bitmap,
      canvas,
      offscreen,
      image,
      frame,
      pixels,
      rgba: { data: pixels.data, dims: [canvas.height, canvas.width, 4] },
      data: { data: blob },
      body: { body: canvas },
    };
    const top = Object.fromEntries(
      await Promise.all(
        Object.entries(inputs).map(async ([name, input]) => [name, await client.predict(input)] as const),
      ),
    );
    // Nothing that the caller has passed was taken from it.
    const kept = bitmap.width > 0 && frame.displayWidth > 0 && pixels.data.length > 0 && offscreen.width > 0;
    frame.close();
    // The image takes its time; the array beside it is taken at the call.
    const together = client.handle([inputs.rgba, image]);
    pixels.data.fill(0);
    const [besideImage] = (await together) as Classification[];
    return { top: { ...top, besideImage: besideImage! }, kept };
  }, backend);
  expect(answers.kept).toBe(true);
  const [first, ...others] = Object.values(answers.top);
  expect(first![0]!.label).toBe('three');
  for (const other of others)
    for (const { label, score } of first!)
      expect(Math.abs(scoreOf(other, label) - score)).toBeLessThanOrEqual(TOLERANCE);
});

test('one array for many requests: each takes what the array holds at its call @once', async ({ open, backend }) => {
  const page = await open();
  const [alone, together] = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/models/digits/', {
      handler: 'image_classifier',
      backends: [backend],
      jobQueueSize: 100,
    });
    const shared = new Float32Array(28 * 28);
    const ask = (digit: number) => {
      shared.forEach((_, at) => (shared[at] = ((at * (digit + 3)) % 29) / 10 - 1));
      return client.predict({ data: shared, dims: [1, 28, 28] });
    };
    const digits = Array.from({ length: 60 }, (_, at) => at % 12);
    const alone: Classification[] = [];
    for (const digit of digits) alone.push(await ask(digit));
    // These share messages, where the model is quick.
    return [alone, await Promise.all(digits.map(ask))];
  }, backend);
  expect(new Set(alone!.map((answer) => JSON.stringify(answer))).size).toBe(12);
  expect(together).toEqual(alone);
});

test('memory that cannot be moved fails its own request, and none that is made with it @once @full', async ({
  open,
  backend,
}) => {
  const page = await open();
  const [right, together] = await page.evaluate(async (backend) => {
    const sizes: number[] = [];
    window.Worker = class extends Worker {
      override postMessage(...args: unknown[]): void {
        const { argumentList } = (args[0] ?? {}) as { argumentList?: { value: unknown }[] };
        const [first] = argumentList ?? [];
        if (Array.isArray(first?.value)) sizes.push(first.value.length);
        super.postMessage(...(args as [unknown]));
      }
    };
    const client = await window.tabserve.load('/models/digits/', {
      handler: 'image_classifier',
      backends: [backend],
      jobQueueSize: 100,
    });
    const ask = async (data: Float32Array, transfer = false) =>
      await client.predict({ data, dims: [1, 28, 28] }, { transfer }).catch((error: { code: string }) => error.code);
    const input = Float32Array.from({ length: 28 * 28 }, (_, at) => (at % 29) / 10 - 1);
    const right = await ask(input);
    const { buffer } = new WebAssembly.Memory({ initial: 1 });
    const together: unknown[] = [];
    // On WASM, until four have shared a message, which quick ones do.
    for (let round = 0; round < 50 && sizes.every((size) => size < 4); round++) {
      for (let times = 0; times < 20; times++) await ask(input);
      const all = Array.from({ length: 40 }, (_, at) =>
        at % 10 === 5 ? ask(new Float32Array(buffer, 0, 28 * 28), true) : ask(input),
      );
      together.push(...(await Promise.all(all)));
      if (backend !== 'wasm') break;
    }
    return [right, together];
  }, backend);
  expect(right).toHaveLength(5);
  for (const [at, answer] of together.entries()) expect(answer).toEqual(at % 10 === 5 ? 'not-cloneable' : right);
});

test('a handler of one’s own overrides one stage and keeps the rest @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect<import('./workers/shouting.worker.ts').Shouting>(window.workers.shouting, {
      model: '/models/digits/',
      backends: [backend],
    });
    await client.initialize();
    const { top, stages } = await client.predict(await (await fetch('/models/digits/samples/drawn-7.png')).blob());
    return { top, stages, backend: client.backend!.name };
  }, backend);
  expect(answer).toEqual({ top: 'SEVEN', stages: ['digits', '1'], backend });
});

test('a model file with options needs no archive @once', async ({ open, backend }) => {
  const page = await open();
  const answers = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/test/models/tiny_classifier.onnx', {
      handler: 'image_classifier',
      backends: [backend],
      config: {
        handler: {
          imageProcessing: [{ resize: [8, 8] }, 'toTensor'],
          labels: { 0: 'ant', 1: 'bee', 4: 'cat' },
          topK: 99,
        },
      },
    });
    return await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] });
  }, backend);
  // k is clamped to the five classes; the two that have no label are their index.
  expect(answers.map(({ label }) => label).sort()).toEqual(['2', '3', 'ant', 'bee', 'cat']);
  expect(answers.reduce((sum, { score }) => sum + score, 0)).toBeCloseTo(1, 6);
});

test('photos of all eight EXIF orientations are turned upright, or stay as coded if so configured; transparency shows the background @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answers = await page.evaluate(async (backend) => {
    const load = (handler: Record<string, unknown>) =>
      window.tabserve.load('/test/models/tiny-archive/', {
        handler: 'image_classifier',
        backends: [backend],
        config: { handler: { topK: 5, ...handler } },
      });
    const fetchBlob = async (name: string) => await (await fetch(`/test/goldens/images/${name}`)).blob();
    const draw = (bitmap: ImageBitmap, background?: string) => {
      const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
      const drawing = canvas.getContext('2d')!;
      if (background) Object.assign(drawing, { fillStyle: background }).fillRect(0, 0, canvas.width, canvas.height);
      drawing.drawImage(bitmap, 0, 0);
      return canvas;
    };
    const upright = await load({});
    const coded = await load({ exifOrientation: false });
    const red = await load({ background: [255, 0, 0] });
    const photos = [];
    for (let tag = 1; tag <= 8; tag++) {
      const photo = await fetchBlob(`exif-${tag}.jpg`);
      // The browser's own upright pixels.
      const drawn = draw(await createImageBitmap(photo));
      photos.push({
        upright: await upright.predict(photo),
        expected: await upright.predict(drawn),
        coded: await coded.predict(photo),
      });
    }
    const alpha = await fetchBlob('alpha.png');
    const bitmap = await createImageBitmap(alpha);
    const transparent = {
      white: await upright.predict(alpha),
      onWhite: await upright.predict(draw(bitmap, '#fff')),
      red: await red.predict(alpha),
      onRed: await red.predict(draw(bitmap, '#f00')),
    };
    return { photos, transparent };
  }, backend);
  const close = (a: Classification, b: Classification, tolerance: number) =>
    a.every(({ label, score }) => Math.abs(scoreOf(b, label) - score) <= tolerance);
  for (const [index, { upright, expected, coded }] of answers.photos.entries()) {
    expect(close(upright, expected, TOLERANCE), `exif-${index + 1}.jpg`).toBe(true);
    expect(close(coded, answers.photos[0]!.upright, TOLERANCE), `exif-${index + 1}.jpg, as coded`).toBe(true);
  }
  expect(answers.photos.some(({ upright }) => !close(upright, answers.photos[0]!.upright, TOLERANCE))).toBe(true);
  // A canvas composites with rounding of its own.
  expect(close(answers.transparent.white, answers.transparent.onWhite, 5e-3)).toBe(true);
  expect(close(answers.transparent.red, answers.transparent.onRed, 5e-3)).toBe(true);
  expect(close(answers.transparent.red, answers.transparent.white, 5e-3)).toBe(false);
});

function expectProbabilities(
  got: Classification,
  expected: readonly number[],
  labels: Readonly<Record<string, string>>,
): void {
  for (const [index, probability] of expected.entries()) {
    const value = scoreOf(got, labels[index] ?? String(index));
    expect(Math.abs(value - probability), `${labels[index]}: ${value} for ${probability}`).toBeLessThanOrEqual(
      TOLERANCE,
    );
  }
}

function scoreOf(classes: Classification, wanted: string): number {
  return classes.find(({ label }) => label === wanted)?.score ?? NaN;
}
