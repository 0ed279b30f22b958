import { readFileSync } from 'node:fs';
import { BadServer } from '../bad-server.ts';
import { expect, test } from './fixtures.ts';
import { serveWithHeaders } from './header-proxy.ts';

test.use({ reuseTab: 'emptied' });

/** Pages that may do less than others. */
const PAGE = '/test/browser/pages/tabserve.html?isolated=no';
const ARCHIVES = ['tiny.mar', 'tiny-store.mar', 'tiny.tar.gz'].map((name) => `/test/models/archives/${name}`);

/** Answers of packed archives for one picture. Runs in the page. */
async function answers(urls: readonly string[]): Promise<unknown[]> {
  const answers = [];
  for (const url of urls) {
    const client = await window.tabserve.load(url, { backends: ['onnx/wasm'] });
    answers.push(await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] }));
    await client.dispose();
  }
  return answers;
}

test('packed archives load under a strict Content-Security-Policy as without one @once @full', async ({
  open,
  baseURL,
  page,
}) => {
  const expected = await (await open()).evaluate(answers, ARCHIVES);
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; img-src data:";
  await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': policy });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(message.text()));
  page.on('pageerror', (error) => complaints.push(String(error)));
  await page.goto(site.origin + PAGE);
  await page.waitForFunction(() => 'tabserve' in window);
  expect(await page.evaluate(answers, ARCHIVES)).toEqual(expected);
  expect(complaints).toEqual([]);
});

/** TensorFlow.js's answers to a photo, to a frame of video, and a mask, none of which needs WebAssembly. Runs in the page. */
async function withoutWasm(photo: string): Promise<unknown> {
  const frame = (): VideoFrame => {
    const data = Uint8Array.from({ length: 64 * 48 * 1.5 }, (_, i) => (i * 7) % 251);
    const init = { format: 'I420', codedWidth: 64, codedHeight: 48, timestamp: 0 } as const;
    const colorSpace = { matrix: 'bt709', primaries: 'bt709', transfer: 'bt709', fullRange: false } as const;
    return new VideoFrame(data, { ...init, colorSpace });
  };
  const digits = await window.tabserve.load('/models/digits/', {
    handler: 'image_classifier',
    backends: ['tfjs/cpu'],
  });
  const file = await (await fetch(photo)).blob();
  const classes = [await digits.predict(file), await digits.predict(frame())];
  await digits.dispose();
  const selfie = await window.tabserve.load('/models/selfie/', { handler: 'image_segmenter', backends: ['tfjs/cpu'] });
  const { mask } = await selfie.predict(file, { params: { result: 'mask', size: 'original' } });
  await selfie.dispose();
  const isWasmAllowed = await WebAssembly.compile(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0)).then(
    () => true,
    () => false,
  );
  return { isWasmAllowed, classes, mask: Array.from(mask.filter((_, i) => i % 997 === 0)) };
}

test('a policy that forbids WebAssembly leaves TensorFlow.js, with the same answers @once @full', async ({
  open,
  baseURL,
  page,
}) => {
  const photo = '/test/goldens/images/420.jpg';
  const expected = (await (await open()).evaluate(withoutWasm, photo)) as object;
  expect(expected).toMatchObject({ isWasmAllowed: true });
  const policy = "default-src 'self'; script-src 'self'; worker-src 'self'; img-src data:";
  await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': policy });
  await page.goto(site.origin + PAGE);
  await page.waitForFunction(() => 'tabserve' in window);
  expect(await page.evaluate(withoutWasm, photo)).toEqual({ ...expected, isWasmAllowed: false });
});

test('what connect-src forbids is asked for twice at most, and the error says so @once @full', async ({
  baseURL,
  page,
}) => {
  const other = await BadServer.start({ files: {}, headers: { 'Access-Control-Allow-Origin': '*' } });
  try {
    await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': "connect-src 'self'" });
    await page.goto(site.origin + PAGE);
    await page.waitForFunction(() => 'tabserve' in window);
    const [model, engine] = await page.evaluate(
      async (origin) => [
        await window.failure(window.tabserve.load(`${origin}/m.onnx`, { handler: 'base_handler' })),
        await window.failure(
          window.tabserve.load('/test/models/affine_fixed.onnx', {
            handler: 'base_handler',
            backends: ['onnx/wasm'],
            assets: `${origin}/`,
          }),
        ),
      ],
      other.origin,
    );
    expect(model).toMatchObject({ code: 'network', message: expect.stringContaining(`Add ${other.origin}`) });
    expect(model!.message).not.toContain('retries');
    expect(engine!.message).toContain('connect-src');
    expect(engine!.message).not.toContain('retries');
    expect(other.seen).toEqual([]);
  } finally {
    other.stop();
  }
});

