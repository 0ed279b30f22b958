import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { readDownloadSettings } from '../../../src/page/options/download-settings.ts';
import { compileWasm } from '../../../src/worker/engines/wasm-module.ts';
import { TabServeError } from '../../../src/contract/errors.ts';
import { limitConcurrency } from '../../../src/worker/models/download/concurrency.ts';
import { requestFile, type RequestPolicy } from '../../../src/shared/request-policy.ts';
import { BadServer, type Behavior } from '../../bad-server.ts';

const FILE = Buffer.from('weights');

/** Requests a file that is redirected to another server, and again elsewhere. */
async function redirected(policy: (servers: readonly BadServer[]) => RequestPolicy) {
  const servers = await Promise.all([0, 1, 2].map(() => BadServer.start({ files: { '/m': FILE } })));
  const [models, cdn] = servers;
  models!.plan('/m', { kind: 'redirect', to: `${cdn!.origin}/m` });
  try {
    const response = await requestFile(fetch, new URL('/m', models!.origin), policy(servers));
    return { servers, text: await response.text(), error: undefined };
  } catch (error) {
    return { servers, text: undefined, error: error as { code: string; message: string } };
  } finally {
    for (const server of servers) server.stop();
  }
}

test('no redirect from another origin is followed unless the app names origins', async () => {
  for (const allowedOrigins of [undefined, []]) {
    const { servers, error } = await redirected(() => ({ allowedOrigins }));
    expect(error).toMatchObject({ code: 'unsupported', message: expect.stringContaining('allowedOrigins') });
    expect(servers[1]!.seen).toEqual([]);
  }
});

test('a redirect may lead to origins that the app names, and to no other', async () => {
  const good = await redirected(([, cdn]) => ({ allowedOrigins: [cdn!.origin] }));
  expect(good.text).toBe('weights');
  expect(good.servers[0]!.seen).toHaveLength(1);
  const bad = await redirected(([, , other]) => ({ allowedOrigins: [other!.origin] }));
  expect(bad.error).toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('redirected to http://127'),
  });
});

test('a redirect that never ends is followed twenty times, as browsers do', async () => {
  for (const [redirects, isAnswered] of [
    [20, true],
    [21, false],
  ] as const) {
    const asked: string[] = [];
    const answer = (async (url: URL) => {
      const { length } = asked;
      asked.push(url.href);
      return length < redirects
        ? new Response(null, { status: 302, headers: { location: `/m${length}` } })
        : new Response('weights');
    }) as unknown as typeof fetch;
    const response = requestFile(answer, new URL('https://models.example/m'), {});
    if (isAnswered) expect(await (await response).text()).toBe('weights');
    else
      await expect(response).rejects.toMatchObject({
        code: 'network',
        message: expect.stringContaining('more than 20 times'),
      });
    expect(asked).toHaveLength(21);
  }
});

test('headers of the app go to its own origin only', async () => {
  const headers = { Authorization: 'Bearer secret', 'X-Key': 'secret' };
  for (const pageOrigin of ['https://page.example', undefined]) {
    const { servers, text } = await redirected(([, cdn]) => ({ allowedOrigins: [cdn!.origin], headers, pageOrigin }));
    expect(text).toBe('weights');
    const [asked, ...again] = servers[0]!.seen;
    expect(asked!.headers).toMatchObject({ authorization: 'Bearer secret', 'x-key': 'secret' });
    // A browser asks again without them, and follows; otherwise each redirect is followed alone.
    expect(again.map((one) => one.headers['x-key'])).toEqual(pageOrigin ? [undefined] : []);
    const { headers: sent } = servers[1]!.seen[0]!;
    expect([sent['authorization'], sent['x-key'], sent['referer']]).toEqual([undefined, undefined, undefined]);
  }
});

