import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { readOptions, type AnswerOptions } from '../../../../src/server/service-worker/answer-predictions.ts';
import {
  MAX_ANSWER_MS,
  FAILURES,
  MAX_HANDSHAKE_MS,
  PING_MS,
  POLICIES,
  PROTOCOL,
  MAX_SILENCE_MS,
  type Policy,
} from '../../../../src/server/service-worker/protocol.ts';
import { routeOf } from '../../../../src/server/service-worker/routes.ts';
import { delivered, FakeServer, SCOPE, World } from '../../support/service-worker-world.ts';

const DOWN = async (): Promise<Response> => {
  throw new TypeError('Failed to fetch');
};
const BROKEN = async (): Promise<Response> => Response.json({ code: 500 }, { status: 500 });
const FULL = async (): Promise<Response> => Response.json({ code: 503 }, { status: 503 });
const LATE = async (): Promise<Response> => Response.json({ code: 408 }, { status: 408 });
const only = (policy: Policy) => ({ models: { digits: policy } });

/** A world whose one page hosts a model. */
async function hosted(): Promise<World & { readonly device: FakeServer }> {
  const world = new World();
  const device = new FakeServer('device');
  await world.open().host(device).ready;
  return Object.assign(world, { device });
}

test('policies: who answers, in which order, and what the headers say', async () => {
  type Case = readonly [
    Policy,
    device: 'answers' | 'fails' | 'full' | 'late' | 'loads' | 'none',
    server: typeof DOWN | undefined,
    said: string,
    uploads: number,
  ];
  const cases: readonly Case[] = [
    ['device-first', 'answers', undefined, '200 by device, because: device-first', 0],
    ['device-first', 'none', undefined, '200 by server, because: no-host', 1],
    ['device-first', 'loads', undefined, '200 by server, because: not-ready', 1],
    ['device-first', 'fails', undefined, '200 by server, because: device-failed', 1],
    ['device-first', 'full', undefined, '200 by server, because: device-failed', 1],
    ['device-first', 'full', DOWN, '503 by device, because: server-unreachable', 1],
    ['device-first', 'late', undefined, '200 by server, because: device-timeout', 1],
    ['device-first', 'fails', BROKEN, '500 by device, because: server-failed', 1],
    ['device-first', 'none', BROKEN, '500 by server, because: no-host', 1],
    ['device-first', 'none', DOWN, '503 by none, because: no-host', 1],
    ['server-first', 'answers', undefined, '200 by server, because: server-first', 1],
    ['server-first', 'answers', DOWN, '200 by device, because: server-unreachable', 1],
    ['server-first', 'answers', BROKEN, '200 by device, because: server-failed', 1],
    ['server-first', 'loads', BROKEN, '500 by server, because: not-ready', 1],
    ['server-first', 'none', DOWN, '503 by none, because: server-unreachable', 1],
    ['device-only', 'answers', undefined, '200 by device, because: device-only', 0],
    ['device-only', 'full', undefined, '503 by device, because: device-only', 0],
    ['device-only', 'late', undefined, '408 by device, because: device-only', 0],
    ['device-only', 'loads', undefined, '503 by none, because: not-ready', 0],
    ['device-only', 'none', undefined, '503 by none, because: no-host', 0],
  ];
  for (const [policy, state, server, said, uploads] of cases) {
    const world = state === 'none' ? new World() : await hosted();
    if ('device' in world) {
      const device = world.device as FakeServer;
      if (state === 'loads') device.ready = 503;
      if (state === 'fails') device.respond = BROKEN;
      if (state === 'full') device.respond = FULL;
      if (state === 'late') device.respond = LATE;
    }
    if (server) world.server = server;
    const name = `${policy}, the device ${state}, the server ${server === DOWN ? 'is down' : server ? 'fails' : 'answers'}`;
    const seen = await world.fetch('/predictions/digits', only(policy));
    expect(seen.said, name).toBe(said);
    expect(world.received, name).toEqual(Array.from({ length: uploads }, () => 'three'));
    expect(world.clock.pending, name).toBe(0);
  }
});

test('an error of the service worker is written as TorchServe writes errors', async () => {
  const { body } = await new World().fetch('/predictions/digits', only('device-only'));
  expect(body).toEqual({
    code: 503,
    type: 'ServiceUnavailableException',
    message: 'No page hosts models at the moment.',
  });
});

