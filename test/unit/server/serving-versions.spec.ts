// Names, versions, defaults and removal, in the server and over TorchServe's management API. Rules and texts are
// TorchServe's: `wlm/ModelVersionedRefs.java`, `util/ApiUtils.java`.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../src/contract/errors.ts';
import { ModelServer } from '../../../src/server/model-server.ts';
import { FakeClient, pending } from '../support/fake-client.ts';
import { FakeClock } from '../support/fake-clock.ts';

const text = { handler: 'text_handler', takes: 'text' } as const;

function withoutSignal({ signal: _signal, ...options }: { readonly signal?: AbortSignal }): object {
  return options;
}

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return await promise.then(
    (value) => value ?? 'done',
    (error: unknown) => `${(error as TabServeError).code}: ${(error as TabServeError).message}`,
  );
}

test('versions beside each other, a default, and their removal', async () => {
  const server = new ModelServer();
  const [one, two] = [new FakeClient(), new FakeClient({ modelVersion: '2.0' })];
  expect(await server.register(one)).toEqual({ name: 'digits', version: '1.0' });
  expect(await server.register(two, { name: 'digits' })).toEqual({ name: 'digits', version: '2.0' });
  expect(await server.register(new FakeClient({ modelVersion: undefined }), { name: 'other' })).toEqual({
    name: 'other',
    version: '1.0',
  });
  expect(server.list()).toEqual([
    { name: 'digits', defaultVersion: '1.0', versions: ['1.0', '2.0'] },
    { name: 'other', defaultVersion: '1.0', versions: ['1.0'] },
  ]);
  expect(await server.predict('digits', 'x')).toEqual({ version: '1.0' });
  expect(await server.predict('digits', 'x', { version: '2.0', priority: 1 })).toEqual({ version: '2.0' });
  expect(two.asked[0]!.options).toEqual({ priority: 1 });
  server.setDefault('digits', '2.0');
  expect(await server.predict('digits', 'x')).toEqual({ version: '2.0' });
  expect(await server.describe('digits')).toMatchObject({
    name: 'digits',
    version: '2.0',
    isDefault: true,
    modelUrl: '',
  });
  expect(await server.describe('digits', '1.0')).toMatchObject({ isDefault: false, activeRequests: 0 });
  expect(await outcome(server.unregister('digits', '2.0'))).toMatch(
    /^invalid-input: Cannot remove default version for model digits/,
  );
  expect(await outcome(server.unregister('digits'))).toMatch(/^invalid-input: Cannot remove default version/);
  await server.unregister('digits', '1.0');
  expect(one.listeners).toBe(0);
  expect(one.disposed, 'a client stays its owner’s').toBe(false);
  expect(await outcome(server.predict('digits', 'x', { version: '1.0' }))).toBe(
    'model-not-found: Model version: 1.0 does not exist for model: digits',
  );
  await server.unregister('digits');
  expect(await outcome(server.predict('digits', 'x'))).toBe('model-not-found: Model not found: digits');
  expect(() => server.setDefault('digits', '2.0')).toThrow('Model not found: digits');
  expect(await outcome(server.unregister('digits'))).toBe('model-not-found: Model not found: digits');
  expect(server.list().map(({ name }) => name)).toEqual(['other']);
});

test('wrong names and versions, and what is no model', async () => {
  const server = new ModelServer();
  for (const name of ['', 'a/b', '..', '.', 'a\\b', 'a?b', 'a#b', 'a\nb', 'x'.repeat(256), 7, null])
    expect(await outcome(server.register(new FakeClient(), { name: name as string })), String(name)).toMatch(
      /^invalid-input: name: expected 1 to 255/,
    );
  for (const version of ['', 'all', '1/0', 2])
    expect(await outcome(server.register(new FakeClient(), { version: version as string })), String(version)).toMatch(
      /^invalid-input: version:/,
    );
  expect(await outcome(server.register(new FakeClient({ modelName: 'a/b' })))).toMatch(/^invalid-input: name:/);
  expect(await outcome(server.register('/models/digits/' as never))).toMatch(
    /^invalid-input: register: expected a client, got "\/models\/digits\/"\. To register a model by its location/,
  );
  for (const name of ['__proto__', 'constructor', 'Zürich 9', 'a:b', '%41']) {
    await server.register(new FakeClient(text, ({ input }) => input), { name, version: '__proto__' });
    expect(await server.predict(name, 'x')).toBe('x');
    const path = `/predictions/${encodeURIComponent(name)}/__proto__`;
    expect(await (await server.fetch(new Request(`http://s${path}`, { method: 'POST', body: 'y' }))).text()).toBe('y');
  }
  expect(server.list().length).toBe(5);
});

