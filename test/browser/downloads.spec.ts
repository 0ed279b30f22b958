import { readFile } from 'node:fs/promises';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Progress } from '../../src/index.ts';
import { expect, test } from './fixtures.ts';

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

test('model and engine are downloaded side by side, with one total @once', async ({ open }) => {
  // Each file stops in its middle until the others have come as far.
  const waiting = new Map<string, () => void>();
  const { origin, server } = await serve((path, bytes, response) => {
    waiting.set(path, half(bytes, response));
    if (waiting.has('/models/affine_fixed.onnx') && waiting.has('/ort/ort-wasm-simd-threaded.wasm'))
      for (const finish of waiting.values()) finish();
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
        onProgress: (progress) => events.push(progress),
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
    // It is known before the first half has come, and never another one.
    const totals = events.flatMap(({ overall }) => overall.total ?? []);
    expect(new Set(totals)).toEqual(new Set([total]));
    expect(events.find(({ overall }) => overall.total !== undefined)!.overall.loaded).toBeLessThan(total / 2);
  } finally {
    server.close();
  }
});

test('a line is never too slow for startupTimeout: bytes of model and engine count @once', async ({ open }) => {
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