test('paths: which requests are answered here, by which policy, and with which path for the page', () => {
  const models = { digits: 'device-first', private: 'device-only', 'with space': 'server-first' } as const;
  const route = (path: string, base = '/', init: RequestInit = {}): string | undefined => {
    const settings = readOptions({ models, base }, `${SCOPE}app/`);
    const found = routeOf(new Request(new URL(path, SCOPE), init), settings.base, settings.models);
    return found && [found.path, found.model ?? '-', found.version ?? '-', found.policy].join(' ');
  };
  expect(route('/predictions/digits')).toBe('/predictions/digits digits - device-first');
  expect(route('/predictions/digits/2.0?k=1')).toBe('/predictions/digits/2.0?k=1 digits 2.0 device-first');
  expect(route('/explanations/digits')).toBe('/explanations/digits digits - device-first');
  expect(route('/predictions/with%20space')).toBe('/predictions/with%20space with space - server-first');
  expect(route('/v2/models/digits')).toBe('/v2/models/digits digits - device-first');
  expect(route('/v2/models/digits/versions/1.0/infer')).toBe(
    '/v2/models/digits/versions/1.0/infer digits 1.0 device-first',
  );
  expect(route('/v1/models/digits:predict')).toBe('/v1/models/digits:predict digits - device-first');
  for (const path of ['/ping', '/models', '/metrics', '/v2', '/v2/health/live', '/v2/health/ready'])
    expect(route(path)).toBe(`${path} - - device-first`);
  // Nothing that names a `device-only` model gets past, known path or not.
  for (const path of [
    '/predictions/private/1/more',
    '/predictions//private/',
    '/predictions/%70rivate',
    '/%70redictions/private',
    '/predictions%2Fprivate',
    '/predictions/private%2F1.0',
    '/predictions/private/%E0%A4',
    '/v2/models/private/x',
    '/models/private/invoke',
    '/private/predict',
    '/wfpredict/private',
  ])
    expect(route(path), path).toMatch(/ private .* device-only$/);
  expect(route('/predictions/private', '/', { method: 'PUT', body: 'x' })).toMatch(/device-only$/);

  expect(route('/private/predict', '/', { method: 'POST', body: 'x' })).toMatch(/device-only$/);

  expect(route('/app/predictions/digits', './')).toBe('/predictions/digits digits - device-first');
  expect(route('/api/predictions/digits', '/api')).toBe('/predictions/digits digits - device-first');
  expect(route('https://models.example/predictions/digits', 'https://models.example')).toBe(
    '/predictions/digits digits - device-first',
  );
  for (const [path, base] of [
    ['/predictions/unknown'],
    ['/predictions/constructor'],
    ['/predictions/%E0%A4'],
    ['/predictions'],
    ['/models/digits/model.onnx'],
    ['/v2/models'],
    ['/pings'],
    ['/predictions/digits', '/api/'],
    ['https://other.example/predictions/digits'],
  ])
    expect(route(path!, base), path).toBeUndefined();
  expect(route('/ping', '/', { method: 'POST' })).toBeUndefined();
});

test('what names no model: the server is asked first only if all models are server-first, and never if all are device-only', async () => {
  for (const [models, said] of [
    [{ a: 'server-first', b: 'server-first' }, '200 by server, because: server-first'],
    [{ a: 'device-only' }, '200 by device, because: device-only'],
    [{ a: 'server-first', b: 'device-only' }, '200 by device, because: device-first'],
  ] as const) {
    const world = await hosted();
    expect((await world.fetch('/ping', { models })).said).toBe(said);
  }
});

test('a page gets the method, the path, the headers and the body; a service worker that was started again finds it', async () => {
  const world = await hosted();
  await world.fetch('/predictions/digits/1.0?top=2');
  // Nothing is kept between two requests: the second one's service worker is a new one.
  await world.fetch('/metrics');
  expect(world.device.got).toEqual(['POST /predictions/digits/1.0?top=2 three', 'GET /metrics ']);
  expect(world.received).toEqual([]);
});