test('a model that is being loaded: its version is taken, and its requests are answered with 503', async () => {
  const loads: { resolve: (client: FakeClient) => void; reject: (error: unknown) => void; options: object }[] = [];
  const server = new ModelServer({
    load: (_: string, options: { readonly batchSize?: number }) => {
      const { promise, ...settle } = pending<FakeClient>();
      loads.push({ ...settle, options });
      return promise;
    },
  });
  const first = server.register('/m/', { name: 'm', version: '1', batchSize: 4 });
  expect(loads[0]!.options).toMatchObject({ batchSize: 4 });
  expect(Object.keys(loads[0]!.options)).toEqual(['batchSize', 'signal']);
  expect(await outcome(server.register('/m/', { name: 'm', version: '1' }))).toBe(
    'invalid-input: Model version 1 is already registered for model m',
  );
  expect(await outcome(server.predict('m', 'x'))).toBe('not-initialized: Model "m" is being loaded.');
  expect((await server.fetch(new Request('http://s/predictions/m/1', { method: 'POST', body: 'x' }))).status).toBe(503);
  expect((await server.fetch(new Request('http://s/v2/models/m/ready'))).status).toBe(503);
  expect(server.list()).toEqual([]);
  loads[0]!.reject(new TabServeError('network', 'the line is cut'));
  expect(await outcome(first)).toBe('network: the line is cut');
  expect(await outcome(server.predict('m', 'x'))).toBe('model-not-found: Model not found: m');

  // The archive says the version, which another call has taken meanwhile.
  const late = new FakeClient({ modelVersion: '1' });
  const [a, b] = [server.register('/m/', { name: 'm' }), server.register('/m/', { name: 'm', version: '1' })];
  loads[2]!.resolve(new FakeClient());
  expect(await b).toEqual({ name: 'm', version: '1' });
  loads[1]!.resolve(late);
  expect(await outcome(a)).toMatch(/already registered/);
  expect(late.disposed).toBe(true);

  // Disposed of while it loads.
  const c = server.register('/m/', { name: 'm', version: '3' });
  const signal = (loads[3]!.options as { signal: AbortSignal }).signal;
  await server.dispose();
  expect(signal.aborted).toBe(true);
  const orphan = new FakeClient();
  loads[3]!.resolve(orphan);
  expect(await outcome(c)).toMatch(/^disposed/);
  expect(orphan.disposed).toBe(true);
  expect(await outcome(server.register(new FakeClient()))).toMatch(/^disposed/);
});

test('a version that is removed answers what it has, then its client ends', async () => {
  const answers = [pending<unknown>(), pending<unknown>()];
  const client = new FakeClient({}, ({ input }) => answers[(input as number) - 1]!.promise);
  const clock = new FakeClock();
  const server = new ModelServer({ clock, load: async () => client });
  await server.register('/digits/' as never);
  const requests = [server.predict('digits', 1), server.predict('digits', 2)];
  let removed = false;
  const removing = server.unregister('digits').then(() => (removed = true));
  expect(await outcome(server.predict('digits', 3))).toMatch(/^model-not-found/);
  answers[0]!.resolve('one');
  expect(await requests[0]).toBe('one');
  expect([removed, client.disposed]).toEqual([false, false]);
  answers[1]!.resolve('two');
  expect(await requests[1]).toBe('two');
  await removing;
  expect(client.disposed).toBe(true);
  expect(clock.pending).toBe(0);
});

test('a removed version that never answers is ended after two minutes', async () => {
  const clock = new FakeClock();
  const client = new FakeClient({}, () => new Promise(() => {}));
  const server = new ModelServer({ clock, load: async () => client });
  await server.register('/digits/' as never);
  void server.predict('digits', 1).catch(() => {});
  const removing = server.unregister('digits');
  await clock.advance(119_999);
  expect(client.disposed).toBe(false);
  await clock.advance(1);
  await removing;
  expect(client.disposed).toBe(true);
});

