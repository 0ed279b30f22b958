// What TorchServe gives a handler of a request over HTTP, and what it lets a handler and an archive say of the answer:
// `ts/context.py`, `frontend/server/src/main/java` and `docs/` of pytorch/serve 62c4d6a. The repository is that of the
// Open Inference Protocol's model repository extension.
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { Context, Handler } from '../../../../src/contract/handler.ts';
import type { HttpAnswer } from '../../../../src/contract/http.ts';
import { createTestContext } from '../../../../src/worker/host/test-context.ts';
import { createTestHandler } from '../../../../src/worker/host/testing.ts';
import { BaseHandler } from '../../../../src/worker.ts';
import { ModelServer } from '../../../../src/server/model-server.ts';
import type { ModelServerOptions, RegisterOptions } from '../../../../src/server/options.ts';
import { FakeClient, pending, type Asked } from '../../support/fake-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { archive, HostWorker } from '../../support/host-worker.ts';

/** A handler without a model: each test says what it answers. */
abstract class Plain implements Handler {
  async initialize(): Promise<void> {}
  preprocess(data: readonly unknown[]): readonly unknown[] {
    return data;
  }
  inference(inputs: readonly unknown[]): readonly unknown[] {
    return inputs;
  }
  postprocess(outputs: readonly unknown[]): readonly unknown[] {
    return outputs;
  }
  abstract handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]>;
}

const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };

async function serve(
  handlerClass: new () => Handler,
  { config = {}, ...registered }: RegisterOptions & { readonly config?: object } = {},
): Promise<{ client: Client<Handler>; send: (path: string, init?: RequestInit) => Promise<Response> }> {
  const own = { ...archive, manifest: { model: { modelName: 'own' } }, config: { ...archive.config, ...config } };
  const worker = (): Worker => new HostWorker(handlerClass, { archive: own }) as unknown as Worker;
  const client = connect<Handler>(worker, { model: archive.url as string, verdicts });
  await client.initialize();
  const server = new ModelServer();
  await server.register(client, { name: 'own', version: '1.0', ...registered });
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(`http://server${path}`, { method: 'POST', ...init }));
  return { client, send };
}

class Echo extends Plain {
  override async handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]> {
    return rows.map((_, index) => {
      const { headers, path, query } = context.request(index) ?? {};
      return { kind: context.kind, token: headers?.get('X-Token') ?? null, path, query: query?.getAll('k') };
    });
  }
}

test('a handler reads the headers, the rest of the path and the query of its row', async () => {
  const { client, send } = await serve(Echo);
  const response = await send('/predictions/own/1.0/v1/chat%20room?k=1&k=2', { headers: { 'x-token': 'abc' } });
  expect(await response.json()).toEqual({ kind: 'predict', token: 'abc', path: 'v1/chat room', query: ['1', '2'] });
  expect(await (await send('/predictions/own')).json()).toEqual({ kind: 'predict', token: null, path: '', query: [] });
  expect(await client.predict('a row of the page')).toEqual({ kind: 'predict', token: null });
  await client.dispose();
});

test('requests that join one batch keep their own headers and answers', async () => {
  class Batched extends Plain {
    override async handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]> {
      return rows.map((_, index) => {
        const name = context.request(index)?.headers.get('x-name') ?? 'none';
        if (name !== 'plain') context.respond(index, { status: 201, headers: { 'X-Name': name } });
        return `${name} of ${rows.length}`;
      });
    }
  }
  const { client, send } = await serve(Batched, { config: { batchSize: 3, maxBatchDelay: 1000 } });
  const names = ['a', 'plain', 'b'];
  const responses = await Promise.all(
    names.map((name) => send('/predictions/own', { headers: { 'x-name': name }, body: 'row' })),
  );
  expect(
    await Promise.all(responses.map(async (one) => [one.status, one.headers.get('x-name'), await one.text()])),
  ).toEqual([
    [201, 'a', 'a of 3'],
    [200, null, 'plain of 3'],
    [201, 'b', 'b of 3'],
  ]);
  await client.dispose();
});