test("the page's own origin is requested in a mode in which the browser follows no redirect to another one", async () => {
  const inits: RequestInit[] = [];
  const fetch = ((_: URL, init: RequestInit) => (
    inits.push(init),
    Promise.resolve(new Response(''))
  )) as unknown as typeof globalThis.fetch;
  const page = 'https://page.example';
  await requestFile(fetch, new URL('/m', page), { pageOrigin: page, headers: { 'X-Key': '1' } });
  await requestFile(fetch, new URL('/m', page), { pageOrigin: page, allowedOrigins: [page] });
  await requestFile(fetch, new URL('/m', 'https://other.example'), { pageOrigin: page, credentials: 'include' });
  expect(inits.map(({ mode, redirect }) => mode ?? redirect)).toEqual(['same-origin', 'same-origin', 'manual']);
  expect(inits.map(({ credentials }) => credentials)).toEqual(['same-origin', 'same-origin', 'include']);
  for (const { referrerPolicy } of inits) expect(referrerPolicy).toBe('no-referrer');
});

test('the options of downloads: what is right is copied, what is wrong is named', () => {
  const sha256 = 'a'.repeat(64);
  expect(
    readDownloadSettings({
      request: { headers: { Authorization: 'x' }, credentials: 'include' },
      allowedOrigins: ['https://cdn.example.org/', 'http://localhost:8080'],
      integrity: { 'm.onnx': sha256, 'c.yaml': { bytes: 3 } },
    }),
  ).toEqual({
    request: { headers: { Authorization: 'x' }, credentials: 'include' },
    allowedOrigins: ['https://cdn.example.org', 'http://localhost:8080'],
    integrity: { 'm.onnx': { sha256 }, 'c.yaml': { bytes: 3 } },
  });
  expect(readDownloadSettings({})).toEqual({});
  for (const [name, options] of [
    ['request', { request: 'Bearer' }],
    ['request.header', { request: { header: {} } }],
    ['request.headers', { request: { headers: [] } }],
    ['request.headers.X', { request: { headers: { X: 1 } } }],
    ['request.headers.Range', { request: { headers: { Range: 'bytes=0-' } } }],
    ['request.headers.X', { request: { headers: { X: 'a\nb' } } }],
    ['request.headers.a b', { request: { headers: { 'a b': '' } } }],
    ['request.credentials', { request: { credentials: true } }],
    ['allowedOrigins', { allowedOrigins: 'https://a.example' }],
    ['allowedOrigins[1]', { allowedOrigins: ['https://a.example', '*'] }],
    ['allowedOrigins[0]', { allowedOrigins: ['https://a.example/models'] }],
    ['allowedOrigins[0]', { allowedOrigins: ['https://user@a.example'] }],
    ['allowedOrigins[0]', { allowedOrigins: ['file:///'] }],
    ['integrity', { integrity: [] }],
    ['integrity["m"]', { integrity: { m: 'abc' } }],
    ['integrity["m"]', { integrity: { m: {} } }],
    ['integrity["m"]', { integrity: { m: null } }],
    ['integrity["m"]', { integrity: { m: { bytes: -1 } } }],
    ['integrity["m"]', { integrity: { m: { sha: sha256 } } }],
  ] as const)
    expect(() => readDownloadSettings(options as object), name).toThrow(
      expect.objectContaining({ code: 'model-config', message: expect.stringContaining(name) }),
    );
});

test('at most the given number of downloads run at once, in their order, and a failed one makes room', async () => {
  const limit = limitConcurrency(2);
  const started: number[] = [];
  const finish: (() => void)[] = [];
  const runs = [0, 1, 2, 3].map((index) =>
    limit(async () => {
      started.push(index);
      await new Promise<void>((resolve) => (finish[index] = resolve));
      if (index === 0) throw new Error('broken');
    }).catch(() => {}),
  );
  await Promise.resolve();
  expect(started).toEqual([0, 1]);
  finish[0]!();
  await runs[0];
  expect(started).toEqual([0, 1, 2]);
  finish[1]!();
  await runs[1];
  expect(started).toEqual([0, 1, 2, 3]);
});