test('versions are swapped under load, and no request is lost', async () => {
  const clients: FakeClient[] = [];
  const server = new ModelServer({
    load: async (version: string) => {
      const client = new FakeClient({ ...text, modelVersion: version }, async () => {
        for (let turn = 0; turn < 3; turn++) await Promise.resolve();
        return version;
      });
      clients.push(client);
      return client;
    },
  });
  await server.register('0', { name: 'digits' });
  const load = { isRunning: true };
  const answers: Promise<string>[] = [];
  const loading = (async () => {
    while (load.isRunning) {
      answers.push(
        server
          .fetch(new Request('http://s/predictions/digits', { method: 'POST', body: 'x' }))
          .then((response) => response.text()),
      );
      answers.push(server.predict('digits', 'x') as Promise<string>);
      await new Promise((resolve) => setImmediate(resolve));
    }
  })();
  for (let version = 1; version <= 20; version++) {
    await server.register(String(version), { name: 'digits' });
    server.setDefault('digits', String(version));
    await server.unregister('digits', String(version - 1));
    await new Promise((resolve) => setImmediate(resolve));
  }
  load.isRunning = false;
  await loading;
  const got = await Promise.all(answers);
  expect(got.length).toBeGreaterThan(40);
  expect(got.filter((answer) => !/^\d+$/.test(answer))).toEqual([]);
  expect(clients.filter(({ disposed }) => !disposed).length).toBe(1);
});

test('a version is scaled: loaded anew with other numbers, and its old client ends after its requests', async () => {
  const loaded: { options: unknown; client: FakeClient }[] = [];
  const held = pending<unknown>();
  const server = new ModelServer({
    load: async (_: string, options: { readonly signal?: AbortSignal; readonly minWorkers?: number }) => {
      const nth = loaded.length;
      const client = new FakeClient({}, () => (nth === 0 ? held.promise : 'scaled'));
      loaded.push({ options: withoutSignal(options), client });
      return client;
    },
  });
  await server.register('/digits/', { name: 'digits', minWorkers: 1 });
  const request = server.predict('digits', 'x');
  const scaling = server.scale('digits', { minWorkers: 3, maxWorkers: 4 });
  await expect.poll(() => loaded.length).toBe(2);
  await expect
    .poll(() =>
      server.predict('digits', 'x').then(
        (answer) => answer === 'scaled',
        () => false,
      ),
    )
    .toBe(true);
  expect(loaded[1]!.options).toEqual({ minWorkers: 3, maxWorkers: 4 });
  expect(loaded[0]!.client.disposed).toBe(false);
  held.resolve('first');
  expect(await request).toBe('first');
  await scaling;
  expect(loaded[0]!.client.disposed).toBe(true);
  await server.register(new FakeClient(), { name: 'own' });
  expect(await outcome(server.scale('own', { minWorkers: 2 }))).toMatch(
    /^unsupported: Model "own" was registered as a client/,
  );
});