test('a handler sets status, headers and content type of its row; of a row that fails, a status of an error', async () => {
  class Answers extends Plain {
    override async handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]> {
      const said = JSON.parse(context.request(0)!.headers.get('x-say')!) as HttpAnswer & { readonly fails?: boolean };
      context.respond(0, said);
      if (said.fails) throw new Error('no');
      return rows.map(() => 'a,b\n');
    }
  }
  const { client, send } = await serve(Answers);
  const say = async (answer: object): Promise<unknown> => {
    const response = await send('/predictions/own', { headers: { 'x-say': JSON.stringify(answer) } });
    return [response.status, response.headers.get('content-type'), await response.text()];
  };
  expect(await say({ headers: { 'Content-Type': 'text/csv' } })).toEqual([200, 'text/csv', 'a,b\n']);
  expect(await say({ status: 202 })).toEqual([202, 'text/plain; charset=utf-8', 'a,b\n']);
  expect(await say({ status: 204 })).toEqual([204, null, '']);
  const failed = (status: number, type: string): unknown => [
    status,
    'application/json',
    JSON.stringify({ code: status, type, message: 'no' }),
  ];
  expect(await say({ status: 513, fails: true })).toEqual(failed(513, 'InternalServerException'));
  expect(await say({ status: 201, fails: true })).toEqual(failed(500, 'InternalServerException'));
  // RFC 9112, 6: with a length or a coding that is not the body's, the rest of it is the next answer on the connection.
  const framing = ['Content-Length', 'transfer-encoding', 'Connection', 'Keep-Alive', 'Trailer', 'Upgrade'];
  for (const name of framing)
    expect(await say({ headers: { [name]: '1' } }), name).toEqual([
      500,
      'application/json',
      expect.stringContaining(`the server itself sets the header ${name.toLowerCase()}`),
    ]);
  for (const wrong of [{ status: 99 }, { status: 200.5 }, { headers: { 'a b': 'c' } }, { headers: { a: 'b\r\nc: d' } }])
    expect((await say(wrong)) as unknown[], JSON.stringify(wrong)).toContain(500);
  await client.dispose();
});

test('a streamed answer has the headers that were set before its first part', async () => {
  class Events extends Plain {
    override async handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]> {
      context.respond(0, { headers: { 'Content-Type': 'text/event-stream' } });
      context.respond(0, { status: 206, headers: { 'X-Own': 'yes' } });
      await context.send(0, 'data: 1\n\n');
      return rows.map(() => 'data: 2\n\n');
    }
  }
  const { client, send } = await serve(Events, { stream: true });
  const response = await send('/predictions/own');
  expect([response.status, response.headers.get('content-type'), response.headers.get('x-own')]).toEqual([
    206,
    'text/event-stream',
    'yes',
  ]);
  expect(await response.text()).toBe('data: 1\n\ndata: 2\n\n');
  await client.dispose();
});

test('a streamed answer without a body ends the request', async () => {
  const ended = pending<unknown>();
  class Empty extends Plain {
    override async handle(rows: readonly unknown[], context: Context): Promise<readonly unknown[]> {
      context.respond(0, { status: 204 });
      context.signal.addEventListener('abort', () => ended.resolve('aborted'));
      await context.send(0, 'first');
      await ended.promise;
      return rows;
    }
  }
  const { client, send } = await serve(Empty, { stream: true });
  const response = await send('/predictions/own');
  expect([response.status, response.body]).toEqual([204, null]);
  expect(await ended.promise).toBe('aborted');
  await client.dispose();
});

test('in a test, a handler has a request and answers too', async () => {
  const context = createTestContext({ http: { headers: { 'x-token': 't' }, path: 'p' }, batchSize: 2 });
  expect(context.request(1)!.headers.get('X-Token')).toBe('t');
  expect(context.request(1)!.path).toBe('p');
  context.respond(1, { status: 201 });
  context.respond(1, { headers: { A: 'b' } });
  expect(context.answers).toEqual([undefined, { status: 201, headers: { a: 'b' } }]);
  expect(createTestContext().request(0)).toBeUndefined();
  expect(() => context.request(2)).toThrow(/expected the index/);
  class Named extends BaseHandler {
    override postprocess(_: unknown, own: Context): unknown[] {
      return [own.request(0)?.headers.get('x-token')];
    }
  }
  const handler = await createTestHandler(Named, { outputs: { y: [[1]] } });
  const x = { input: { dtype: 'float32', dims: [1, 1], data: new Float32Array(1) } } as const;
  expect(await handler.predict(x, { http: { headers: { 'x-token': 'z' } } })).toBe('z');
});