test('a download that waits for its turn leaves when it is aborted, and is not begun', async () => {
  const limit = limitConcurrency(1);
  let finish!: () => void;
  const first = limit(() => new Promise<void>((resolve) => (finish = resolve)));
  const [aborter, reason] = [new AbortController(), new TabServeError('aborted', 'not needed')];
  const started: string[] = [];
  const dropped = limit(async () => void started.push('dropped'), aborter.signal);
  const last = limit(async () => void started.push('last'), new AbortController().signal);
  aborter.abort(reason);
  await expect(dropped).rejects.toBe(reason);
  await expect(limit(async () => void started.push('late'), aborter.signal)).rejects.toBe(reason);
  finish();
  await Promise.all([first, last]);
  expect(started).toEqual(['last']);
});

test("an engine's .wasm: a broken connection and 503 are retried, what does not compile is not", async () => {
  const wasm = readFileSync(
    new URL('../../../node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm', import.meta.url),
  );
  const server = await BadServer.start({ files: { '/e.wasm': wasm, '/bad.wasm': FILE } });
  const compile = async (path: string, ...plan: Behavior[]) => {
    server.plan(path, ...plan);
    const loaded: number[] = [];
    const onProgress = (progress: { loaded: number }) => loaded.push(progress.loaded);
    await compileWasm(
      new URL(path, server.origin),
      { name: 'e', bytes: wasm.length, version: '1' },
      { onProgress, fetch },
    );
    expect(loaded).toEqual(loaded.toSorted((a, b) => a - b));
  };
  try {
    await compile('/e.wasm', { kind: 'cut', at: 1000 }, { kind: 'ok' });
    await compile('/e.wasm', { kind: 'status', status: 503 }, { kind: 'ok' });
    expect(server.seen).toHaveLength(4);
    await expect(compile('/bad.wasm', { kind: 'ok' })).rejects.toMatchObject({ code: 'backend-failed' });
    expect(server.seen).toHaveLength(5);
  } finally {
    server.stop();
  }
});

test("an engine's file that is stored as gzip is inflated, compiled and kept; a damaged one is a typed error", async () => {
  const wasm = readFileSync('node_modules/@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm.wasm');
  const stored = gzipSync(wasm);
  const damaged = Buffer.from(stored);
  damaged.fill(0, 1000, 2000);
  const server = await BadServer.start({
    files: {
      '/e.wasm': stored,
      '/damaged.wasm': damaged,
      '/short.wasm': stored.subarray(0, -100),
      '/long.wasm': Buffer.concat([stored, Buffer.from('more')]),
      '/bomb.wasm': gzipSync(Buffer.alloc(2 ** 28 + 1), { level: 1 }),
    },
  });
  let kept: Blob | undefined;
  const compile = async (path: string) =>
    await compileWasm(
      new URL(path, server.origin),
      { name: 'e', bytes: wasm.length, version: '1' },
      { onProgress: () => {}, fetch, cached: async (_, download) => (kept = await download(() => {})) },
    );
  try {
    expect(WebAssembly.Module.exports(await compile('/e.wasm'))).toEqual(
      WebAssembly.Module.exports(await WebAssembly.compile(wasm)),
    );
    expect(Buffer.from(await kept!.arrayBuffer()).equals(wasm)).toBe(true);
    for (const path of ['/damaged.wasm', '/short.wasm', '/long.wasm'])
      await expect(compile(path), path).rejects.toMatchObject({
        code: 'backend-failed',
        message: expect.stringContaining('it is a damaged gzip file'),
      });
    await expect(compile('/bomb.wasm')).rejects.toMatchObject({
      code: 'backend-failed',
      message: expect.stringContaining('a gzip file of more than 268435456 bytes'),
    });
    expect(server.seen).toHaveLength(5);
  } finally {
    server.stop();
  }
});