test('TorchServe’s management API', async () => {
  const given: unknown[] = [];
  const server = new ModelServer({
    management: { allowsUrl: (url) => url.startsWith('/models/') },
    load: async (url: string, options: { readonly signal?: AbortSignal; readonly batchSize?: number }) => {
      given.push([url, withoutSignal(options)]);
      if (url === '/models/none/') throw new TabServeError('model-not-found', 'The server answered 404.');
      return new FakeClient({ modelVersion: url.includes('2') ? '2.0' : '1.0' });
    },
  });
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const json = body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await server.fetch(new Request(`http://s${path}`, { method, ...json }));
    const value = (await response.json()) as { status?: string; type?: string };
    return [response.status, value.status ?? value.type ?? value];
  };
  expect(
    await send(
      'POST',
      '/models?url=/models/digits/&model_name=d&batch_size=4&max_batch_delay=20&initial_workers=2&handler=image_classifier',
    ),
  ).toEqual([200, 'Model "d" Version: 1.0 registered with 1 initial workers']);
  expect(given).toEqual([
    ['/models/digits/', { handler: 'image_classifier', batchSize: 4, maxBatchDelay: 20, minWorkers: 2 }],
  ]);
  expect(await send('POST', '/models', { url: '/models/digits2/', model_name: 'd' })).toEqual([
    200,
    'Model "d" Version: 2.0 registered with 1 initial workers',
  ]);
  expect(await send('POST', '/models?url=/models/digits/&model_name=d')).toEqual([409, 'ConflictStatusException']);
  expect(await send('POST', '/models')).toEqual([400, 'BadRequestException']);
  expect(await send('POST', '/models', [])).toEqual([400, 'BadRequestException']);
  expect(await send('POST', '/models?url=https://elsewhere.example/m/')).toEqual([400, 'BadRequestException']);
  expect(await send('POST', '/models?url=/models/none/&model_name=n')).toEqual([404, 'ModelNotFoundException']);
  expect(await send('POST', '/models?url=/models/digits/&model_name=a/b')).toEqual([400, 'BadRequestException']);
  expect(await send('GET', '/models')).toEqual([200, { models: [{ modelName: 'd', modelUrl: '/models/digits/' }] }]);
  await send('POST', '/models?url=/models/digits/&model_name=c');
  expect(await send('GET', '/models?limit=1')).toEqual([
    200,
    { nextPageToken: '1', models: [{ modelName: 'c', modelUrl: '/models/digits/' }] },
  ]);
  expect(await send('GET', '/models?limit=1&next_page_token=1')).toEqual([
    200,
    { models: [{ modelName: 'd', modelUrl: '/models/digits/' }] },
  ]);
  expect(await send('PUT', '/models/d/2.0/set-default')).toEqual([
    200,
    'Default version successfully updated for model "d" to "2.0"',
  ]);
  expect(await send('PUT', '/models/d/3.0/set-default')).toEqual([404, 'ModelVersionNotFoundException']);
  const [status, [described]] = (await send('GET', '/models/d?customized=true')) as [number, readonly object[]];
  expect(status).toBe(200);
  expect(described).toMatchObject({
    modelName: 'd',
    modelVersion: '2.0',
    modelUrl: '/models/digits2/',
    engine: 'onnx',
    minWorkers: 1,
    batchSize: 1,
    maxBatchDelay: 0,
    workers: [{ id: '0', status: 'READY', gpu: false }],
    jobQueueStatus: { remainingCapacity: 100, pendingRequests: 0 },
    customizedMetadata: { about: 'a fake' },
  });
  const [, all] = (await send('GET', '/models/d/all')) as [number, readonly { modelVersion: string }[]];
  expect(all.map(({ modelVersion }) => modelVersion)).toEqual(['1.0', '2.0']);
  expect('customizedMetadata' in all[0]!).toBe(false);
  expect(await send('PUT', '/models/d?min_worker=2&max_worker=3')).toEqual([200, 'Workers scaled to 2 for model: d']);
  expect(given.at(-1)).toEqual(['/models/digits2/', { minWorkers: 2, maxWorkers: 3 }]);
  expect(await send('PUT', '/models/d/1.0?min_worker=2&max_worker=1')).toEqual([400, 'BadRequestException']);
  expect(await send('DELETE', '/models/d/2.0')).toEqual([403, 'InvalidModelVersionException']);
  expect(await send('DELETE', '/models/d/1.0')).toEqual([200, 'Model "d" unregistered']);
  expect(await send('DELETE', '/models/d')).toEqual([200, 'Model "d" unregistered']);
  expect(await send('DELETE', '/models/d')).toEqual([404, 'ModelNotFoundException']);
  expect(await send('DELETE', '/models')).toEqual([405, 'MethodNotAllowedException']);
});