test('the hosting page is closed, leaves or hangs in the middle: another page answers the same request, then the server, once', async () => {
  for (const end of ['dispose', 'pagehide', 'hang'] as const) {
    const world = new World();
    const [first, second] = [new FakeServer('first'), new FakeServer('second')];
    const page = world.open();
    const hosting = page.host(first);
    await hosting.ready;
    first.respond = () => new Promise(() => {});
    const stop = async (): Promise<void> => {
      if (end === 'dispose') hosting.dispose();
      if (end === 'pagehide') page.dispatchEvent(new Event('pagehide'));
      await delivered();
      if (end !== 'hang') return;
      page.hang();
      for (let passed = 0; passed <= MAX_SILENCE_MS; passed += PING_MS) {
        await world.clock.advance(PING_MS);
        await delivered();
      }
    };
    const answered = world.fetch('/predictions/digits');
    await delivered();
    expect(first.got).toHaveLength(1);
    await world.open().host(second).ready;
    await stop();
    expect(await answered).toEqual({ said: '200 by device, because: device-first', body: 'second' });
    expect(second.got).toEqual(['POST /predictions/digits three']);
    expect(world.received).toEqual([]);
    if (end !== 'hang') expect(first.aborted).toEqual(['/predictions/digits']);
    expect(world.clock.pending).toBe(0);
  }

  const world = await hosted();
  world.device.respond = () => new Promise(() => {});
  const answered = world.fetch('/predictions/digits');
  await delivered();
  world.pages[0]!.dispatchEvent(new Event('pagehide'));
  expect((await answered).said).toBe('200 by server, because: host-lost');
  expect(world.received).toEqual(['three']);
});

test('a page that takes no messages is asked for a short time; pages of other scopes and other versions are not asked', async () => {
  const world = await hosted();
  world.pages[0]!.isStuck = true;
  const answered = world.fetch('/predictions/digits');
  await delivered();
  await world.clock.advance(MAX_HANDSHAKE_MS);
  expect((await answered).said).toBe('200 by server, because: no-answer');

  // A second page that does answer is not delayed by the first.
  await world.open('second').host(new FakeServer('second')).ready;
  expect(await world.fetch('/predictions/digits')).toMatchObject({ body: 'second' });

  // An app below this one has a service worker and hosts of its own.
  const below = new World();
  const foreign = new FakeServer('foreign');
  await below.open('below/').host(foreign, `${SCOPE}below/`).ready;
  await below.open().host(new FakeServer('own')).ready;
  expect(await below.fetch('/predictions/digits')).toMatchObject({ body: 'own' });
  expect(foreign.got).toEqual([]);

  // A page without a host, whose own code answers every message.
  const chatty = new World();
  chatty.open('chatty').container.addEventListener('message', (event) => {
    for (const reply of ['ack', null, 1, { type: 'accept' }, { type: 'accept', host: 'nobody' }])
      (event as MessageEvent).ports[0]!.postMessage(reply);
  });
  await chatty.open().host(new FakeServer('quiet')).ready;
  expect(await chatty.fetch('/predictions/digits')).toMatchObject({ body: 'quiet' });

  const other = new World();
  other.holdLockOfVersion(PROTOCOL + 1);
  expect((await other.fetch('/predictions/digits')).said).toBe('200 by server, because: other-version');
  expect((await other.fetch('/predictions/digits', only('device-only'))).body).toMatchObject({
    message: expect.stringContaining('another version of the app: reload them'),
  });
});

test('of several pages one that has the model answers; not ready says more than unknown', async () => {
  const world = await hosted();
  const second = new FakeServer('second');
  await world.open('second').host(second).ready;
  world.device.ready = 404;
  expect(await world.fetch('/predictions/digits')).toMatchObject({ body: 'second' });
  second.ready = 503;
  expect((await world.fetch('/predictions/digits')).said).toBe('200 by server, because: not-ready');
  second.ready = 404;
  expect((await world.fetch('/predictions/digits')).said).toBe('200 by server, because: unknown-model');
});

test('a page that comes back from the back/forward cache hosts again; a disposed one does not', async () => {
  const world = await hosted();
  const [page] = world.pages;
  page!.dispatchEvent(new Event('pagehide'));
  await delivered();
  expect((await world.fetch('/predictions/digits')).said).toContain('no-host');
  page!.dispatchEvent(new Event('pageshow'));
  await delivered();
  expect((await world.fetch('/predictions/digits')).said).toContain('by device');

  const hosting = world.open().host(new FakeServer('x'));
  hosting.dispose();
  await expect(hosting.ready).rejects.toMatchObject({ code: 'disposed' });
});

