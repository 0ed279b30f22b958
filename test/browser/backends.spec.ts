import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { Route } from '@playwright/test';
import { expect, test } from './fixtures.ts';

/** Which backend runs, why the others do not, and what is downloaded for it. */
/** Without its flags Chromium has WebGPU, but no adapter; Firefox ESR has none on Linux. */
const NO_WEBGPU = /no adapter|no WebGPU/;

test('an operator that a backend lacks moves on to the next, with its reason', async ({ open, backend }) => {
  test.skip(backend !== 'webgl', 'only ONNX Runtime WebGL lacks the operator');
  const page = await open();
  const chosen = await page.evaluate(
    async () =>
      (
        await window.tabserve.load('/test/models/hardsigmoid.onnx', {
          handler: 'base_handler',
          backends: ['webgl', 'wasm'],
        })
      ).backend!,
  );
  expect(chosen).toMatchObject({
    engine: 'onnx',
    name: 'wasm',
    skipped: [{ engine: 'onnx', name: 'webgl', reason: expect.stringContaining('HardSigmoid') }],
  });
});

test('a model that ONNX Runtime WebGL cannot read: a short message, and the whole one as its cause', async ({
  open,
  backend,
}) => {
  test.skip(backend !== 'webgl', 'only ONNX Runtime WebGL lacks them');
  const page = await open();
  // A Loop; float16.
  for (const [model, why] of [
    ['slow', 'Error: graph attribute is not supported yet'],
    ['float16', 'Error: unsupported data type: FLOAT16'],
  ] as const) {
    const failure = await page.evaluate(async (model) => {
      const error = await window.tabserve
        .load(`/test/models/${model}.onnx`, { handler: 'base_handler', backends: ['webgl'] })
        .then(String, (error: Error) => error);
      const { message, cause } = (error as Error).cause as Error;
      return { message, whole: (cause as Error).message };
    }, model);
    expect(failure.message).toBe(`ONNX Runtime could not load the model on webgl: ${why}`);
    expect(failure.whole).toMatch(/^Failed to load model as ONNX format: .*\nas ORT format: /);
  }
});

test('what ONNX Runtime WebGL cannot run is refused at load, with its reason, and WASM serves', async ({
  open,
  backend,
}) => {
  test.skip(backend !== 'webgl', 'only ONNX Runtime WebGL lacks it');
  const page = await open();
  for (const [path, reason] of [
    [
      'affine',
      /"x" is float32 \[N, 4\]\. It ignores engine\.freeDimensions: export the model with fixed dimensions\.$/,
    ],
    ['tasks/instance-yolov5/model', /could not load the model on webgl: .*int64 is not supported/],
    ['tasks/image-realesrgan/model', /could not (load|run) the model on webgl: .*resize/],
    ['optimized/model-int8', /could not (load|run) the model on webgl: /],
    ['optimized/model-float16', /could not (load|run) the model on webgl: /],
  ] as const) {
    const { name, skipped } = await page.evaluate(async (path) => {
      const client = await window.tabserve.load(`/test/models/${path}.onnx`, {
        handler: 'base_handler',
        backends: ['webgl', 'wasm'],
        config: { engine: { freeDimensions: { N: 1 } } },
      });
      const { name, skipped } = client.backend!;
      await client.dispose();
      return { name, skipped };
    }, path);
    expect({ name, skipped }, path).toEqual({
      name: 'wasm',
      skipped: [{ engine: 'onnx', name: 'webgl', reason: expect.stringMatching(reason) }],
    });
  }
});

test('a backend that fails at its first run only moves on too', async ({ open, backend }) => {
  test.skip(backend === 'wasm', 'WASM runs it');
  const page = await open();
  const model = backend === 'webgl' ? 'affine' : 'float16';
  const chosen = await page.evaluate(
    async ({ model, backend }) =>
      (
        await window.tabserve.load(`/test/models/${model}.onnx`, {
          handler: 'base_handler',
          backends: [backend, 'wasm'],
        })
      ).backend!,
    { model, backend },
  );
  expect(chosen.name).toBe('wasm');
  expect(chosen.skipped).toEqual([
    { engine: 'onnx', name: backend, reason: expect.stringMatching(/could not (run|load)|needs fixed dimensions/) },
  ]);
});

test('an operator that no engine has: the error lists the reason of every backend @once', async ({ open, backend }) => {
  const page = await open();
  const failure = await page.evaluate(
    async (backend) =>
      await window.failure(
        window.tabserve.load('/test/models/missing_op.onnx', { handler: 'base_handler', backends: [backend] }),
      ),
    backend,
  );
  expect(failure).toMatchObject({ code: 'no-backend' });
  expect(failure.message).toContain(`onnx/${backend}`);
});