async function serveFake(
  answer?: (asked: Asked) => unknown,
  description: ConstructorParameters<typeof FakeClient>[0] = {},
  options: ModelServerOptions = {},
): Promise<{ client: FakeClient; server: ModelServer; send: (path: string, init?: RequestInit) => Promise<Response> }> {
  const client = new FakeClient(description, answer);
  const server = new ModelServer(options);
  await server.register(client);
  const send = (path: string, init: RequestInit = {}): Promise<Response> =>
    server.fetch(new Request(`http://server${path}`, { method: 'POST', ...init }));
  return { client, server, send };
}

/** The config of a client, with more keys. */
const config = (more: object): NonNullable<ConstructorParameters<typeof FakeClient>[0]> =>
  ({ config: { ...new FakeClient().description.config, ...more } }) as never;

test('several files under one field are several inputs, in one batch', async () => {
  const { client, send } = await serveFake(({ kind, input }) =>
    kind === 'handle' ? (input as readonly { readonly data: File }[]).map(({ data }) => data.name) : 'one',
  );
  const form = (names: readonly string[]): FormData => {
    const all = new FormData();
    for (const name of names) all.append('data', new Blob(['x'], { type: 'image/png' }), name);
    return all;
  };
  expect(await (await send('/predictions/digits', { body: form(['a.png', 'b.png']) })).json()).toEqual([
    'a.png',
    'b.png',
  ]);
  expect(await (await send('/predictions/digits', { body: form(['a.png']) })).text()).toBe('one');
  expect(client.asked.map(({ kind }) => kind)).toEqual(['handle', 'predict']);
  const explained = await send('/explanations/digits', { body: form(['a.png', 'b.png']) });
  expect([explained.status, await explained.json()]).toEqual([
    400,
    { code: 400, type: 'BadRequestException', message: 'Expected one input, got 2.' },
  ]);
});

/** The header of a sequence, and what its requests get. */
const sequenceRequest = (name: string, value: string, more: object = {}): RequestInit => ({
  headers: { [`ts_request_sequence_${name}`]: value, ...more },
});

test('sequences over HTTP: begun without an id or with one, and ended', async () => {
  const { client, send } = await serveFake(({ kind }) => kind, { handler: 'Own', takes: undefined });
  const opened: unknown[] = [];
  const predict = async (init: RequestInit): Promise<unknown> => {
    const response = await send('/predictions/digits', init);
    opened.push(response.headers.get('ts_request_sequence_start'));
    return [response.status, response.headers.get('ts_request_sequence_id'), await response.text()];
  };
  expect(await predict({})).toEqual([200, null, 'predict']);
  const begun = await send('/predictions/digits', sequenceRequest('start', 'true'));
  // 128 bits that no other client can guess.
  const own = begun.headers.get('ts_request_sequence_id')!;
  expect([begun.status, own, await begun.text()]).toEqual([
    200,
    expect.stringMatching(/^sequence(-\d+){4}$/),
    'sequence 1',
  ]);
  expect(await predict(sequenceRequest('id', own))).toEqual([200, own, 'sequence 1']);
  expect(await predict(sequenceRequest('id', 'mine'))).toEqual([200, 'mine', 'sequence 2']);
  const last = { ts_request_sequence_end: 'true' };
  expect(await predict(sequenceRequest('id', own, last))).toEqual([200, own, 'sequence 1']);
  expect(await predict(sequenceRequest('id', own))).toEqual([200, own, 'sequence 3']);
  expect(client.sequences).toBe(3);
  // Whoever did not mean to open one is told.
  expect(opened).toEqual([null, null, 'true', null, 'true']);
  for (const wrong of [
    sequenceRequest('start', 'yes'),
    sequenceRequest('id', ''),
    sequenceRequest('start', 'false', last),
    sequenceRequest('end', 'true'),
  ])
    expect(((await predict(wrong)) as unknown[])[0]).toBe(400);
});

test('a sequence that begins while its version is removed is ended with it', async () => {
  const { client, server, send } = await serveFake(() => 'done', { handler: 'Own', takes: undefined });
  const begun = send('/predictions/digits', sequenceRequest('id', 'a'));
  await server.unregister('digits');
  expect((await begun).status).toBe(200);
  expect([client.sequences, client.openSequences]).toEqual([1, 0]);
});

