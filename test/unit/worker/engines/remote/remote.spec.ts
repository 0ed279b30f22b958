import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { readRemote } from '../../../../../src/page/options/remote-options.ts';
import type { RemoteModel, RemoteServer } from '../../../../../src/contract/remote.ts';
import type { Session, Tensors } from '../../../../../src/contract/tensors.ts';
import { createEngine, type RemoteEnvironment } from '../../../../../src/worker/engines/remote/engine.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';
import { ModelServer } from '../../../../../src/server/model-server.ts';
import { createProtocolServer, type ServedModel } from '../../../../remote/protocol-server.mjs';
import { FakeClient } from '../../../support/fake-client.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** y = 2x, and the sum of each row, rounded, as an integer of 64 bits. */
const double: ServedModel = {
  inputs: [{ name: 'x', datatype: 'FP32', shape: [-1, 2] }],
  outputs: [
    { name: 'y', datatype: 'FP32', shape: [-1, 2] },
    { name: 'sum', datatype: 'INT64', shape: [-1] },
  ],
  run(inputs) {
    const { shape } = inputs[0]!;
    const values = inputs[0]!.values as number[];
    const sum = (row: number): bigint => BASE + BigInt(Math.round(values[2 * row]! + values[2 * row + 1]!));
    return [
      { name: 'y', datatype: 'FP32', shape, values: values.map((value) => 2 * value) },
      {
        name: 'sum',
        datatype: 'INT64',
        shape: [shape[0]!],
        values: Array.from({ length: shape[0]! }, (_, row) => sum(row)),
      },
    ];
  },
};
/** 2⁵³ + 1, which is no double. */
const BASE = 9_007_199_254_740_993n;
const one: ServedModel = {
  ...double,
  outputs: double.outputs.slice(0, 1),
  run: async (inputs) => (await double.run(inputs)).slice(0, 1),
};
const half: ServedModel = { ...double, inputs: [{ name: 'x', datatype: 'FP16', shape: [-1, 2] }] };

const server = createProtocolServer({ double, one, half, 'a/b c': one });
let base: string;
test.beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
test.afterAll(() => {
  server.closeAllConnections();
  server.close();
});
test.beforeEach(() => {
  server.seen.length = 0;
  server.most = 0;
});

const x: Tensors = { x: { dtype: 'float32', dims: [2, 2], data: new Float32Array([1, 2, 3, 4.5]) } };
const DECLARED: RemoteModel = {
  inputs: [{ name: 'x', dtype: 'float32', dims: [null, 2] }],
  outputs: [{ name: 'y', dtype: 'float32', dims: [null, 2] }],
};

interface Setting extends Partial<RemoteServer>, Omit<RemoteEnvironment, 'remote'> {
  readonly name?: string;
  readonly model?: RemoteModel;
}

/** Opens a model behind a fault of the test's server; its clock stands still, but for retries, which come at once. */
async function open(fault: string, setting: Setting = {}): Promise<Session> {
  const { name = 'one', model = {}, fetch, clock, random, ...rest } = setting;
  const remote = { url: fault === '' ? base : `${base}${fault}/`, timeout: 5000, ...rest };
  const engine = createEngine({ remote, random: random ?? (() => 0), clock: clock ?? soon, ...(fetch && { fetch }) });
  return await engine.open(createFiles({}), name, { remote: model });
}

/** A clock on which retries come at once, and timeouts in their time. */
const soon = {
  now: () => (soon.time += 10_000),
  time: 0,
  schedule(task: () => void, milliseconds: number) {
    const timer = setTimeout(task, milliseconds <= 1000 ? 0 : milliseconds);
    return () => clearTimeout(timer);
  },
};

const failure = async (work: Promise<unknown>): Promise<{ code: string; message: string; retriable: boolean }> =>
  await work.then(
    () => Promise.reject(new Error('it succeeded')),
    (error: { code: string; message: string; retriable: boolean }) => error,
  );
const runs = async (fault: string, setting?: Setting): ReturnType<typeof failure> =>
  await failure((await open(fault, setting)).run(x));

