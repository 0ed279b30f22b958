import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import type { ClientOptions, Progress } from '../../src/index.ts';
import { BadServer } from '../bad-server.ts';
import { expect, test } from './fixtures.ts';

test.use({ reuseTab: 'emptied' });

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDERS = {
  '/models/': join(ROOT, 'test/models'),
  '/tfjs/': join(ROOT, 'node_modules/@tensorflow/tfjs-backend-wasm/dist'),
  '/ort/': join(ROOT, 'node_modules/onnxruntime-web/dist'),
};

/** A server of models and engines that sends as `send` does. */
async function serve(
  send: (path: string, bytes: Buffer, response: ServerResponse) => void,
): Promise<{ origin: string; server: Server }> {
  const server = createServer((request, response) => {
    void (async () => {
      const { pathname } = new URL(request.url!, 'http://localhost');
      const [prefix, folder] = Object.entries(FOLDERS).find(([one]) => pathname.startsWith(one)) ?? [];
      response.setHeader('Access-Control-Allow-Origin', '*');
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
      try {
        const bytes = await readFile(join(folder!, pathname.slice(prefix!.length)));
        if (pathname.endsWith('.wasm')) response.setHeader('Content-Type', 'application/wasm');
        send(pathname, bytes, response);
      } catch {
        // As servers of single-page apps do.
        if (pathname.startsWith('/pages/'))
          response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html>');
        else response.writeHead(404, { 'Content-Type': 'text/plain' }).end();
      }
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server };
}

function half(bytes: Buffer, response: ServerResponse): () => void {
  const middle = bytes.length >> 1;
  response.write(bytes.subarray(0, middle));
  return () => void response.end(bytes.subarray(middle));
}

const MODEL = '/models/affine_fixed.onnx';
const ENGINE = '/ort/ort-wasm-simd-threaded.wasm';

test('model and engine are downloaded side by side, with one total @once', async ({ open }) => {
  // The model stops in its middle until the engine has come as far, and the engine until the page says that it knows
  // the total.
  const waiting = new Map<string, () => void>();
  const { origin, server } = await serve((path, bytes, response) => {
    waiting.set(path, half(bytes, response));
    if (waiting.has(MODEL) && waiting.has(ENGINE)) waiting.get(MODEL)!();
  });
  server.on('request', ({ url }) => {
    if (url !== '/total') return;
    waiting.get(ENGINE)?.();
    waiting.delete(ENGINE);
  });
  try {
    const page = await open();
    const events = await page.evaluate(async (origin) => {
      const events: Progress[] = [];
      const client = await window.tabserve.load(`${origin}/models/affine_fixed.onnx`, {
        handler: 'base_handler',
        backends: ['onnx/wasm'],
        assets: `${origin}/ort/`,
        config: { engine: { threads: 1 } },
        onProgress: (progress) => {
          events.push(progress);
          if (progress.overall.total !== undefined) void fetch(`${origin}/total`);
        },
      });
      await client.dispose();
      return events;
    }, origin);
    expect(new Set(events.map(({ file }) => file))).toEqual(
      new Set(['affine_fixed.onnx', 'ort-wasm-simd-threaded.wasm']),
    );
    const sizes = await Promise.all(
      ['test/models/affine_fixed.onnx', 'node_modules/onnxruntime-web/dist/ort-wasm-simd-threaded.wasm'].map(
        async (path) => (await readFile(join(ROOT, path))).length,
      ),
    );
    const total = sizes[0]! + sizes[1]!;
    expect(events.at(-1)!.overall).toEqual({ loaded: total, total, fraction: 1 });
    const loaded = events.map(({ overall }) => overall.loaded);
    expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
    // It is known before the engine's second half has come, and never another one.
    const totals = events.flatMap(({ overall }) => overall.total ?? []);
    expect(new Set(totals)).toEqual(new Set([total]));
    const known = events.find(({ overall }) => overall.total !== undefined)!;
    expect(known.overall.loaded).toBeLessThanOrEqual(sizes[0]! + sizes[1]! / 2);
  } finally {
    server.close();
  }
});

test('a line is never too slow for startupTimeout: bytes of model and engine count @once @full', async ({ open }) => {
  const SECONDS = 4;
  const PIECES = 12;
  // Each file takes half as long again as the limit, without a longer pause than a tenth of it.
  const { origin, server } = await serve((_, bytes, response) => {
    let sent = 0;
    const timer = setInterval(
      () => {
        const from = Math.floor((bytes.length * sent) / PIECES);
        response.write(bytes.subarray(from, Math.floor((bytes.length * ++sent) / PIECES)));
        if (sent < PIECES) return;
        clearInterval(timer);
        response.end();
      },
      (1500 * SECONDS) / PIECES,
    );
  });
  try {
    const page = await open();
    const answer = await page.evaluate(
      async ({ origin, startupTimeout }) => {
        // The server of the sources is slow at first.
        const options = { handler: 'base_handler', backends: ['tfjs/wasm'] } as const;
        await (await window.tabserve.load('/test/models/tfjs/affine_fixed.json', options)).dispose();
        const started = performance.now();
        const client = await window.tabserve.load(`${origin}/models/tfjs/affine_fixed.json`, {
          ...options,
          assets: `${origin}/tfjs/`,
          startupTimeout,
        });
        const seconds = (performance.now() - started) / 1000;
        await client.dispose();
        return seconds;
      },
      { origin, startupTimeout: SECONDS },
    );
    expect(answer).toBeGreaterThan(SECONDS);
  } finally {
    server.close();
  }
});

for (const [engine, file, folder] of [
  ['onnx/wasm', 'ort-wasm-simd-threaded.wasm', '/models/'],
  ['tfjs/wasm', 'tfjs-backend-wasm-simd.wasm', '/models/'],
] as const) {
  test(`${engine}: a missing .wasm is named, with the remedy @once`, async ({ open }) => {
    const { origin, server } = await serve((_, bytes, response) => void response.end(bytes));
    try {
      const page = await open();
      const load = (assets: string) =>
        page.evaluate(
          async ({ assets, engine }) =>
            await window.failure(
              window.tabserve.load(
                engine === 'onnx/wasm' ? '/test/models/affine_fixed.onnx' : '/test/models/tfjs/affine_fixed.json',
                { handler: 'base_handler', backends: [engine], assets, config: { engine: { threads: 1 } } },
              ),
            ),
          { assets, engine },
        );
      const missing = await load(`${origin}${folder}`);
      expect(missing.code).toBe('no-backend');
      expect(missing.message).toContain(`${origin}${folder}${file}`);
      expect(missing.message).toContain('the server answered 404, as text/plain');
      expect(missing.message).toContain('"assets"');
      const html = await load(`${origin}/pages/`);
      expect(html.message).toContain(
        `${origin}/pages/${file} could not be loaded: the server answered 200, as text/html`,
      );
    } finally {
      server.close();
    }
  });
}

const AFFINE = readFileSync(join(ROOT, 'test/models/affine_fixed.onnx'));
const CORS = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Allow-Headers': '*' };

/** Loads a model from a server that misbehaves. */
async function load(
  page: Page,
  model: string,
  options: Pick<ClientOptions, 'request' | 'allowedOrigins' | 'integrity'> = {},
): Promise<{ events: Progress[]; failure?: { code: string; message: string } }> {
  return await page.evaluate(
    async ({ model, options }) => {
      const events: Progress[] = [];
      const more = {
        handler: 'base_handler',
        backends: ['onnx/wasm'],
        onProgress: (event: Progress) => events.push(event),
      } as const;
      try {
        const client = await window.tabserve.load(model, { ...more, ...options });
        await client.dispose();
        return { events };
      } catch (error) {
        const { code, message } = error as { code: string; message: string };
        return { events, failure: { code, message } };
      }
    },
    { model, options },
  );
}

test('redirects from another origin: none is followed unless origins are named; then only to those, without Referer and headers @once', async ({
  open,
}) => {
  const [models, cdn, foreign] = await Promise.all(
    [0, 1, 2].map(() => BadServer.start({ files: { '/m.onnx': AFFINE }, headers: CORS })),
  );
  try {
    const page = await open();
    const url = `${models!.origin}/m.onnx`;
    models!.plan('/m.onnx', { kind: 'redirect', to: `${foreign!.origin}/m.onnx` });
    const refused = await load(page, url);
    expect(refused.failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('allowedOrigins') });
    expect(foreign!.seen).toEqual([]);
    expect(models!.seen).toHaveLength(1);

    models!.plan('/m.onnx', { kind: 'redirect', to: `${cdn!.origin}/m.onnx` });
    const request = { headers: { Authorization: 'Bearer secret', 'X-Key': 'secret' } };
    expect(await load(page, url, { allowedOrigins: [cdn!.origin], request })).toMatchObject({
      events: expect.any(Array),
    });
    const [first, second] = models!.seen.slice(1);
    expect(first!.headers).toMatchObject({ authorization: 'Bearer secret', 'x-key': 'secret' });
    expect(second!.headers['x-key']).toBeUndefined();
    expect(cdn!.seen).toHaveLength(1);
    for (const { headers } of [...models!.seen, ...cdn!.seen]) expect(headers['referer']).toBeUndefined();
    const { authorization, 'x-key': key, cookie } = cdn!.seen[0]!.headers;
    expect([authorization, key, cookie]).toEqual([undefined, undefined, undefined]);

    models!.plan('/m.onnx', { kind: 'redirect', to: `${foreign!.origin}/m.onnx` });
    const elsewhere = await load(page, url, { allowedOrigins: [cdn!.origin] });
    expect(elsewhere.failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining(foreign!.origin) });
  } finally {
    for (const server of [models, cdn, foreign]) server!.stop();
  }
});

test("redirects from the page's own origin: followed within it; to another origin only if that is named, and never asked otherwise @once", async ({
  open,
}) => {
  const foreign = await BadServer.start({ files: { '/m.onnx': AFFINE }, headers: CORS });
  try {
    const page = await open();
    const { origin } = new URL(page.url());
    await page.route('**/inside.onnx', (route) =>
      route.fulfill({ status: 302, headers: { location: '/test/models/affine_fixed.onnx' } }),
    );
    await page.route('**/leaving.onnx', (route) =>
      route.fulfill({ status: 302, headers: { location: `${foreign.origin}/m.onnx` } }),
    );
    expect((await load(page, `${origin}/inside.onnx`)).failure).toBeUndefined();
    const refused = await load(page, `${origin}/leaving.onnx`);
    expect(refused.failure).toMatchObject({ code: 'unsupported', message: expect.stringContaining('allowedOrigins') });
    expect(foreign.seen).toEqual([]);
    expect((await load(page, `${origin}/leaving.onnx`, { allowedOrigins: [foreign.origin] })).failure).toBeUndefined();
    expect(foreign.seen).toHaveLength(1);
  } finally {
    foreign.stop();
  }
});

test('another origin: a resumed download asks for no permission, and compression it does not tell breaks no bar @once', async ({
  open,
}) => {
  const server = await BadServer.start({ files: { '/m.onnx': AFFINE }, headers: CORS });
  try {
    const page = await open();
    const url = `${server.origin}/m.onnx`;
    server.plan('/m.onnx', { kind: 'cut', at: AFFINE.length >> 1 }, { kind: 'ok' });
    expect((await load(page, url)).failure).toBeUndefined();
    expect(server.seen).toHaveLength(2);
    expect(server.preflights).toBe(0);
    for (const length of [true, false]) {
      server.plan('/m.onnx', { kind: 'gzip', length });
      const { events, failure } = await load(page, `${url}?${length}`);
      expect(failure).toBeUndefined();
      const fractions = events.flatMap(({ overall }) => overall.fraction ?? []);
      expect(fractions).toEqual(fractions.toSorted((a, b) => a - b));
      expect(events.findLast(({ file, phase }) => file === 'm.onnx' && phase === 'download')).toMatchObject({
        loaded: AFFINE.length,
        total: AFFINE.length,
      });
      const { overall, phase } = events.at(-1)!;
      expect(overall).toEqual({ loaded: overall.loaded, total: overall.loaded, fraction: 1 });
      expect(phase).toBe('warm-up');
      expect(new Set(events.map((event) => event.phase))).toEqual(new Set(['download', 'compile', 'warm-up']));
    }
  } finally {
    server.stop();
  }
});

test('integrity of the caller: what does not match never reaches an engine; wrong options name themselves @once', async ({
  open,
}) => {
  const page = await open();
  const model = '/test/models/affine_fixed.onnx';
  const sha256 = createHash('sha256').update(AFFINE).digest('hex');
  const good = await load(page, model, { integrity: { 'affine_fixed.onnx': sha256 } });
  expect(good.failure).toBeUndefined();
  expect(good.events.some(({ phase }) => phase === 'verify')).toBe(true);
  const wrong = await load(page, model, { integrity: { 'affine_fixed.onnx': '0'.repeat(64) } });
  expect(wrong.failure).toMatchObject({ code: 'model-format', message: expect.stringContaining(sha256) });
  const misspelled = await load(page, model, { integrity: { 'Affine_fixed.onnx': sha256 } });
  expect(misspelled.failure).toMatchObject({
    code: 'model-format',
    message: expect.stringContaining('"affine_fixed.onnx" is meant'),
  });
  for (const [options, name] of [
    [{ request: { headers: { Cookie: 'a=b' } } }, 'request.headers.Cookie'],
    [{ request: { credentials: 'yes' } }, 'request.credentials'],
    [{ allowedOrigins: ['https://example.org/models'] }, 'allowedOrigins[0]'],
    [{ integrity: { 'm.onnx': 'abc' } }, 'integrity["m.onnx"]'],
  ] as const)
    expect((await load(page, model, options as object)).failure, name).toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(name),
    });
});