test('by default: the candidates that this browser supports, and the reasons against the others @firefox', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgl', 'the same as on wasm: neither has a WebGPU adapter');
  const page = await open();
  const chosen = await page.evaluate(
    async () => (await window.tabserve.load('/test/models/affine_fixed.onnx', { handler: 'base_handler' })).backend!,
  );
  expect(chosen.name).toBe('wasm');
  const why = Object.fromEntries(chosen.skipped.map(({ name, reason }) => [name, reason]));
  // With its flags Chromium has an adapter made of software.
  expect(why['webgpu']).toMatch(backend === 'webgpu' ? /software/i : NO_WEBGPU);
  expect(why['webgl']).toContain('computes some models wrongly');
});

test('a backend that is named and absent fails, and never hangs @once', async ({ open }) => {
  const page = await open();
  const failure = await page.evaluate(
    async () =>
      await window.failure(
        window.tabserve.load('/test/models/affine_fixed.onnx', { handler: 'base_handler', backends: ['webgpu'] }),
      ),
  );
  expect(failure).toMatchObject({ code: 'no-backend', message: expect.stringMatching(NO_WEBGPU) });
});

test('an engine that the app left out is not tried @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const client = window.tabserve.connect(window.workers.lean, { model: '/test/models/affine_fixed.onnx' });
    await client.initialize();
    const named = await window.failure(
      window.tabserve
        .connect(window.workers.lean, { model: '/test/models/affine_fixed.onnx', backends: ['webgl'] })
        .initialize(),
    );
    return { name: client.backend!.name, reasons: client.backend!.skipped.map(({ reason }) => reason), named };
  });
  expect(answer.name).toBe('wasm');
  // WebGPU, WebGL and WebNN.
  expect(answer.reasons).toEqual(
    Array.from({ length: 3 }, () => expect.stringContaining("is not among the worker's engines")),
  );
  expect(answer.named).toMatchObject({ code: 'no-backend' });
});