test('asks for readiness and metadata, then sends tensors as bytes', async () => {
  const session = await open('', { name: 'double' });
  expect(session.inputs).toEqual([{ name: 'x', dtype: 'float32', dims: [null, 2] }]);
  expect(session.outputs).toEqual([
    { name: 'y', dtype: 'float32', dims: [null, 2] },
    { name: 'sum', dtype: 'int64', dims: [null] },
  ]);
  const outputs = await session.run(x);
  expect(outputs['y']).toEqual({ dtype: 'float32', dims: [2, 2], data: new Float32Array([2, 4, 6, 9]) });
  expect(server.seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /v2/models/double/ready',
    'GET /v2/models/double',
    'GET /v2',
    'POST /v2/models/double/infer',
  ]);
  expect(server.seen[3]!.headers).toMatchObject({ 'content-type': 'application/octet-stream' });
  await session[Symbol.asyncDispose]();
});

test('sends JSON to a server without the extension, and keeps all digits of integers', async () => {
  for (const [fault, model] of [['json-only'], ['no-metadata'], ['', { binary: false }], ['answers-json']] as const) {
    const session = await open(fault, { name: 'double', ...(model && { model }) });
    expect((await session.run(x))['sum']!.data).toEqual(new BigInt64Array([BASE + 3n, BASE + 8n]));
    const { headers } = server.seen.at(-1)!;
    expect(headers, fault).toMatchObject({
      'content-type': fault === 'answers-json' ? 'application/octet-stream' : 'application/json',
    });
  }
});

test('names and versions are in the path, escaped', async () => {
  await open('', { name: 'a/b c', model: { version: '1' } });
  expect(server.seen[0]!.url).toBe('/v2/models/a%2Fb%20c/versions/1/ready');
  expect(await failure(open('', { name: '..' }))).toMatchObject({ code: 'model-config' });
  const unknown = {
    code: 'backend-failed',
    message: expect.stringMatching(/answered 404: there is no (model|version)/),
  };
  expect(await failure(open('', { name: 'none' }))).toMatchObject(unknown);
  expect(await failure(open('', { model: { version: '2' } }))).toMatchObject(unknown);
});

test('headers go along, and the protocol’s own win', async () => {
  expect(await failure(open('private'))).toMatchObject({
    code: 'backend-failed',
    message: expect.stringContaining('401: no token'),
  });
  const headers = { authorization: 'Bearer secret', 'X-Team': 'digits', 'content-type': 'text/plain' };
  const session = await open('private', { headers });
  await session.run(x);
  expect(server.seen.at(-1)!.headers).toMatchObject({
    authorization: 'Bearer secret',
    'x-team': 'digits',
    'content-type': 'application/octet-stream',
  });
});