test('the most sequences, the most requests of one that wait, and when they end, are those of the archive', async () => {
  const clock = new FakeClock();
  const waiting: ReturnType<typeof pending<unknown>>[] = [];
  const answer = (): Promise<unknown> => {
    const own = pending<unknown>();
    waiting.push(own);
    return own.promise;
  };
  const { send } = await serveFake(
    answer,
    { handler: 'Own', takes: undefined, ...config({ maxNumSequence: 2, sequenceTimeoutMSec: 1000 }) },
    { clock },
  );
  const predict = async (id: string): Promise<number> =>
    (await send('/predictions/digits', sequenceRequest('id', id))).status;
  // Requests that are sent at the same time may arrive in any order. The one that is refused is answered first.
  const ofOne = [predict('a'), predict('a'), predict('a')];
  expect(await Promise.race(ofOne), 'a third request of one sequence').toBe(503);
  const ofOthers = [predict('b'), predict('c')];
  expect(await Promise.race(ofOthers), 'a third sequence').toBe(503);
  await expect.poll(() => waiting.length).toBe(2);
  for (const one of waiting) one.resolve('done');
  // The second request of the sequence runs behind the first one.
  await expect.poll(() => waiting.length).toBe(3);
  waiting[2]!.resolve('done');
  expect((await Promise.all(ofOne)).toSorted()).toEqual([200, 200, 503]);
  expect((await Promise.all(ofOthers)).toSorted()).toEqual([200, 503]);
  clock.advance(1000);
  const later = predict('d');
  await expect.poll(() => waiting.length).toBe(4);
  waiting[3]!.resolve('done');
  expect(await later).toBe(200);
});

test('useJobTicket and clientTimeoutInMills of the archive', async () => {
  const busy = pending<unknown>();
  const { client, send } = await serveFake(() => busy.promise, {
    ...config({ useJobTicket: true, clientTimeoutInMills: 50 }),
    handler: 'Own',
    takes: undefined,
  });
  const first = send('/predictions/digits', { body: 'x' });
  await expect.poll(() => client.asked.length).toBe(1);
  expect(client.asked[0]!.options.timeout).toBe(50);
  const refused = await send('/predictions/digits', { body: 'x' });
  expect([refused.status, await refused.json()]).toEqual([
    503,
    {
      code: 503,
      type: 'ServiceUnavailableException',
      message: 'Model "digits" has no worker that is free (useJobTicket).',
    },
  ]);
  busy.resolve('done');
  expect((await first).status).toBe(200);
  expect((await send('/predictions/digits', { body: 'x' })).status).toBe(200);
});

test('an answer that is larger than maxResponseSize is an error', async () => {
  const { send } = await serveFake(
    ({ input }) => 'é'.repeat(Number(input)),
    { handler: 'Own', takes: undefined },
    {
      maxResponseSize: 100,
    },
  );
  const sent = async (count: number): Promise<number> =>
    (await send('/predictions/digits', { body: String(count), headers: { 'Content-Type': 'text/plain' } })).status;
  expect([await sent(50), await sent(51), await sent(34)]).toEqual([200, 500, 200]);
  const inferred = async (maxResponseSize: number, parameters: object): Promise<number> => {
    const y = { dtype: 'float32', dims: [100], data: new Float32Array(100) };
    const { send } = await serveFake(() => ({ y }), {}, { maxResponseSize });
    const inputs = [{ name: 'image', datatype: 'FP32', shape: [1, 2], data: [1, 2] }];
    const init = { body: JSON.stringify({ inputs, parameters }), headers: { 'Content-Type': 'application/json' } };
    return (await send('/v2/models/digits/infer', init)).status;
  };
  // 100 numbers: 400 bytes and their description, or 200 and it.
  expect([await inferred(400, {}), await inferred(250, {})]).toEqual([200, 500]);
  const binary = { binary_data_output: true };
  expect([await inferred(700, binary), await inferred(400, binary)]).toEqual([200, 500]);
  expect(() => new ModelServer({ maxResponseSize: 0 })).toThrow(/maxResponseSize/);
});

test("KServe's protocol v1 lists models and says whether one is ready", async () => {
  const { client, send } = await serveFake();
  const get = async (path: string): Promise<unknown> => await (await send(path, { method: 'GET' })).json();
  expect(await get('/v1/models')).toMatchObject({ models: ['digits'], data: [{ id: 'digits' }] });
  expect(await get('/v1/models/digits')).toMatchObject({ name: 'digits', ready: true });
  client.emit('fail');
  expect(await get('/v1/models/digits')).toMatchObject({ name: 'digits', ready: false });
});

