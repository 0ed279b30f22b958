import * as make from '../hostile-images.ts';
import { expect, test } from './fixtures.ts';
import { processMemory } from './process-memory.ts';

/** What users do wrong: each a clear, typed error; nothing hangs; the next call works. */
test.describe('a model that cannot be loaded', () => {
  for (const [what, url, code] of [
    ['a 404', '/test/models/missing/', 'model-not-found'],
    ['a page of HTML instead of weights', '/test/browser/pages/tabserve.html?.onnx', 'model-not-found'],
    ['weights that are not there', '/nowhere/model.onnx', 'model-not-found'],
    ['a packed archive that is not there', '/test/models/squeezenet.mar', 'model-not-found'],
  ] as const) {
    test(`${what} @once`, async ({ open }) => {
      const page = await open();
      const failure = await page.evaluate(
        async (url) => await window.failure(window.tabserve.load(url, { handler: 'base_handler', backends: ['wasm'] })),
        url.replace('?.onnx', '') + (url.includes('?') ? '#.onnx' : ''),
      );
      expect(failure).toMatchObject({ name: 'TabServeError', code });
      expect(failure.message).toContain(url.split('?')[0]!.split('/').findLast(Boolean));
    });
  }

  // Each engine reads the file itself.
  test('bytes that are no ONNX model', async ({ open, backend }) => {
    const page = await open();
    const codes = await page.evaluate(async (backend) => {
      const codes: Record<string, string> = {};
      for (const file of ['truncated', 'garbage', 'empty', 'not_a_model', 'no_graph']) {
        const url = `/test/models/${file}.onnx`;
        const loading = window.tabserve.load(url, { handler: 'base_handler', backends: [backend] });
        codes[file] = (await window.failure(loading)).code;
      }
      return codes;
    }, backend);
    expect(codes).toEqual({
      truncated: 'model-format',
      garbage: 'model-format',
      empty: 'model-format',
      not_a_model: 'model-format',
      no_graph: 'model-format',
    });
  });

  test('a server that answers 500 @once @full', async ({ open }) => {
    const page = await open();
    await page.route('**/broken.onnx', (route) => route.fulfill({ status: 500, body: 'no' }));
    const failure = await page.evaluate(
      async () =>
        await window.failure(window.tabserve.load('/broken.onnx', { handler: 'base_handler', backends: ['wasm'] })),
    );
    expect(failure).toMatchObject({ code: 'network' });
    expect(failure.message).toContain('500');
  });

  test('a failed load does not affect the next one @once', async ({ open, backend }) => {
    const page = await open();
    const answer = await page.evaluate(async (backend) => {
      const client = window.tabserve.connect(window.workers.raw, {
        model: '/models/digits/nothing.onnx',
        backends: [backend],
      });
      const first = await window.failure(client.initialize());
      const second = await window.failure(client.initialize());
      const good = await window.tabserve.load('/models/digits/', { backends: [backend] });
      return { first: first.code, second: second.code, good: good.backend!.name };
    }, backend);
    expect(answer).toEqual({ first: 'model-not-found', second: 'model-not-found', good: backend });
  });
});

test.describe('a config that is wrong', () => {
  for (const [what, handler, code, words] of [
    ['a wrong type', { topK: 'five' }, 'model-config', 'handler.topK'],
    ['a value out of range', { topK: 0 }, 'model-config', 'handler.topK'],
    ['a value that is none of the allowed', { output: 'logit' }, 'model-config', '"logits" or "probabilities"'],
    ['a transform that does not exist', { imageProcessing: ['blur'] }, 'model-config', 'handler.imageProcessing[0]'],
    [
      'transforms that make another tensor',
      { imageProcessing: [{ resize: [9, 9] }, 'toTensor'] },
      'model-config',
      '[batch, 3, 9, 9]',
    ],
    ['labels that are no text', { labels: [1, 2] }, 'model-format', 'class 0'],
  ] as const) {
    test(`${what} @once`, async ({ open }) => {
      const page = await open();
      const failure = await page.evaluate(
        async (handler) =>
          await window.failure(
            window.tabserve.load('/test/models/tiny-archive/', {
              handler: 'image_classifier',
              backends: ['wasm'],
              config: { handler: handler as never },
            }),
          ),
        handler,
      );
      expect(failure).toMatchObject({ code });
      expect(failure.message).toContain(words);
    });
  }

  test('an engine option of a wrong type @once', async ({ open }) => {
    const page = await open();
    const failure = await page.evaluate(
      async () =>
        await window.failure(
          window.tabserve.load('/models/digits/', {
            backends: ['wasm'],
            config: { engine: { threads: 'two' as never } },
          }),
        ),
    );
    expect(failure).toMatchObject({ code: 'model-config', message: expect.stringContaining('engine.threads') });
  });

  test('a backend that does not exist, a handler that does not exist, a Python handler @once', async ({ open }) => {
    const page = await open();
    const failures = await page.evaluate(async () => [
      await window.failure(window.tabserve.load('/models/digits/', { backends: ['cuda' as 'wasm'] })),
      await window.failure(window.tabserve.load('/models/digits/', { handler: 'object_guesser' as 'base_handler' })),
      await window.failure(
        window.tabserve.load('/models/digits/', { handler: 'my_handler.py:handle' as 'base_handler' }),
      ),
      await window.failure(window.tabserve.load('/test/models/affine.onnx', { backends: ['wasm'] })),
    ]);
    expect(failures.map(({ code }) => code)).toEqual([
      'model-config',
      'unknown-handler',
      'unknown-handler',
      'unknown-handler',
    ]);
    expect(failures[2]!.message).toContain('Python');
  });

  test('an unknown key is a warning @once', async ({ open, page }) => {
    const warnings: string[] = [];
    page.on('console', (message) => message.type() === 'warning' && warnings.push(message.text()));
    await open();
    const told = await page.evaluate(async () => {
      const client = window.tabserve.connect({
        model: '/test/models/tiny-archive/',
        backends: ['wasm'],
        config: { handler: { topk: 2 } },
      } as never);
      const told: string[] = [];
      client.on('warn', ({ message }) => told.push(message));
      await client.initialize();
      await client.dispose();
      return told;
    });
    expect(told).toEqual([expect.stringContaining('handler.topk')]);
    expect(warnings.filter((text) => text.includes('handler.topk'))).toHaveLength(1);
  });
});