test('limits: the server, the device, and the size of a body', async () => {
  const world = await hosted();
  const never = (signal: AbortSignal): Promise<Response> =>
    new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  world.server = (_, signal) => never(signal);
  const slow = world.fetch('/predictions/digits', { ...only('server-first'), serverTimeout: 700 });
  await delivered();
  await world.clock.advance(700);
  expect((await slow).said).toBe('200 by device, because: server-timeout');
  expect(world.received).toEqual(['three']);

  world.server = async () => Response.json('server');
  world.device.respond = () => new Promise(() => {});
  const stuck = world.fetch('/predictions/digits');
  await delivered();
  for (let passed = 0; passed < MAX_ANSWER_MS; passed += PING_MS) {
    await world.clock.advance(PING_MS);
    await delivered();
  }
  expect((await stuck).said).toBe('200 by server, because: device-timeout');
  // The abort goes to the page in a message.
  await expect.poll(() => world.device.aborted).toEqual(['/predictions/digits']);

  // Nobody else can answer: the server may take its time, as for a large upload.
  let answerLate!: () => void;
  world.server = () => new Promise((resolve) => (answerLate = () => resolve(Response.json('late'))));
  const patient = new World();
  patient.server = world.server;
  const waiting = patient.fetch('/predictions/digits', { serverTimeout: 700 });
  await delivered();
  await patient.clock.advance(100_000);
  answerLate();
  expect((await waiting).said).toBe('200 by server, because: no-host');

  world.server = async () => Response.json('server');
  const large = { maxRequestSize: 4 };
  expect((await world.fetch('/predictions/digits', large)).said).toBe('200 by server, because: body-too-large');
  const refused = await world.fetch('/predictions/digits', { ...only('device-only'), ...large });
  expect(refused).toMatchObject({ said: '413 by none, because: body-too-large', body: { code: 413 } });
  expect(world.device.got).toHaveLength(2);
});

test('what the device refuses for its own limits, and what is no response, goes to the server', async () => {
  const answers = {
    'body-too-large': async () => Response.json({ code: 413 }, { status: 413 }),
    'device-failed': async () => Response.error(),
  };
  for (const [reason, respond] of Object.entries(answers)) {
    const world = await hosted();
    world.device.respond = respond;
    expect((await world.fetch('/predictions/digits')).said).toBe(`200 by server, because: ${reason}`);
    expect(world.received).toEqual(['three']);
    const alone = await world.fetch('/predictions/digits', only('device-only'));
    expect(alone.said).toBe(
      reason === 'device-failed' ? '503 by none, because: device-failed' : '413 by device, because: device-only',
    );
  }
});

test('a body that is too large for the device is read no further, and goes to the server as it comes', async () => {
  const chunks = 20;
  let pulled = 0;
  const body = (): RequestInit => {
    pulled = 0;
    const stream = new ReadableStream({
      pull(controller) {
        pulled += 1;
        if (pulled > chunks) controller.close();
        else controller.enqueue(new Uint8Array(1000).fill(97));
      },
    });
    return { body: stream, duplex: 'half' } as RequestInit;
  };
  const world = await hosted();
  const large = { maxRequestSize: 1500 };
  expect((await world.fetch('/predictions/digits', { ...only('device-only'), ...large }, body())).said).toBe(
    '413 by none, because: body-too-large',
  );
  expect(pulled).toBeLessThan(6);
  expect((await world.fetch('/predictions/digits', large, body())).said).toBe('200 by server, because: body-too-large');
  expect(world.received).toEqual(['a'.repeat(chunks * 1000)]);
  expect(world.device.got).toEqual([]);
});