test('wrong parameters of the management API: 400, with what is wrong', async () => {
  const server = new ModelServer({
    management: { allowsUrl: () => true },
    load: async (url: string) => {
      const [, code, message] = /^\/(.*):(.*)$/.exec(url) ?? [];
      if (code !== undefined) throw new TabServeError(code as 'network', message!);
      return new FakeClient();
    },
  });
  const send = async (method: string, path: string, body?: unknown): Promise<unknown> => {
    const json = body !== undefined && { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } };
    const response = await server.fetch(new Request(`http://s${path}`, { method, ...json }));
    const { message } = (await response.json()) as { message: string };
    return [response.status, message];
  };
  await server.register('/m/', { name: 'm' });
  const register = (query: string): Promise<unknown> => send('POST', `/models?url=/n/&${query}`);
  expect(await register('batch_size=x')).toEqual([400, 'batch_size: expected a whole number, got "x".']);
  expect(await register('max_batch_delay=-1')).toEqual([400, 'max_batch_delay: expected a whole number, got "-1".']);
  expect(await register('response_timeout=')).toEqual([400, 'response_timeout: expected a whole number, got "".']);
  expect(await register('initial_workers=1e9')).toEqual([400, 'initial_workers: expected a whole number, got "1e9".']);
  expect(await register('initial_workers=2000')).toEqual([400, 'initial_workers: expected at most 1024, got 2000.']);
  expect(await send('POST', '/models', { url: '/n/', batch_size: [1] })).toEqual([
    400,
    'batch_size: expected a whole number, got [1].',
  ]);
  // What the server or the client refuses by the name of its option has the name that was sent.
  for (const [sent, option] of [
    ['batch_size=0', 'batchSize'],
    ['startup_timeout=0', 'startupTimeout'],
    ['initial_workers=7', 'minWorkers'],
  ])
    expect(await send('POST', `/models?url=/model-config:${option} must be more.&${sent}`)).toEqual([
      400,
      `${sent!.replace(/=.*/, '')} must be more.`,
    ]);
  expect(await send('POST', '/models?url=/model-config:batchSize must be more.')).toEqual([
    400,
    'batchSize must be more.',
  ]);
  expect(await register('model_version=all')).toEqual([
    400,
    expect.stringMatching(/^model_version: expected 1 to 255/),
  ]);
  expect(await register('model_name=a/b')).toEqual([400, expect.stringMatching(/^model_name: expected 1 to 255/)]);
  const scale = (query: string): Promise<unknown> => send('PUT', `/models/m?${query}`);
  expect(await scale('min_worker=many')).toEqual([400, 'min_worker: expected a whole number, got "many".']);
  expect(await scale('min_worker=1.5')).toEqual([400, 'min_worker: expected a whole number, got "1.5".']);
  expect(await scale('min_worker=999999')).toEqual([400, 'min_worker: expected at most 1024, got 999999.']);
  expect(await scale('min_worker=1&max_worker=999999')).toEqual([
    400,
    'max_worker: expected at most 1024, got 999999.',
  ]);
  expect(await scale('min_worker=0')).toEqual([400, expect.stringContaining('at least one worker')]);
  expect(await send('GET', '/models?limit=all')).toEqual([400, 'limit: expected a whole number, got "all".']);
  // What is wrong with the archive is wrong with the request; a server that fails is another thing.
  for (const code of ['model-config', 'model-format', 'unknown-handler', 'model-not-found', 'network'])
    expect(await send('POST', `/models?url=/${code}:no`), code).toEqual([code === 'model-not-found' ? 404 : 400, 'no']);
  expect(await send('POST', '/models?url=/handler-failed:no')).toEqual([500, 'no']);
  const long = 'x'.repeat(5000);
  for (const path of [`/models/${long}`, `/models/m/${long}`]) {
    const [status, message] = (await send('GET', path)) as [number, string];
    expect([status, message.length < 200], path.slice(0, 20)).toEqual([404, true]);
  }
});

test('of two calls that scale a version at once, the slower one has no effect and says why', async () => {
  const loading = [pending<FakeClient>(), pending<FakeClient>()];
  const server = new ModelServer({
    load: async (_: string, { minWorkers = 0 }) =>
      minWorkers === 0 ? new FakeClient() : await loading[minWorkers - 1]!.promise,
  });
  await server.register('/digits/', { name: 'digits' });
  const scaled = [1, 2].map((minWorkers) => outcome(server.scale('digits', { minWorkers })));
  const [slow, quick] = [new FakeClient(), new FakeClient()];
  loading[1]!.resolve(quick);
  await scaled[1];
  loading[0]!.resolve(slow);
  expect(await scaled[0]).toBe(
    'invalid-input: Model version 1.0 of model digits was loaded again by another call meanwhile.',
  );
  expect([slow.disposed, quick.disposed]).toEqual([true, false]);
  const removed = outcome(server.scale('digits', { minWorkers: 1 }));
  await server.unregister('digits');
  expect(await removed).toMatch(/^model-not-found/);
});

test('a version is scaled after the call that registered it has been aborted', async () => {
  const signals: AbortSignal[] = [];
  const server = new ModelServer({
    load: async (_: string, { signal }: { signal: AbortSignal }) => {
      signals.push(signal);
      signal.throwIfAborted();
      return new FakeClient({}, () => 'answer');
    },
  });
  const call = new AbortController();
  await server.register('/models/digits/', { name: 'digits', signal: call.signal });
  call.abort();
  await server.scale('digits', { minWorkers: 2 });
  expect(signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  await server.dispose();
});

test('an onChange that throws is told, and stops nothing', async () => {
  const warned: unknown[] = [];
  const { warn } = console;
  console.warn = (text: unknown) => void warned.push(text);
  try {
    const onChange = (): void => {
      throw new Error('the disk is full');
    };
    const server = new ModelServer({ onChange });
    await server.register(new FakeClient());
    expect(await server.predict('digits', 'x')).toEqual({ version: '1.0' });
    expect(warned).toEqual(['tabserve: onChange: the disk is full']);
  } finally {
    console.warn = warn;
  }
});