test('wrong input: each row fails alone, and the next call works @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/models/digits/', {
      handler: 'image_classifier',
      backends: [backend],
      config: { handler: { maxImagePixels: 100_000 } },
    });
    const good = { data: new Uint8Array(28 * 28), dims: [28, 28, 1] };
    const png = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
    const large = Object.assign(document.createElement('canvas'), { width: 400, height: 300 });
    const bad = {
      'a text file': new Blob(['hello'], { type: 'image/png' }),
      'an empty file': new Blob([]),
      'half an image': png.slice(0, png.size / 2),
      'a 0×0 canvas': Object.assign(document.createElement('canvas'), { width: 0, height: 0 }),
      'an image over the cap': large,
      'wrong dims': { data: new Float32Array(30), dims: [1, 5, 6] },
      'data that does not fill the dims': { data: new Uint8Array(10), dims: [28, 28, 1] },
      'a wrong dtype': { data: new Int32Array(28 * 28), dims: [28, 28, 1] },
      text: 'cat.png' as never,
      null: null as never,
    };
    const alone: Record<string, string[]> = {};
    for (const [what, input] of Object.entries(bad)) {
      const { name, code, stage } = await window.failure(client.predict(input));
      alone[what] = [name, code, stage ?? ''];
    }
    const mixed = await client.handle([good, bad['a text file'], good, bad['a 0×0 canvas'], bad['wrong dims']]);
    const after = await client.predict(good);
    return {
      alone,
      mixed: mixed.map((row) => (row instanceof window.tabserve.PredictionError ? row.code : 'answer')),
      after: after.length,
    };
  }, backend);
  expect(answer.alone).toEqual({
    'a text file': ['PredictionError', 'image-decode', 'preprocess'],
    'an empty file': ['PredictionError', 'image-decode', 'preprocess'],
    'half an image': ['PredictionError', 'image-decode', 'preprocess'],
    'a 0×0 canvas': ['PredictionError', 'invalid-input', 'preprocess'],
    'an image over the cap': ['PredictionError', 'image-too-large', 'preprocess'],
    'wrong dims': ['PredictionError', 'invalid-input', 'preprocess'],
    'data that does not fill the dims': ['PredictionError', 'invalid-input', 'preprocess'],
    'a wrong dtype': ['PredictionError', 'invalid-input', 'preprocess'],
    text: ['PredictionError', 'invalid-input', 'preprocess'],
    null: ['PredictionError', 'invalid-input', 'preprocess'],
  });
  expect(answer.mixed).toEqual(['answer', 'image-decode', 'answer', 'invalid-input', 'invalid-input']);
  expect(answer.after).toBe(5);
});

test('a wrong tensor: the error says what was expected and what was given @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const client = await window.tabserve.load('/test/models/affine_fixed.onnx', {
      handler: 'base_handler',
      backends: [backend],
    });
    const good = { data: new Float32Array(4), dims: [4] };
    return {
      dims: await window.failure(client.predict({ data: new Float32Array(5), dims: [5] })),
      dtype: await window.failure(client.predict({ data: new Int32Array(4), dims: [4] })),
      array: await window.failure(client.predict({ data: new Float64Array(4), dims: [4], dtype: 'float32' })),
      name: await window.failure(client.predict({ y: good })),
      param: await window.failure(client.predict(good, { params: { labels: 3 } })),
      rows: (await client.handle([good, { data: new Int32Array(4), dims: [4] }, good])).map((row) =>
        row instanceof window.tabserve.PredictionError ? row.code : 'answer',
      ),
    };
  }, backend);
  expect(answer.dims).toMatchObject({
    code: 'invalid-input',
    stage: 'inference',
    message: 'Input "x" expects float32 [1, 4], got float32 [1, 5].',
  });
  expect(answer.dtype).toMatchObject({
    code: 'invalid-input',
    message: 'Input "x" expects float32 [1, 4], got int32 [1, 4].',
  });
  expect(answer.array).toMatchObject({
    code: 'invalid-input',
    message: 'Input "x" is float32, whose data is a Float32Array, got a Float64Array.',
  });
  expect(answer.name).toMatchObject({ code: 'invalid-input', stage: 'preprocess' });
  expect(answer.param).toMatchObject({ code: 'invalid-input' });
  expect(answer.rows).toEqual(['answer', 'invalid-input', 'answer']);
});