test('a body that arrives late: the device answers all the same', async () => {
  const world = await hosted();
  let send!: () => void;
  const body = new ReadableStream({
    start(controller) {
      send = () => {
        controller.enqueue(new TextEncoder().encode('late'));
        controller.close();
      };
    },
  });
  const answered = world.fetch('/predictions/digits', {}, { body, duplex: 'half' } as RequestInit);
  await delivered();
  await world.clock.advance(60_000);
  send();
  await delivered();
  expect((await answered).said).toBe('200 by device, because: device-first');
  expect(world.device.got).toEqual(['POST /predictions/digits late']);
  expect(world.received).toEqual([]);
  expect(world.clock.pending).toBe(0);
});

test('an aborted request is canceled on the page that answers it, and the server is not asked', async () => {
  const world = await hosted();
  world.device.respond = () => new Promise(() => {});
  const controller = new AbortController();
  const answered = world.fetch('/predictions/digits', {}, { signal: controller.signal });
  await delivered();
  controller.abort();
  await expect(answered).rejects.toMatchObject({ name: 'AbortError' });
  await delivered();
  expect(world.device.aborted).toEqual(['/predictions/digits']);
  expect(world.received).toEqual([]);
  expect(world.clock.pending).toBe(0);
});

test('docs/fetch.md names every policy and every reason', () => {
  const page = readFileSync(new URL('../../../../docs/fetch.md', import.meta.url), 'utf8');
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name]) => name);
  expect(rows.filter((name) => !name!.startsWith('TabServe'))).toEqual([...POLICIES, ...Object.keys(FAILURES)]);
});

test('options: what is wrong is named', () => {
  for (const [options, message] of [
    [{ models: {} }, "models: expected the name and policy of a model, such as { digits: 'device-first' }, got {}"],
    [
      { models: { digits: 'local' } },
      'models.digits: expected one of device-first, server-first, device-only, got "local"',
    ],
    [
      { ...only('device-first'), serverTimeout: 0 },
      'serverTimeout: expected a number above 0, and up to 2147483647, got 0',
    ],
    // A timer of that length ends at once.
    [
      { ...only('server-first'), serverTimeout: Infinity },
      'serverTimeout: expected a number above 0, and up to 2147483647, got Infinity',
    ],
    [{ ...only('device-first'), maxRequestSize: NaN }, 'maxRequestSize: expected a number above 0, got NaN'],
    [
      { ...only('device-first'), serverTimeout: '5000' },
      'serverTimeout: expected a number above 0, and up to 2147483647, got "5000"',
    ],
    [{ ...only('device-first'), maxRequestSize: '10' }, 'maxRequestSize: expected a number above 0, got "10"'],
    [{ ...only('device-first'), base: 'http://' }, 'base: expected a URL or a path'],
    [undefined, 'expected an object as options of answerPredictions, got undefined.'],
    [null, 'expected an object as options of answerPredictions, got null.'],
    [{ base: '/' }, 'models: expected the name and policy of a model'],
    [{ models: null }, 'models: expected the name and policy of a model'],
    [
      { digits: 'device-first' },
      'digits is not an option of answerPredictions (models, base, serverTimeout, maxRequestSize)',
    ],
    [{ ...only('server-first'), serverTimeOut: 5 }, 'serverTimeOut is not an option of answerPredictions'],
  ] as const) {
    const read = (): unknown => readOptions(options as unknown as AnswerOptions, SCOPE);
    expect(read).toThrow(TabServeError);
    expect(read).toThrow(message);
  }
});

test('a page may have listeners of its own that answer any message with anything', async () => {
  const world = await hosted();
  const [page] = world.pages;
  page!.container.addEventListener('message', (event) => {
    const [port] = (event as MessageEvent).ports;
    const replies = [null, undefined, 5, 'ok', {}];
    world.device.respond = async () => {
      for (const reply of replies) port!.postMessage(reply);
      await delivered();
      return Response.json('device');
    };
  });
  expect(await world.fetch('predictions/digits')).toEqual({
    said: '200 by device, because: device-first',
    body: 'device',
  });
});

/** A request of OpenAI's API. */
const chat = (model: unknown, more: object = {}): RequestInit => ({
  method: 'POST',
  body: JSON.stringify({ model, messages: [], ...more }),
});