test('ONNX Runtime’s threads from another origin need blob: in script-src and worker-src; without it, there is one thread @once @full', async ({
  baseURL,
  page,
  full,
}) => {
  const files = Object.fromEntries(
    ['wasm', 'mjs'].map((type) => {
      const path = `/ort-wasm-simd-threaded.${type}`;
      return [path, readFileSync(new URL(`../../node_modules/onnxruntime-web/dist${path}`, import.meta.url))];
    }),
  );
  const headers = { 'Access-Control-Allow-Origin': '*', 'Cross-Origin-Resource-Policy': 'cross-origin' };
  const other = await BadServer.start({ files, headers });
  other.plan('/ort-wasm-simd-threaded.mjs', { kind: 'type', type: 'text/javascript' });
  const load = async (scripts: string, workers: string) => {
    const policy = `default-src 'self'; script-src 'self' 'wasm-unsafe-eval' ${scripts}; worker-src 'self' ${workers}; connect-src 'self' ${other.origin}`;
    await using site = await serveWithHeaders(baseURL!, { 'content-security-policy': policy });
    await page.goto(`${site.origin}/test/browser/pages/tabserve.html`);
    await page.waitForFunction(() => 'tabserve' in window);
    return await page.evaluate(async (assets) => {
      const client = window.tabserve.connect({
        model: '/models/digits/',
        handler: 'image_classifier',
        backends: ['onnx/wasm'],
        assets,
        config: { engine: { threads: 2 } },
      });
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const [best] = await client.predict(await (await fetch('/models/digits/samples/drawn-3.png')).blob());
      return { threads: client.backend!.threads, label: best!.label, warnings };
    }, `${other.origin}/`);
  };
  try {
    expect(await load('blob:', 'blob:')).toEqual({ threads: 2, label: 'three', warnings: [] });
    expect(other.requestsFor('/ort-wasm-simd-threaded.mjs').length).toBe(1);
    const warnings = [expect.stringContaining('must have blob: in script-src and in worker-src')];
    const policies = [
      ['blob:', ''],
      ['', 'blob:'],
      ['', ''],
    ] as const;
    for (const [scripts, workers] of policies.slice(0, full ? 3 : 1))
      expect(await load(scripts, workers)).toEqual({ threads: 1, label: 'three', warnings });
  } finally {
    other.stop();
  }
});

test('a sandboxed frame: the error of a worker that it may not load names the remedy; a worker that it may load runs without storage @once @full', async ({
  open,
  baseURL,
  page,
  browserName,
}) => {
  const [expected] = await (await open()).evaluate(answers, ARCHIVES.slice(0, 1));
  await using site = await serveWithHeaders(baseURL!, { 'access-control-allow-origin': '*' });
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.goto(`${site.origin}/no-such-page?isolated=no`);
  await page.setContent(`<iframe sandbox="allow-scripts" src="${PAGE}"></iframe>`);
  const frame = page.frames()[1]!;
  await frame.waitForFunction(() => 'tabserve' in window);
  const { refused, answer, warnings } = await frame.evaluate(
    async ({ origin, model }) => {
      const refused = await window.failure(window.tabserve.load(model, { backends: ['onnx/wasm'] }));
      const script = `import ${JSON.stringify(`${origin}/src/worker/default.worker.js`)}`;
      const client = window.tabserve.connect(
        () => new Worker(`data:text/javascript,${encodeURIComponent(script)}`, { type: 'module' }),
        { model, backends: ['onnx/wasm'] },
      );
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const answer = await client.predict({ data: new Uint8Array(64 * 3).fill(100), dims: [8, 8, 3] });
      await client.dispose();
      return { refused, answer, warnings };
    },
    { origin: site.origin, model: ARCHIVES[0]! },
  );
  expect(refused).toMatchObject({ code: 'worker-failed', message: expect.stringContaining('allow-same-origin') });
  if (browserName === 'chromium') expect(refused.message).toContain("Failed to construct 'Worker'");
  expect(answer).toEqual(expected);
  expect(warnings).toEqual(['Cached files cannot be read: a frame or worker with an opaque origin has no storage']);
  // Firefox reports the refused worker itself.
  if (browserName === 'chromium') expect(errors, 'that nobody handled').toEqual([]);
});