test('an empty batch, a call before initialize, one after dispose, and two at once @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const input = { data: new Float32Array([1, 2, 3, 4]), dims: [4] };
    const client = window.tabserve.connect<import('../../src/worker.ts').BaseHandler>(window.workers.failing, {
      model: '/test/models/affine_fixed.onnx',
      backends: [backend],
    });
    const early = await window.failure(client.handle([input]));
    await Promise.all([client.initialize(), client.initialize()]);
    const empty = await window.failure(client.handle([]));
    const twice = (await Promise.all([client.handle([input]), client.handle([input, input])])).map(
      (rows) => rows.length,
    );
    const pending = window.failure(client.handle([input]));
    await client.dispose();
    const late = await window.failure(client.handle([input]));
    const again = await window.failure(client.initialize());
    return {
      early: early.code,
      empty: empty.code,
      twice,
      pending: (await pending).code,
      late: late.code,
      again: again.code,
    };
  }, backend);
  expect(answer).toEqual({
    early: 'not-initialized',
    empty: 'invalid-input',
    twice: [1, 2],
    pending: 'disposed',
    late: 'disposed',
    again: 'disposed',
  });
});

/** Files of less than a kilobyte that took gigabytes, or minutes, of what decoded them. */
const hostile = (): Record<string, { file: Uint8Array; code: string }> => ({
  'a JPEG with junk between its segments': {
    file: make.insert(make.jpeg(20_000, 20_000), make.find(make.fixture('gray.jpg'), '\xff\xdb'), 'A'),
    code: 'image-too-large',
  },
  'a progressive JPEG of many scans': { file: make.jpegWithScans(12_000, 50), code: 'image-too-large' },
  'a GIF whose frame is larger than its screen': {
    file: make.gif(1, 1, { width: 20_000, height: 20_000 }),
    code: 'image-too-large',
  },
  'an AVIF that declares another size than its stream': { file: make.plainAvif(16_384, 10_900), code: 'image-decode' },
  'an AVIF whose grid is larger than it declares': {
    file: make.gridAvif(66, 17, 60_000, 17_000),
    code: 'image-too-large',
  },
  'an animated PNG of a large frame': {
    file: make.png(4, 4, make.animation(1), make.frameControl(20_000, 20_000)),
    code: 'image-too-large',
  },
  'a WebP whose frame is larger than its canvas': {
    file: make.riff(make.canvas(8, 8, 2), make.webpFrame(8, 8, make.lossless(16_384, 16_384))),
    code: 'image-too-large',
  },
  'a WebP with a large canvas': {
    file: make.riff(make.canvas(16_384, 16_384, 2), make.webpFrame(8, 8, make.lossless(8, 8))),
    code: 'image-too-large',
  },
  'a compressed BMP': { file: make.bmp(20_000, 20_000, 1), code: 'image-too-large' },
  'an icon with a large PNG': {
    file: make.icon({ side: 4, file: make.png(20_000, 20_000) }),
    code: 'image-too-large',
  },
});

test('hostile images are refused before they cost anything, and the worker goes on @once', async ({
  open,
  backend,
  browser,
}) => {
  const page = await open();
  const files = Object.entries(hostile());
  const client = await page.evaluateHandle(
    (backend) => window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: [backend] }),
    backend,
  );
  const predict = async (file: Uint8Array): Promise<string> =>
    await client.evaluate(
      async (client, file) => {
        try {
          return `${(await client.predict(new Blob([Uint8Array.from(file)]))).length} classes`;
        } catch (error) {
          return (error as { code: string }).code;
        }
      },
      [...file],
    );
  const good = make.fixture('gray.jpg');
  expect(await predict(good)).toBe('5 classes');
  const workers = page.workers();
  const before = await processMemory(browser, 'peak');
  for (const [name, { file, code }] of files) {
    expect(file.length, name).toBeLessThan(2000);
    expect.soft([name, await predict(file)]).toEqual([name, code]);
  }
  // Each of them would take at least 300 MB.
  expect((await processMemory(browser, 'peak')) - before).toBeLessThan(100_000_000);
  expect(await predict(good)).toBe('5 classes');
  expect(page.workers()).toEqual(workers);
  await client.evaluate((client) => client.dispose());
});