test('ONNX external data: the model computes what ONNX Runtime computes in Python @once', async ({ open }) => {
  const page = await open();
  const text = readFileSync(join(ROOT, 'test/models/external-data/expected.json'), 'utf8');
  const expected = JSON.parse(text) as { x: number[]; y: number[] }[];
  const answers = await page.evaluate(async (expected) => {
    const client = await window.tabserve.load('/test/models/external-data/model.onnx', {
      handler: 'base_handler',
      backends: ['onnx/wasm'],
    });
    const answers = [];
    for (const { x } of expected)
      answers.push(
        await client.predict({ x: { dtype: 'float32', dims: [1, 64], data: new Float32Array(x) } } as never),
      );
    await client.dispose();
    return answers.map((answer) =>
      JSON.stringify(answer, (_, value: unknown) => (ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value)),
    );
  }, expected);
  answers.forEach((answer, index) => {
    const numbers = answer
      .match(/-?\d+\.\d+(e-?\d+)?/g)!
      .map(Number)
      .slice(-8);
    numbers.forEach((number, at) => expect(number).toBeCloseTo(expected[index]!.y[at]!, 4));
  });
});

test('a connection that stalls is resumed @once @full', async ({ open }) => {
  const server = await BadServer.start({ files: { '/m.onnx': AFFINE }, headers: CORS });
  try {
    const page = await open();
    const half = AFFINE.length >> 1;
    server.plan('/m.onnx', { kind: 'stall', at: half }, { kind: 'ok' });
    await page.evaluate(async (model) => {
      const client = window.tabserve.connect(window.workers.impatient, {
        model,
        handler: 'base_handler',
        backends: ['onnx/wasm'],
      } as never);
      await client.initialize();
      await client.dispose();
    }, `${server.origin}/m.onnx`);
    expect(server.seen.map(({ headers }) => headers['range'])).toEqual([undefined, `bytes=${half}-`]);
  } finally {
    server.stop();
  }
});