test("the Open Inference Protocol's repository: index, load and unload", async () => {
  const load = async (model: string): Promise<FakeClient> => new FakeClient({ modelName: model });
  const server = new ModelServer({ load, management: { allowsUrl: (url) => url === 'cats' } });
  const failing = new FakeClient({ modelName: 'dogs' });
  await server.register(failing);
  failing.emit('fail');
  const post = async (path: string, body?: string): Promise<unknown> => {
    const response = await server.fetch(
      new Request(`http://server/v2/repository/${path}`, { method: 'POST', ...(body !== undefined && { body }) }),
    );
    const text = await response.text();
    return [response.status, text === '' ? text : JSON.parse(text)];
  };
  const row = (name: string, state: string, reason = ''): object => ({ name, version: '1.0', state, reason });
  const dogs = row('dogs', 'UNAVAILABLE', 'Its worker was lost.');
  expect(await post('models/cats/load')).toEqual([200, '']);
  for (const body of [undefined, '', '{}'])
    expect(await post('index', body)).toEqual([200, [row('cats', 'READY'), dogs]]);
  expect(await post('index', '{"ready":true}')).toEqual([200, [row('cats', 'READY')]]);
  expect(await post('models/cats/load'), 'it is there').toEqual([409, { error: expect.any(String) as unknown }]);
  expect(await post('models/birds/load')).toEqual([400, { error: expect.stringContaining('birds') as unknown }]);
  expect(await post('models/cats/unload')).toEqual([200, '']);
  expect(await post('models/cats/unload')).toEqual([404, { error: 'Model not found: cats' }]);
  const { send } = await serveFake();
  expect((await send('/v2/repository/models/digits/unload')).status, 'without management').toBe(400);
});

test('/workflows lists graphs and handlers of nodes; a model that consists of several files is a model', async () => {
  const { server, send } = await serveFake(undefined, {
    modelName: 'writer',
    handler: 'text_to_text',
    nodes: { encoder: {}, decoder: {} },
  } as never);
  await server.register(
    new FakeClient({
      ...config({ handler: { dag: { a: [] } } }),
      modelName: 'graph',
      handler: 'graph_workflow',
      takes: 'tensors',
    }),
  );
  await server.register(new FakeClient({ modelName: 'own', handler: 'Sorter', nodes: { kind: {} } } as never));
  const reader = { modelName: 'reader', handler: 'text_reader', nodes: { detect: {}, recognize: {} } };
  await server.register(new FakeClient(reader as never));
  const names = async (): Promise<unknown> => {
    const { workflows } = (await (await send('/workflows', { method: 'GET' })).json()) as {
      workflows: { workflowName: string }[];
    };
    return workflows.map(({ workflowName }) => workflowName).toSorted();
  };
  expect(await names()).toEqual(['graph', 'own']);
  expect((await send('/workflows/writer', { method: 'GET' })).status).toBe(404);
  expect((await send('/workflows/reader', { method: 'GET' })).status).toBe(404);
  const listed = (await (await send('/models', { method: 'GET' })).json()) as { models: { modelName: string }[] };
  expect(listed.models.map(({ modelName }) => modelName)).toContain('reader');
  expect((await send('/wfpredict/graph', { body: 'x' })).status).toBe(200);
});

test('a body with one stream that yields nothing is an empty one', async () => {
  const { send } = await serveFake();
  const body = new Blob([]).stream();
  expect((await send('/v2/repository/index', { body, duplex: 'half' } as RequestInit)).status).toBe(200);
});