test.describe('what is downloaded', () => {
  test.use({ reuseTab: 'emptied' });

  test('only the engine that runs is downloaded, and from no other origin', async ({ open, page, backend }) => {
    // An archive with a golden example: without one, ONNX Runtime's WebGL is compared with WASM.
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await open();
    const { origin } = new URL(page.url());
    await page.evaluate(
      async (backend) =>
        void (await window.tabserve.load('/test/models/proof/two_formats/', {
          handler: 'base_handler',
          backends: [`onnx/${backend}`],
        })),
      backend,
    );
    const wasm = urls.filter((url) => url.endsWith('.wasm')).map((url) => url.split('/').pop());
    expect(wasm).toEqual(
      { wasm: ['ort-wasm-simd-threaded.wasm'], webgl: [], webgpu: ['ort-wasm-simd-threaded.jspi.wasm'] }[backend],
    );
    const glue = urls.flatMap((url) => /onnxruntime-web_(\w+)\.js/.exec(url)?.[1] ?? []);
    expect(glue).toEqual([{ wasm: 'wasm', webgl: 'webgl', webgpu: 'jspi' }[backend]]);
    expect(urls.filter((url) => url.includes('tensorflow'))).toEqual([]);
    expect(urls.filter((url) => !url.startsWith(`${origin}/`) && !url.startsWith('data:'))).toEqual([]);
  });

  test('only the parts of TensorFlow.js that run are downloaded, and from no other origin', async ({
    open,
    page,
    backend,
  }) => {
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await open();
    const load = async (model: string, wasm: readonly string[]): Promise<string[]> => {
      urls.length = 0;
      await page.evaluate(
        async ({ model, backend }) =>
          void (await window.tabserve.load(`/test/models/tfjs/${model}`, {
            handler: 'base_handler',
            backends: [`tfjs/${backend}`],
          })),
        {
          model,
          backend,
        },
      );
      expect(urls.filter((url) => url.endsWith('.wasm')).map((url) => url.split('/').pop())).toEqual(wasm);
      expect(urls.filter((url) => url.includes('onnxruntime'))).toEqual([]);
      expect(urls.filter((url) => !url.startsWith(`${new URL(page.url()).origin}/`))).toEqual([]);
      return urls.flatMap((url) => /@tensorflow_tfjs-([\w-]+)\.js/.exec(url)?.[1] ?? []).sort();
    };
    const first = backend === 'wasm' ? ['tfjs-backend-wasm-simd.wasm'] : [];
    expect(await load('affine_fixed.json', first)).toEqual([`backend-${backend}`, 'converter', 'core']);
    // The second worker has the engine's file from the cache.
    expect(await load('affine.layers.json', [])).toEqual([`backend-${backend}`, 'converter', 'core', 'layers']);
  });

  test('the asyncify build serves browsers without JSPI @full', async ({ open, page, backend }) => {
    test.skip(backend !== 'webgpu', 'it is a build for WebGPU');
    const urls: string[] = [];
    page.on('request', (request) => urls.push(request.url()));
    await open();
    const answer = await page.evaluate(async () => {
      const client = window.tabserve.connect<import('../../src/worker.ts').BaseHandler>(window.workers.noJspi, {
        model: '/test/models/affine_fixed.onnx',
        backends: ['webgpu'],
      });
      await client.initialize();
      return Array.from(
        (await client.predict({ data: new Float32Array([1, 2, 3, 4]), dims: [4] }))['y']!.data as Float32Array,
      ).length;
    });
    expect(answer).toBe(3);
    expect(urls.filter((url) => url.endsWith('.wasm')).map((url) => url.split('/').pop())).toEqual([
      'ort-wasm-simd-threaded.asyncify.wasm',
    ]);
  });

  test('powerPreference: probe and engines ask for that GPU, and answer right', async ({ open, backend }) => {
    test.skip(backend !== 'webgpu' && backend !== 'webgl', 'it is about GPUs');
    const page = await open();
    const run = async (model: string, candidate: string, powerPreference?: 'low-power' | 'high-performance') =>
      await page.evaluate(
        async ({ model, candidate, powerPreference }) => {
          const client = window.tabserve.connect<import('./workers/gpu-asking.worker.ts').GpuAsking>(
            window.workers.gpuAsking,
            { model, backends: [candidate as 'wasm'], ...(powerPreference && { powerPreference }) },
          );
          const warnings: string[] = [];
          client.on('warn', ({ message }) => warnings.push(message));
          await client.initialize();
          const { y } = await client.predict({ data: new Float32Array([1, 2, 3, 4]), dims: [4] });
          const asked = (await client.describe()).customizedMetadata as readonly string[];
          await client.dispose();
          return { asked, warnings, answer: Array.from(y!.data as Float32Array) };
        },
        { model, candidate, powerPreference },
      );
    const models = { onnx: '/test/models/affine_fixed.onnx', tfjs: '/test/models/tfjs/affine_fixed.json' };
    const { answer } = await run(models.onnx, 'onnx/wasm');
    for (const engine of ['onnx', 'tfjs'] as const) {
      const candidate = `${engine}/${backend}`;
      for (const wanted of ['low-power', undefined] as const) {
        const found = await run(models[engine], candidate, wanted);
        const own = found.asked.filter((one) => one.startsWith(backend));
        if (candidate === 'onnx/webgl') {
          expect(found.warnings, candidate).toEqual(wanted ? [expect.stringContaining('powerPreference')] : []);
        } else {
          // The probe, of the first client with this preference, and the engine.
          expect(own.length, candidate).toBeGreaterThanOrEqual(engine === 'onnx' ? 2 : 1);
          if (wanted) expect(new Set(own), candidate).toEqual(new Set([`${backend} ${wanted}`]));
          else expect(own, candidate).not.toContain(`${backend} low-power`);
        }
        expect(found.answer, candidate).toEqual(answer.map((one) => expect.closeTo(one, 4)));
      }
    }
  });

  test('engine files from where the app serves them @once', async ({ open, page }) => {
    const urls: string[] = [];
    page.on('request', (request) => urls.push(new URL(request.url()).pathname));
    await open();
    await page.evaluate(async () => {
      const open = async (model: string, assets: string) =>
        await window.tabserve
          .connect(window.workers.raw, { model, assets, backends: ['wasm'], config: { engine: { threads: 2 } } })
          .initialize();
      await open('/test/models/affine_fixed.onnx', '/node_modules/onnxruntime-web/dist/../dist');
      await open('/test/models/tfjs/affine_fixed.json', '/node_modules/@tensorflow/tfjs-backend-wasm/dist/../dist');
    });
    expect(urls).toContain('/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm');
    expect(urls).toContain('/node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.mjs');
    expect(urls).toContain('/node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm');
  });
});

test('threads where the page is isolated, one with a warning where it is not @once', async ({ open, page }) => {
  const load = async (): Promise<{ threads: number; sum: number; warnings: readonly string[] }> =>
    await page.evaluate(async () => {
      const client = window.tabserve.connect({
        model: '/models/digits/',
        handler: 'image_classifier',
        backends: ['wasm'],
        config: { engine: { threads: 2 }, minWorkers: 2, maxWorkers: 2 },
      });
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const answer = await client.predict(await (await fetch('/models/digits/samples/drawn-3.png')).blob(), {
        params: { topK: 10 },
      });
      const { threads } = client.backend!;
      return { threads, sum: answer.reduce((sum, { score }) => sum + score, 0), warnings };
    });
  await open();
  const isolated = await load();
  expect(isolated).toMatchObject({ threads: 2, warnings: [] });
  expect(isolated.sum).toBeCloseTo(1, 6);
  await open('?isolated=no');
  const alone = await load();
  const warning = 'ONNX Runtime computes with 1 thread instead of 2: the page is not cross-origin isolated';
  expect(alone).toMatchObject({ threads: 1, warnings: [expect.stringContaining(warning)] });
  expect(alone.sum).toBeCloseTo(1, 6);
});