test('what cannot be opened leaves the other backends', async () => {
  const cases: [string, RegExp, Setting?][] = [
    ['not-ready', /The model is not ready: .* answered 200: \{"name":"one","ready":false\}/],
    ['all-html', /The model is not ready: .* answered 200: HTML, so it is probably no server of models/],
    ['bf16', /"x" of the server's model: its datatype is "BF16", expected one of/],
    [
      'silent',
      /does not say which inputs the model has\. Declare them in the archive's config: engine\.remote\.inputs/,
    ],
    ['json-only', /"x" is float16, which JSON cannot hold/, { name: 'half' }],
    [
      '',
      /http:\/\/127\.0\.0\.1:9\/v2\/models\/one\/ready cannot be reached.*\(after 4 retries\)/,
      { url: 'http://127.0.0.1:9/' },
    ],
  ];
  for (const [fault, message, setting] of cases)
    expect(await failure(open(fault, setting)), fault).toMatchObject({
      code: 'backend-failed',
      message: expect.stringMatching(message),
    });
  expect((await open('silent', { model: DECLARED })).inputs).toEqual(DECLARED.inputs);
  expect(() => createEngine({ remote: undefined })).toThrow(expect.objectContaining({ code: 'backend-failed' }));
});

test('a wrong answer fails the request, and says what is wrong', async () => {
  const cases: [string, RegExp, RemoteModel?][] = [
    ['html', /one\/infer answered 200: HTML/],
    ['cut', /it is not JSON/],
    ['short', /binary_data_size of 16, and 13 bytes are left/],
    ['other-shape', /tensor "y"|has "y" as float32 \[2, 2, 1\], expected float32 \[\?, 2\]/],
    ['other-size', /has "y" as float32 \[2, 3\], expected float32 \[\?, 2\]/],
    ['other-dtype', /has "y" as float64 \[2, 2\], expected float32 \[\?, 2\]/],
    ['other-name', /has no output "y", expected float32 \[\?, 2\]/],
    ['nan', /JSON has neither NaN nor infinity/, { binary: false }],
    ['too-large', /more than 268435456 bytes/],
    ['refuses', /answered 400: unexpected shape for input\.$/],
    ['error', /answered 500: Internal error in the kernel: x{100,200}…\.$/],
  ];
  for (const [fault, message, model] of cases)
    expect(await runs(fault, model && { model }), fault).toMatchObject({
      code: 'inference-failed',
      message: expect.stringMatching(message),
      retriable: false,
    });
  // In bytes, NaN is an answer: whether it is right, the golden examples show.
  const { y } = await (await open('nan')).run(x);
  expect(y!.data).toEqual(new Float32Array([NaN, NaN, NaN, NaN]));
});

test('a busy or broken server is asked again, with backoff', async () => {
  for (const fault of ['busy-twice', 'broken-twice']) {
    server.seen.length = 0;
    const { y } = await (await open(fault)).run(x);
    expect(y!.data[3]).toBe(9);
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(3);
  }
  for (const [fault, message] of [
    ['busy', /answered 503: all workers are busy\. \(after 4 retries\)/],
    ['half', /one\/infer cannot be reached, or ended the connection: .* \(after 4 retries\)/],
  ] as const) {
    server.seen.length = 0;
    const error = await runs(fault);
    expect(error, fault).toMatchObject({
      code: 'device-lost',
      retriable: true,
      message: expect.stringMatching(message),
    });
    expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(5);
  }
});

test('retries wait 0.25 s, 0.5 s, 1 s and 2 s at least', async () => {
  const clock = new FakeClock();
  const times: number[] = [];
  const fetch = async (): Promise<Response> => {
    times.push(clock.now());
    return new Response('busy', { status: 503 });
  };
  const opening = failure(open('', { clock, fetch }));
  for (let second = 0; second < 10; second++) await clock.advance(1000);
  expect(await opening).toMatchObject({ code: 'backend-failed' });
  expect(times.slice(1).map((time, index) => time - times[index]!)).toEqual([250, 500, 1000, 2000]);
  expect(clock.pending, 'timers that are left').toBe(0);
});

test('while a model is opened, a server that cannot be reached is waited for only if no other backend comes after it', async () => {
  let asked = 0;
  const fetch = async (): Promise<Response> => {
    asked += 1;
    throw new TypeError('connect ECONNREFUSED');
  };
  for (const [hasFallback, attempts] of [
    [true, 1],
    [false, 5],
  ] as const) {
    asked = 0;
    expect(await failure(open('', { fetch, hasFallback }))).toMatchObject({
      code: 'backend-failed',
      message: expect.stringContaining('ECONNREFUSED'),
    });
    expect(asked).toBe(attempts);
  }
  for (const [backends, hasFallback] of [
    [['remote', 'wasm'], true],
    [['wasm', 'remote'], false],
    [['remote/http'], false],
  ] as const)
    expect(readRemote({ backends, remote: { url: base } }, {}).server).toMatchObject({ hasFallback });
});

test('a slow server counts as lost, and is not asked again', async () => {
  const session = await open('slow', { timeout: 1500 });
  const error = await failure(session.run(x));
  expect(error).toMatchObject({
    code: 'device-lost',
    retriable: true,
    message: expect.stringContaining('did not answer within 1500 ms'),
  });
  expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('no redirect is followed: neither tensors nor the token reach another origin', async () => {
  const elsewhere = createProtocolServer({ one });
  await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
  const headers = { authorization: 'Bearer secret', 'x-elsewhere': origin };
  const error = await runs('redirect', { headers });
  elsewhere.close();
  expect(error).toMatchObject({
    code: 'device-lost',
    message: expect.stringContaining(`is redirected to ${origin}/v2`),
  });
  expect(elsewhere.seen).toEqual([]);
});

test('an abort ends the request, and the wait for its turn; the next request is answered', async () => {
  const slow = await open('slow');
  const aborter = new AbortController();
  const first = failure(slow.run(x, { signal: aborter.signal }));
  await expect.poll(() => server.seen.filter(({ method }) => method === 'POST').length).toBe(1);
  const second = failure(slow.run(x, { signal: aborter.signal }));
  aborter.abort(new Error('not needed'));
  for (const error of [await first, await second])
    expect(error).toMatchObject({ code: 'aborted', message: 'not needed' });
  expect(server.seen.filter(({ method }) => method === 'POST')).toHaveLength(1);
});

test('one request at a time is under way, whatever is asked', async () => {
  const session = await open('');
  const outputs = await Promise.all(Array.from({ length: 8 }, () => session.run(x)));
  expect(outputs.every(({ y }) => y!.data[3] === 9)).toBe(true);
  expect(server.most).toBe(1);
});

test('TorchServe: each row travels alone, as lists', async () => {
  const model: RemoteModel = { protocol: 'torchserve', ...DECLARED };
  const session = await open('', { model });
  const { y } = await session.run(x);
  expect(y).toEqual({ dtype: 'float32', dims: [2, 2], data: new Float32Array([2, 4, 6, 9]) });
  expect(server.seen.map(({ method, url, body }) => `${method} ${url} ${body}`)).toEqual([
    'GET /ping ',
    'POST /predictions/one [1,2]',
    'POST /predictions/one [3,4.5]',
  ]);
  const versioned = await open('', { model: { ...model, version: '1' } });
  await versioned.run(x);
  expect(server.seen.at(-1)!.url).toBe('/predictions/one/1');

  const outputs: RemoteModel['outputs'] = [...DECLARED.outputs!, { name: 'sum', dtype: 'int64', dims: ['rows'] }];
  const two = await open('', { name: 'double', model: { ...model, outputs } });
  expect((await two.run(x))['sum']).toEqual({
    dtype: 'int64',
    dims: [2],
    data: new BigInt64Array([BASE + 3n, BASE + 8n]),
  });
});

test('TorchServe: what is wrong is told', async () => {
  const torchserve = { protocol: 'torchserve' } as const;
  expect(await failure(open('', { model: torchserve }))).toMatchObject({
    code: 'model-config',
    message: expect.stringContaining('engine.remote.inputs is missing'),
  });
  expect(
    await failure(
      open('', { model: { ...torchserve, ...DECLARED, outputs: [{ name: 'y', dtype: 'float32', dims: [] }] } }),
    ),
  ).toMatchObject({ code: 'model-config', message: expect.stringContaining('"y" has no dims') });
  const model: RemoteModel = { ...torchserve, ...DECLARED };
  const cases: [string, string, RegExp][] = [
    ['other-size', 'inference-failed', /dim 0 has 3 elements, expected 2/],
    ['html', 'inference-failed', /answered 200: HTML/],
    ['error', 'inference-failed', /answered 500: Internal error/],
    ['busy', 'device-lost', /answered 503: all workers are busy/],
  ];
  for (const [fault, code, message] of cases)
    expect(await runs(fault, { model }), fault).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(await runs('', { name: 'none', model })).toMatchObject({
    code: 'device-lost',
    message: expect.stringContaining('there is no model none'),
  });
});

test('TabServe’s own model server understands the engine, as JSON and as bytes', async () => {
  const outputs: Tensors = { logits: { dtype: 'float32', dims: [1, 2], data: new Float32Array([0.1, 2]) } };
  const client = new FakeClient({}, () => outputs);
  const own = new ModelServer();
  await own.register(client);
  const asked = (input: URL | RequestInfo, init?: RequestInit): Promise<Response> =>
    own.fetch(new Request(input, init));
  const inputs: Tensors = { image: { dtype: 'float32', dims: [1, 2], data: new Float32Array([1, 0.1]) } };
  for (const binary of [undefined, false]) {
    const model = { version: '1.0', ...(binary !== undefined && { binary }) };
    const session = await open('', { name: 'digits', fetch: asked, model });
    expect(await session.run(inputs)).toEqual(outputs);
    expect(client.asked.at(-1)!.input).toEqual(inputs);
  }
  expect(await failure(open('', { name: 'cats', fetch: asked }))).toMatchObject({ code: 'backend-failed' });
});