test("OpenAI's API: the policy is that of the model in the body; errors have OpenAI's form", async () => {
  const world = await hosted();
  for (const path of ['/v1/chat/completions', '/v1/completions', '/v1/embeddings?x=1', '/v1/audio/speech']) {
    const seen = await world.fetch(path, {}, chat('digits'));
    expect(seen, path).toEqual({ said: '200 by device, because: device-first', body: 'device' });
    expect(world.device.got.at(-1)).toBe(`POST ${path} {"model":"digits","messages":[]}`);
  }
  expect(world.received).toEqual([]);
  // Another model, and what names none, goes to the network as it came.
  for (const model of ['other', undefined, 1, 'toString'])
    expect(await (await world.respond('/v1/chat/completions', {}, chat(model))).json()).toBe('server');
  const noJson = await world.respond('/v1/completions', {}, { method: 'POST', body: '{' });
  expect(await noJson.json()).toBe('server');
  expect(world.received.slice(-2)).toEqual(['{"model":"toString","messages":[]}', '{']);
  expect(await world.fetch('/v1/models')).toMatchObject({ said: '200 by device, because: device-first' });
  expect(await world.fetch('/v1/models/digits')).toMatchObject({ said: '200 by device, because: device-first' });

  const alone = new World();
  expect(await alone.fetch('/v1/chat/completions', only('device-only'), chat('digits'))).toEqual({
    said: '503 by none, because: no-host',
    body: { error: { message: FAILURES['no-host'], type: 'server_error', param: null, code: null } },
  });
  // It might be for the model that must stay on the device.
  const large = await hosted();
  const settings = { ...only('device-only'), maxRequestSize: 20 };
  expect(await large.fetch('/v1/chat/completions', settings, chat('digits'))).toMatchObject({
    said: '413 by none, because: body-too-large',
    body: { error: { type: 'server_error' } },
  });
  expect(large.received).toEqual([]);
  expect(world.clock.pending).toBe(0);
});

test("OpenAI's API: a compressed body names the model, too; what cannot be read here stays on the device if a model must", async () => {
  const body = JSON.stringify({ model: 'digits', messages: [] });
  const packed = (encoding: string, bytes: Uint8Array | string): RequestInit => ({
    method: 'POST',
    headers: { 'Content-Encoding': encoding, 'Content-Type': 'application/json' },
    body: bytes as BodyInit,
  });
  const world = await hosted();
  for (const request of [
    packed('gzip', gzipSync(body)),
    packed('Deflate', deflateSync(body)),
    packed('identity, x-gzip', gzipSync(body)),
    packed('gzip, deflate', deflateSync(gzipSync(body))),
  ]) {
    expect(await world.fetch('/v1/completions', only('device-only'), request)).toMatchObject({
      said: '200 by device, because: device-only',
    });
    expect(await (await world.respond('/v1/completions', { models: { other: 'device-only' } }, request)).json()).toBe(
      'server',
    );
  }
  world.received.length = 0;
  const unreadable = [
    packed('br', brotliCompressSync(body)),
    packed('gzip', body),
    packed('identity', '{"model":"digits",}'),
  ];
  for (const request of unreadable) {
    expect((await world.fetch('/v1/completions', only('device-only'), request)).said).toContain('by device');
    expect(world.received).toEqual([]);
    expect(await (await world.respond('/v1/completions', only('device-first'), request)).json()).toBe('server');
    expect(world.received.splice(0)).toHaveLength(1);
  }
});

test("OpenAI's API: a form names the model, too, whatever its boundary", async () => {
  const world = await hosted();
  const form = (model: string | Blob): RequestInit => {
    const body = new FormData();
    body.set('file', new File(['sound'], 'talk.wav', { type: 'audio/wav' }));
    body.set('model', model as string);
    return { method: 'POST', body };
  };
  expect(await world.fetch('/v1/audio/transcriptions', {}, form('digits'))).toEqual({
    said: '200 by device, because: device-first',
    body: 'device',
  });
  expect(world.device.got.at(-1)).toMatch(/^POST \/v1\/audio\/transcriptions [^]*talk\.wav[^]*digits/);
  expect(await (await world.respond('/v1/audio/transcriptions', {}, form('other'))).json()).toBe('server');
  world.received.length = 0;
  // A name in a part with a file name: a server may read it.
  const named = form(new Blob(['digits']));
  expect((await world.fetch('/v1/audio/transcriptions', only('device-only'), named)).said).toContain('by device');
  expect(world.received).toEqual([]);
});