test('Retry-After of another origin is kept where its server exposes it @once', async ({ open }) => {
  const headers = { ...CORS, 'Access-Control-Expose-Headers': 'Retry-After' };
  const server = await BadServer.start({ files: { '/m.onnx': AFFINE }, headers });
  try {
    const page = await open();
    const busy = (seconds: string) => ({ kind: 'status', status: 503, headers: { 'Retry-After': seconds } }) as const;
    server.plan('/m.onnx', busy('1'), { kind: 'ok' });
    expect((await load(page, `${server.origin}/m.onnx`)).failure).toBeUndefined();
    const [first, second] = server.seen;
    // Without the header it would have come after half a second at most.
    expect(second!.at - first!.at).toBeGreaterThan(990);
    server.plan('/m.onnx', busy('31'), { kind: 'ok' });
    const refused = await load(page, `${server.origin}/m.onnx?again`);
    expect(refused.failure).toMatchObject({ code: 'network', message: expect.stringContaining('503') });
    expect(server.seen).toHaveLength(3);
  } finally {
    server.stop();
  }
});

test('another origin without CORS: the error names that as a possible cause @once @full', async ({ open }) => {
  const server = await BadServer.start({ files: { '/m.onnx': AFFINE } });
  try {
    const { failure } = await load(await open(), `${server.origin}/m.onnx`);
    expect(failure).toMatchObject({ code: 'network', message: expect.stringContaining('Access-Control-Allow-Origin') });
  } finally {
    server.stop();
  }
});

