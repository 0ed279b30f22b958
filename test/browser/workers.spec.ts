import { expect, test } from './fixtures.ts';

/** A worker's life, from its start to its end: every call settles. */
const MODEL = '/test/models/affine_fixed.onnx';

test('a worker that never starts @once', async ({ open, browserName }) => {
  const page = await open();
  const failures = await page.evaluate(async (model) => {
    const start = (factory: () => Worker, startupTimeout = 60) =>
      window.failure(window.tabserve.connect(factory, { model, startupTimeout }).initialize());
    return {
      missing: await start(() => new Worker('/no-such-worker.js', { type: 'module' })),
      throwing: await start(window.workers.throwing),
      classic: await start(() => new Worker('/src/worker.ts')),
      silent: await start(window.workers.silent, 1),
      refused: await start(() => new Worker('https://example.invalid/worker.js')),
    };
  }, MODEL);
  expect(Object.values(failures).map(({ code }) => code)).toEqual([
    'worker-failed',
    'worker-failed',
    'worker-failed',
    'worker-failed',
    'worker-failed',
  ]);
  expect(failures.missing.message).toContain(`${new URL(page.url()).origin}/no-such-worker.js`);
  expect(failures.missing.message).toContain('docs/hosting.md#standalone-files');
  expect(failures.throwing.message).toContain('the module is broken');
  // Firefox does not say what is wrong with a script.
  if (browserName !== 'firefox') expect(failures.classic.message).toContain("type: 'module'");
  expect(failures.silent.message).toContain('expose()');
});

test('a worker whose module starts slowly @once', async ({ open }) => {
  const page = await open();
  const name = await page.evaluate(async (model) => {
    const client = window.tabserve.connect(window.workers.slow, { model, backends: ['wasm'] });
    await client.initialize();
    return client.backend!.name;
  }, MODEL);
  expect(name).toBe('wasm');
});

test('an abort, before, during and after @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(async (backend) => {
    const before = await window.failure(
      window.tabserve.load('/test/models/slow.onnx', {
        handler: 'base_handler',
        backends: [backend],
        signal: AbortSignal.abort('changed my mind'),
      }),
    );
    const loading = new AbortController();
    const during = window.failure(
      window.tabserve.load('/test/models/slow.onnx', {
        handler: 'base_handler',
        backends: [backend],
        signal: loading.signal,
        onProgress: () => loading.abort(),
      }),
    );
    const duringCode = (await during).code;
    const client = window.tabserve.connect(window.workers.raw, {
      model: '/test/models/slow.onnx',
      backends: [backend],
    });
    await client.initialize();
    const feeds = (rounds: number) =>
      ({
        x: { dtype: 'float32', dims: [1], data: new Float32Array([1 / 256]) },
        rounds: { dtype: 'int64', dims: [], data: BigInt64Array.of(BigInt(rounds)) },
      }) as never;
    const running = new AbortController();
    const started = performance.now();
    const aborted = window.failure(client.predict(feeds(backend === 'wasm' ? 800 : 40), { signal: running.signal }));
    running.abort(new Error('enough'));
    const failure = await aborted;
    const waited = performance.now() - started;
    const after = new AbortController();
    const answer = await client.predict(feeds(1), { signal: after.signal });
    after.abort();
    return { before: before.code, duringCode, failure, waited, answered: Object.keys(answer as object) };
  }, backend);
  expect(answer.before).toBe('aborted');
  expect(answer.duringCode).toBe('aborted');
  expect(answer.failure).toMatchObject({ code: 'aborted', message: 'enough' });
  expect(answer.waited).toBeLessThan(1000);
  expect(answer.answered).toEqual(['y']);
});

test('progress has the bytes of each file @once', async ({ open }) => {
  const page = await open();
  const events = await page.evaluate(async () => {
    const all: { file: string; loaded: number; total: number | undefined }[] = [];
    await window.tabserve.load('/models/digits/', { backends: ['wasm'], onProgress: (progress) => all.push(progress) });
    return all;
  });
  const weights = events.filter(({ file }) => file === 'digits.onnx');
  expect(weights[0]).toMatchObject({ loaded: 0 });
  expect(weights.at(-1)!.loaded).toBe(weights.at(-1)!.total);
  expect(weights.at(-1)!.loaded).toBeGreaterThan(100_000);
  expect(new Set(events.map(({ file }) => file))).toContain('MAR-INF/MANIFEST.json');
});

test('await using ends the worker @once', async ({ open }) => {
  const page = await open();
  const codes = await page.evaluate(() => window.disposal());
  expect(codes).toEqual({ inside: 'wasm', after: 'disposed' });
});

test('one of two callers of initialize aborts; the other’s call succeeds @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async (model) => {
    const client = window.tabserve.connect(window.workers.raw, { model, backends: ['wasm'] });
    const first = new AbortController();
    const aborted = window.failure(client.initialize({ signal: first.signal }));
    const files: string[] = [];
    const wanted = client.initialize({ onProgress: ({ file }) => files.push(file) });
    const joined = window.failure(client.initialize({ signal: AbortSignal.abort('not me') }));
    first.abort();
    await wanted;
    return {
      aborted: (await aborted).code,
      joined: (await joined).code,
      name: client.backend!.name,
      files: [...new Set(files)].sort(),
    };
  }, MODEL);
  const files = ['affine_fixed.onnx', 'ort-wasm-simd-threaded.wasm'];
  expect(answer).toEqual({ aborted: 'aborted', joined: 'aborted', name: 'wasm', files });
});

test('an image that never arrives does not outlive its client @once', async ({ open, page }) => {
  await open();
  await page.route('**/never.png', () => {});
  const code = await page.evaluate(async () => {
    const client = await window.tabserve.load('/models/digits/', { handler: 'image_classifier', backends: ['wasm'] });
    const pending = window.failure(client.predict(Object.assign(new Image(), { src: '/never.png' })));
    await client.dispose();
    return (await pending).code;
  });
  expect(code).toBe('disposed');
});