test("OpenAI's API: what names a device-only model stays on the device on paths that no model answers; others go on", async () => {
  const world = await hosted();
  for (const path of ['/v1/audio/translations', '/v1/images/edits', '/v1/moderations', '/v1/responses/input_tokens']) {
    expect((await world.fetch(path, only('device-only'), chat('digits'))).said, path).toContain('by device');
    expect(world.received).toEqual([]);
    for (const policy of ['device-first', 'server-first'] as const)
      expect(await (await world.respond(path, only(policy), chat('digits'))).json(), path).toBe('server');
    expect(await (await world.respond(path, only('device-only'), chat('other'))).json(), path).toBe('server');
    expect(world.received.splice(0)).toHaveLength(3);
  }
});

const EVENTS = { 'Content-Type': 'text/event-stream; charset=utf-8' };
/** What a `ModelServer` answers with if a handler sends parts. */
const PARTS = { 'Content-Type': 'application/x-ndjson', 'X-Accel-Buffering': 'no' };

/** A body that the test writes, by default as server-sent events. */
function eventStream(headers: Readonly<Record<string, string>> = EVENTS) {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let canceled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (given) => void (controller = given),
    cancel: () => void (canceled = true),
  });
  const write = (text: string): void => controller.enqueue(new TextEncoder().encode(text));
  return {
    respond: async () => new Response(body, { headers }),
    write,
    close: () => controller.close(),
    fail: () => controller.error(new Error('broken')),
    isCanceled: () => canceled,
  };
}

for (const headers of [EVENTS, PARTS])
  test(`${headers['Content-Type']}: parts are passed on as they come, and the page is watched until the last`, async () => {
    const world = await hosted();
    const events = eventStream(headers);
    world.device.respond = events.respond;
    const response = await world.respond('/v1/chat/completions', {}, chat('digits', { stream: true }));
    expect(response.headers.get('TabServe-Answered-By')).toBe('device');
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    for (const text of ['data: one', 'data: two']) {
      events.write(text);
      expect(await reader.read()).toEqual({ done: false, value: text });
    }
    // Longer than an answer that is whole may take, and than a page may be silent.
    for (let passed = 0; passed < 2 * MAX_ANSWER_MS; passed += PING_MS) {
      world.clock.advance(PING_MS);
      await delivered();
    }
    events.write('data: three');
    expect(await reader.read()).toEqual({ done: false, value: 'data: three' });
    events.close();
    expect(await reader.read()).toEqual({ done: true, value: undefined });
    await Promise.all(world.kept);
    expect(world.kept).toHaveLength(1);
    expect(world.clock.pending).toBe(0);
    expect(world.received).toEqual([]);
  });

test('a page that is lost in the middle of its events breaks them off; a reader that leaves is told to the page', async () => {
  for (const how of ['closes', 'hangs', 'fails'] as const) {
    const world = new World();
    const device = new FakeServer('device');
    const page = world.open();
    const host = page.host(device);
    await host.ready;
    const events = eventStream();
    device.respond = events.respond;
    const response = await world.respond('/v1/chat/completions', {}, chat('digits', { stream: true }));
    const reader = response.body!.getReader();
    events.write('data: one');
    await reader.read();
    if (how === 'closes') host.dispose();
    else if (how === 'hangs') page.hang();
    else events.fail();
    const broken = reader.read().then(
      () => 'none',
      (error: Error) => error.message,
    );
    await delivered();
    const silent = how === 'hangs' ? MAX_SILENCE_MS + PING_MS : -1;
    for (let passed = 0; passed <= silent; passed += PING_MS) {
      world.clock.advance(PING_MS);
      await delivered();
    }
    expect.soft(await broken, how).toBe(FAILURES[how === 'fails' ? 'device-failed' : 'host-lost']);
    await Promise.all(world.kept);
    expect.soft(world.clock.pending, how).toBe(0);
  }
  const world = await hosted();
  const events = eventStream();
  world.device.respond = events.respond;
  const response = await world.respond('/v1/chat/completions', {}, chat('digits', { stream: true }));
  await response.body!.cancel();
  await delivered();
  expect(events.isCanceled()).toBe(true);
  expect(world.device.aborted).toEqual(['/v1/chat/completions']);
  expect(world.clock.pending).toBe(0);
});