test('a large model, whose weights are read one by one, computes what it computes as one piece @once @full', async ({
  open,
}) => {
  const page = await open();
  const answers = await page.evaluate(async () => {
    const { load } = window.tabserve;
    const model = await (await fetch('/test/models/moderation/model.onnx')).blob();
    // With 15 MB of documentation, field 6 of onnx.proto.
    const documentation = new Blob([Uint8Array.of(50, 128, 128, 192, 7), new Uint8Array(15 * 2 ** 20)]);
    const answers = [];
    for (const parts of [[model], [model, documentation]]) {
      const client = await load(new File(parts, 'model.onnx'), {
        handler: 'base_handler',
        backends: ['onnx/wasm'],
      });
      const data = Float32Array.from({ length: 3 * 224 * 224 }, (_, at) => Math.abs(Math.sin(at)));
      const answer = await client.predict({ data, dims: [224, 224, 3] } as never);
      answers.push(
        JSON.stringify(answer, (_, value: unknown) =>
          ArrayBuffer.isView(value) ? [...(value as Float32Array)] : value,
        ),
      );
      await client.dispose();
    }
    return answers;
  });
  expect(answers[0]).toMatch(/\d\.\d+,/);
  expect(answers[1]).toBe(answers[0]);
});

test('weights of a large model go to the GPU one by one: it computes what WASM does, with JSPI and without @full', async ({
  open,
  backend,
}) => {
  test.skip(backend !== 'webgpu', 'it is about WebGPU');
  test.slow();
  const page = await open();
  const answers = await page.evaluate(async () => {
    const { load, connect } = window.tabserve;
    const model = await (await fetch('/test/models/moderation/model.onnx')).blob();
    const large = new File([model, Uint8Array.of(50, 128, 128, 192, 7), new Uint8Array(15 * 2 ** 20)], 'model.onnx');
    const input = { data: Float32Array.from({ length: 3 * 224 * 224 }, (_, at) => Math.abs(Math.sin(at))) };
    const answers = [];
    for (const [worker, file, backend] of [
      [undefined, new File([model], 'model.onnx'), 'onnx/wasm'],
      [undefined, large, 'onnx/webgpu'],
      [window.workers.noJspi, large, 'onnx/webgpu'],
    ] as const) {
      const options = { handler: 'base_handler', backends: [backend] } as const;
      const client = worker ? connect(worker, { ...options, model: file }) : await load(file, options);
      await client.initialize();
      const answer = (await client.predict({ ...input, dims: [224, 224, 3] } as never)) as object;
      answers.push(Object.values(answer).map(({ data }: { data: Float32Array }) => [...data]));
      await client.dispose();
    }
    return answers;
  });
  const [onWasm, ...onGpu] = answers.map((outputs) => outputs.flat());
  expect(onWasm!.length).toBeGreaterThan(0);
  for (const numbers of onGpu) expect(numbers).toEqual(onWasm!.map((value) => expect.closeTo(value, 4)));
});