test('synchronous=false: the answer comes when the archive is there, and the work goes on', async () => {
  const opening = pending<FakeClient>();
  let report!: (progress: object) => void;
  const server = new ModelServer({
    load: (_: unknown, { onProgress }: { readonly onProgress: (progress: object) => void }) => {
      report = onProgress;
      return opening.promise;
    },
    management: { allowsUrl: () => true },
  });
  const send = (method: string, path: string): Promise<Response> =>
    server.fetch(new Request(`http://server${path}`, { method }));
  let isAnswered = false;
  const answer = send('POST', '/models?url=cats&model_name=cats&synchronous=false').finally(() => (isAnswered = true));
  await expect.poll(() => report).toBeDefined();
  report({ file: 'cats.onnx', phase: 'download' });
  report({ file: 'ort-wasm-simd-threaded.wasm', phase: 'compile' });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isAnswered).toBe(false);
  report({ file: 'cats.onnx', phase: 'compile' });
  const registered = await answer;
  expect([registered.status, await registered.json()]).toEqual([202, { status: 'Processing worker updates...' }]);
  expect((await send('GET', '/models/cats')).status).toBe(503);
  opening.resolve(new FakeClient({ modelName: 'cats' }));
  await expect.poll(async () => (await send('GET', '/models/cats')).status).toBe(200);
  expect((await send('PUT', '/models/cats?min_worker=2&synchronous=false')).status).toBe(202);
  expect((await send('PUT', '/models/dogs?min_worker=2&synchronous=false')).status).toBe(404);
  expect((await send('PUT', '/models/cats?min_worker=2&synchronous=maybe')).status).toBe(400);
});

test('synchronous=false: an archive that is missing or no archive is answered as without it', async () => {
  const errors = [
    new TabServeError('model-not-found', 'nothing there'),
    new TabServeError('model-format', 'no archive'),
  ];
  const server = new ModelServer({
    load: async () => {
      throw errors.shift()!;
    },
    management: { allowsUrl: () => true },
  });
  for (const [status, type] of [
    [404, 'ModelNotFoundException'],
    [400, 'BadRequestException'],
  ]) {
    const response = await server.fetch(
      new Request('http://server/models?url=cats.mar&synchronous=false', { method: 'POST' }),
    );
    expect([response.status, await response.json()]).toEqual([status, expect.objectContaining({ code: status, type })]);
  }
});

test('synchronous=false: what is wrong with the request itself is answered at once, and nothing is begun', async () => {
  const asked: unknown[] = [];
  const load = async (model: unknown): Promise<FakeClient> => {
    asked.push(model);
    if (asked.length > 1) throw new Error('gone');
    return new FakeClient({ modelName: 'cats' });
  };
  const server = new ModelServer({ load, management: { allowsUrl: (url) => url === 'cats' } });
  await server.register('cats');
  const send = async (method: string, path: string): Promise<number> =>
    (await server.fetch(new Request(`http://server${path}`, { method }))).status;
  for (const wrong of ['url=secrets', 'model_name=cats', 'url=cats&batch_size=many'])
    expect(await send('POST', `/models?synchronous=false&${wrong}`), wrong).toBe(400);
  // Its failure, of which nobody would hear, would end a server in Node.
  expect(await send('PUT', '/models/cats?min_worker=2&synchronous=maybe')).toBe(400);
  expect(asked).toEqual(['cats']);
});

test('OPTIONS / describes the whole API in OpenAPI', async () => {
  const validated = async (options: ModelServerOptions): Promise<Record<string, unknown>> => {
    const response = await new ModelServer(options).fetch(new Request('http://server/', { method: 'OPTIONS' }));
    expect(response.status).toBe(200);
    const described = (await response.json()) as Record<string, unknown>;
    expect(await new Validator().validate(structuredClone(described))).toEqual({ valid: true });
    return described['paths'] as Record<string, unknown>;
  };
  const reading = await validated({});
  expect(Object.keys(reading['/models'] as object)).toEqual(['get']);
  const managing = await validated({ management: { allowsUrl: () => true } });
  expect(Object.keys(managing['/models'] as object)).toEqual(['get', 'post']);
  // Every path that it has is one that the server has.
  const workflow = { handler: 'Own', nodes: { first: {} } } as never;
  const { server } = await serveFake(() => 'done', workflow, { management: { allowsUrl: () => false } });
  for (const [path, operations] of Object.entries(managing))
    for (const method of Object.keys(operations as object)) {
      const url = path.replaceAll('{model_name}', 'digits').replaceAll('{model_version}', '1.0');
      const init = { method: method.toUpperCase(), ...(method === 'post' && { body: '{}' }) };
      const response = await server.fetch(new Request(`http://server${url}`, init));
      // No response is stored: the answer says so, and a path that is not there has other words.
      if (path.includes('{response_id}')) expect(await response.text()).toContain('is stored here');
      else expect([404, 405], `${method} ${path}`).not.toContain(response.status);
      if (method === 'delete' || url.endsWith('/unload'))
        await server.register(new FakeClient(workflow)).catch(() => {});
    }
});