test("a script of ONNX Runtime's threads that the browser does not take costs the threads, and a warning says why @once @full", async ({
  open,
  page,
}) => {
  const script = '**/ort-wasm-simd-threaded.mjs';
  const body = readFileSync(
    new URL('../../node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.mjs', import.meta.url),
  );
  const load = async (prefer: 'first' | 'fastest') =>
    await page.evaluate(async (prefer) => {
      const client = window.tabserve.connect(window.workers.raw, {
        model: '/test/models/affine_fixed.onnx',
        backends: ['onnx/wasm'],
        prefer,
        ...(prefer === 'first' && { config: { engine: { threads: 2 } } }),
      });
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      return { threads: client.backend!.threads, skipped: client.backend!.skipped, warnings };
    }, prefer);
  await page.route(script, (route) => route.fulfill({ body, contentType: 'application/octet-stream' }));
  await open();
  const warning = (threads: number, answer: string) =>
    expect.stringMatching(
      `^ONNX Runtime computes with 1 thread instead of ${threads}: .*/ort-wasm-simd-threaded\\.mjs, could not be loaded: ${answer}\\.$`,
    );
  const wrongType =
    'the server answered 200, as application/octet-stream\\. The server must send it as text/javascript';
  expect(await load('first')).toEqual({ threads: 1, skipped: [], warnings: [warning(2, wrongType)] });
  // Each number of threads is tried, and none is measured but one thread.
  const fastest = await load('fastest');
  expect(fastest).toMatchObject({ threads: 1, skipped: [] });
  expect(fastest.warnings.length).toBeGreaterThan(0);
  await page.unroute(script);
  await page.route(script, (route) => route.fulfill({ status: 404, body: 'no file', contentType: 'text/plain' }));
  expect(await load('first')).toMatchObject({
    threads: 1,
    warnings: [warning(2, 'the server answered 404, as text/plain')],
  });
  await page.unroute(script);
  await page.route(script, (route) => route.fulfill({ body: 'export const x = 1', contentType: 'text/javascript' }));
  expect(await load('first')).toMatchObject({
    threads: 1,
    warnings: [warning(2, 'it is not the script of ONNX Runtime')],
  });
});

test("a script of ONNX Runtime's threads whose first request fails is asked for again, and the threads start from it @once @full", async ({
  open,
  page,
  full,
}) => {
  const script = '**/ort-wasm-simd-threaded.mjs';
  const refusals = [
    (route: Route) => route.abort('connectionreset'),
    (route: Route) => route.fulfill({ status: 503, body: 'busy', contentType: 'text/plain' }),
  ];
  for (const refuse of refusals.slice(0, full ? 2 : 1)) {
    await open();
    let requests = 0;
    await page.route(script, (route) => (++requests === 1 ? refuse(route) : route.continue()));
    const outcome = await page.evaluate(async () => {
      const client = window.tabserve.connect({
        model: '/models/digits/',
        handler: 'image_classifier',
        backends: ['onnx/wasm'],
        config: { engine: { threads: 2 } },
      });
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const [best] = await client.predict(await (await fetch('/models/digits/samples/drawn-3.png')).blob());
      const { threads } = client.backend!;
      await client.dispose();
      return { threads, label: best!.label, warnings };
    });
    expect(outcome).toEqual({ threads: 2, label: 'three', warnings: [] });
    expect(requests).toBeGreaterThan(1);
    await page.unroute(script);
  }
});

test("an engine's file that is stored as gzip, as hosts with a limit need it @once @full", async ({ open, page }) => {
  const path = '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm';
  const body = gzipSync(readFileSync(new URL(`../../node_modules/${path}`, import.meta.url)));
  let requests = 0;
  await page.route('**/stored/*.wasm', async (route) => {
    requests += 1;
    await route.fulfill({ body, contentType: 'application/wasm' });
  });
  await open();
  await page.evaluate(
    async () =>
      await window.tabserve
        .connect(window.workers.raw, {
          model: '/test/models/tfjs/affine_fixed.json',
          assets: '/stored/',
          backends: ['wasm'],
        })
        .initialize(),
  );
  expect(requests).toBe(1);
});
