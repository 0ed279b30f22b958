// The HTTP front door over clients whose answers the test makes. Statuses, types and texts of errors are TorchServe's:
// `frontend/server/src/main/java` of pytorch/serve 62c4d6a.
import { deflateSync, gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import { PredictionError, TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import type { Context, Handler, InputKind } from '../../../../src/contract/handler.ts';
import { resultFormsOf } from '../../../../src/worker/handlers/descriptor.ts';
import { BaseHandler, ImageClassifier, type Classification, type Tensors } from '../../../../src/worker.ts';
import { ModelServer } from '../../../../src/server/model-server.ts';
import type { ModelServerOptions } from '../../../../src/server/options.ts';
import { hostModels } from '../../../../src/server/service-worker/host-models.ts';
import { whenControlled } from '../../../../src/server/service-worker/when-controlled.ts';
import { FakeClient, pending, type Asked } from '../../support/fake-client.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { archive, HostWorker } from '../../support/host-worker.ts';

type Answer = ConstructorParameters<typeof FakeClient>[1];

async function serve(
  answer?: Answer,
  description: ConstructorParameters<typeof FakeClient>[0] = {},
  { stream = false, ...options }: ModelServerOptions & { readonly stream?: boolean } = {},
): Promise<{ server: ModelServer; client: FakeClient; send: (path: string, init?: RequestInit) => Promise<Response> }> {
  const client = new FakeClient(description, answer);
  const server = new ModelServer(options);
  await server.register(client, { stream });
  const send = (path: string, init?: RequestInit): Promise<Response> =>
    server.fetch(new Request(`http://server${path}`, init));
  return { server, client, send };
}

async function told(response: Response): Promise<unknown> {
  return [response.status, await response.json()];
}

const echo: Answer = async ({ input }: Asked) => await spelled(input);

/** Describes an input: what a handler would get. */
async function spelled(input: unknown): Promise<unknown> {
  if (input instanceof Blob) return { blob: [...new Uint8Array(await input.arrayBuffer())], type: input.type };
  if (Array.isArray(input)) return await Promise.all(input.map(spelled));
  if (typeof input !== 'object' || input === null) return input;
  return Object.fromEntries(
    await Promise.all(Object.entries(input).map(async ([key, value]) => [key, await spelled(value)] as const)),
  );
}

/** A handler of the app's own: it gets what was sent. */
const text = { handler: 'OwnHandler', takes: undefined, resultForms: [] };

test('bodies reach the handler by their type, as TorchServe sends them', async () => {
  const { send } = await serve(echo, text);
  const post = async (body: BodyInit | undefined, type?: string, method = 'POST'): Promise<unknown> => {
    const response = await send('/predictions/digits', {
      method,
      ...(body !== undefined && { body }),
      ...(type !== undefined && { headers: { 'Content-Type': type } }),
    });
    expect(response.status).toBe(200);
    return await response.json();
  };
  const bytes = new Uint8Array([137, 80, 78, 71]);
  const blob = { blob: [...bytes], type: '' };
  expect(await post(bytes)).toEqual(blob);
  expect(await post(bytes, 'application/octet-stream', 'PUT')).toEqual({ ...blob, type: 'application/octet-stream' });
  expect(await post(bytes, 'image/png')).toEqual({ ...blob, type: 'image/png' });
  expect(await post(bytes, 'audio/wav')).toEqual({ ...blob, type: 'audio/wav' });
  expect(await post(undefined, undefined, 'GET')).toEqual({ blob: [], type: '' });
  expect(
    await (
      await send('/predictions/digits', {
        method: 'POST',
        body: 'Grüße',
        headers: { 'Content-Type': 'text/plain; charset=utf-8' },
      })
    ).text(),
  ).toBe('Grüße');
  expect(await post('{"data":"a text","n":[1,2]}', 'application/json')).toEqual({ data: 'a text', n: [1, 2] });
  expect(await post('{"data":{"b64":"iVBORw=="}}', 'application/json')).toEqual({ data: blob });
  expect(await post('data=a+text&x=1', 'application/x-www-form-urlencoded')).toEqual({ data: 'a text', x: '1' });
  // TorchServe's `InferenceRequestHandler.parseRequest` reads the query.
  expect(await told(await send('/predictions/digits?data=a+text&x=%C3%BC&x=2'))).toEqual([
    200,
    { data: 'a text', x: ['ü', '2'] },
  ]);
  const form = new FormData();
  form.append('data', new Blob([bytes], { type: 'image/png' }), 'digit.png');
  form.append('params', new Blob(['{"k":3}'], { type: 'application/json' }));
  form.append('note', 'hello');
  form.append('note', 'again');
  expect(await post(form)).toEqual({
    data: { ...blob, type: 'image/png' },
    params: { k: 3 },
    note: ['hello', 'again'],
  });
  const hostile = new FormData();
  hostile.append('__proto__', 'x');
  hostile.append('data', 'y');
  expect(await post(hostile)).toEqual(JSON.parse('{"__proto__":"x","data":"y"}'));
});

test('a handler of images that takes more gets the whole object, with its image in base64 or as a file', async () => {
  const { send } = await serve(echo);
  const blob = { blob: [137, 80], type: '' };
  const post = async (body: BodyInit, type?: string): Promise<unknown> =>
    await told(
      await send('/predictions/digits', { method: 'POST', body, ...(type && { headers: { 'Content-Type': type } }) }),
    );
  const points = [[1, 2]];
  for (const image of ['iVA=', { b64: 'iVA=' }])
    expect(await post(JSON.stringify({ image, points }), 'application/json')).toEqual([200, { image: blob, points }]);
  const form = new FormData();
  form.append('image', new Blob([Uint8Array.of(137, 80)], { type: 'image/png' }), 'photo.png');
  form.append('points', new Blob([JSON.stringify(points)], { type: 'application/json' }));
  expect(await post(form)).toEqual([200, { image: { ...blob, type: 'image/png' }, points }]);
});

test('handlers of images take base64, as TorchServe’s do; a string is the text of other handlers', async () => {
  const image = await serve(echo);
  const blob = { blob: [137, 80], type: '' };
  const json = { method: 'POST', headers: { 'Content-Type': 'application/json' } };
  for (const body of ['"iVA="', '"data:image/png;base64,iVA="'])
    expect(await told(await image.send('/predictions/digits', { ...json, body }))).toEqual([200, blob]);
  expect(await told(await image.send('/predictions/digits', { ...json, body: '{"data":"iVA="}' }))).toEqual([
    200,
    { data: blob },
  ]);
  expect(await told(await image.send('/predictions/digits', { ...json, body: '{"body":"no base64!"}' }))).toEqual([
    400,
    { code: 400, type: 'BadRequestException', message: 'Expected bytes as a string in base64, got "no base64!".' },
  ]);
  const { send } = await serve(echo, text);
  const response = await send('/predictions/digits', { ...json, body: '"iVA="' });
  expect(await response.text()).toBe('iVA=');
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
});

test('a handler of images, texts or audio gets the field data or body of a form, and no other, as TorchServe’s do', async () => {
  const blob = (text: string) => ({ blob: [...new TextEncoder().encode(text)], type: 'image/png' });
  const form = (...fields: readonly (readonly [string, Blob | string])[]): FormData => {
    const data = new FormData();
    for (const [name, value] of fields) data.append(name, value);
    return data;
  };
  const file = new Blob(['pixels'], { type: 'image/png' });
  const post = async (takes: InputKind, body: FormData | string): Promise<unknown> => {
    const { send } = await serve(echo, { takes });
    const headers = typeof body === 'string' ? { 'Content-Type': 'application/json' } : {};
    return await (await send('/predictions/digits', { method: 'POST', body, headers })).json();
  };
  for (const name of ['data', 'body'])
    expect(await post('image', form([name, file], ['note', 'x'], ['k', '3']))).toEqual({
      data: blob('pixels'),
    });
  expect(await post('text', form(['data', 'a text'], ['note', 'x']))).toEqual({ data: 'a text' });
  // Where both are taken, a string is a text, and an image in JSON is bytes.
  expect(await post('image-or-text', form(['data', 'a cat']))).toEqual({ data: 'a cat' });
  expect(await post('image-or-text', form(['data', file]))).toEqual({ data: blob('pixels') });
  expect(await post('image-or-text', '{"data":{"b64":"cGl4ZWxz"}}')).toEqual({ data: { ...blob('pixels'), type: '' } });
  // Numbers have dims beside them, and a pair of texts has neither field.
  expect(await post('image', '{"data":[1,2],"dims":[1,2]}')).toEqual({ data: [1, 2], dims: [1, 2] });
  expect(await post('text', '{"text":"a","textPair":"b"}')).toEqual({ text: 'a', textPair: 'b' });
  // An empty value is one in JSON. In a form, it is the mark of a text that curl has sent as one.
  expect(await post('text', '{"question":"Who?","context":""}')).toEqual({ question: 'Who?', context: '' });
  expect(await post('text', form(['a text', '']))).toMatchObject({
    message: expect.stringContaining('got a text. A file or a text'),
  });
  // What has no such field is refused by its names.
  const message = (text: string): unknown => ({ code: 400, type: 'BadRequestException', message: text });
  for (const takes of ['image', 'text', 'audio'] as const)
    expect(await post(takes, form(['img', file], ['k', '3']))).toEqual(
      message(
        'Expected the field "data" or "body", got img, k. A file or a text that is the whole body needs its own Content-Type (curl -T FILE): what curl sends with -d or --data-binary is a form.',
      ),
    );
  expect(await post('image', '[1,2]')).toEqual(
    message(
      'Expected the field "data" or "body", got a list. A file or a text that is the whole body needs its own Content-Type (curl -T FILE): what curl sends with -d or --data-binary is a form.',
    ),
  );
  expect(await post('image', '{}')).toEqual(
    message(
      'Expected the field "data" or "body", got nothing. A file or a text that is the whole body needs its own Content-Type (curl -T FILE): what curl sends with -d or --data-binary is a form.',
    ),
  );
  // The body of KServe's protocol v1.
  for (const takes of ['image', 'text', 'audio'] as const)
    expect(await post(takes, '{"instances":[{"data":"iVA="}]}')).toEqual(
      message('Expected one input, got "instances". /v1/models/digits:predict takes instances.'),
    );
  // A handler of the app's own may have such a field.
  expect(await post('tensors', '{"instances":[1]}')).toEqual({ instances: [1] });
  expect(await post('tensors', form(['data', file], ['k', '3']))).toEqual({ data: blob('pixels'), k: '3' });
});

test('forms as RFC 7578 has them, from any client', async () => {
  const { send } = await serve(echo, text);
  const post = async (body: string | Blob, type = 'multipart/form-data; boundary=B'): Promise<unknown> =>
    await told(await send('/predictions/digits', { method: 'POST', body, headers: { 'Content-Type': type } }));
  const blob = (of: string, type: string) => ({ blob: [...new TextEncoder().encode(of)], type });
  // What .NET's MultipartFormDataContent sends: a quoted boundary, a name without quotes, and a file name in two ways.
  const net =
    "--6d0b4a8f-2f0e\r\nContent-Type: image/png\r\nContent-Disposition: form-data; name=data; filename=a.png; filename*=utf-8''a.png\r\n\r\npixels\r\n--6d0b4a8f-2f0e\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Disposition: form-data; name=note\r\n\r\nä\r\n--6d0b4a8f-2f0e--\r\n";
  expect(await post(net, 'multipart/form-data; boundary="6d0b4a8f-2f0e"')).toEqual([
    200,
    { data: blob('pixels', 'image/png'), note: 'ä' },
  ]);
  const form = (headers: string, value = 'x', after = '--\r\n'): string =>
    `--B\r\n${headers}\r\n\r\n${value}\r\n--B${after}`;
  const data = 'Content-Disposition: form-data; name="data"';
  // The boundary's characters are no delimiter by themselves, and a line break of the value is the value's.
  expect(await post(form(data, 'A B\r\n-B --B\n'))).toEqual([200, { data: 'A B\r\n-B --B\n' }]);
  expect(await post(form(data, ''))).toEqual([200, { data: '' }]);
  expect(await post(`a preamble\r\n${form(data)}an epilogue\r\n--B\r\n`)).toEqual([200, { data: 'x' }]);
  expect(await post(form(data, 'x', '--'))).toEqual([200, { data: 'x' }]);
  expect(await post(form(data.toLowerCase()), 'multipart/form-data; charset=utf-8; boundary=B')).toEqual([
    200,
    { data: 'x' },
  ]);
  const named = 'Content-Disposition: form-data; filename="a; name=b.png"; name="c"\r\nContent-Type: image/png';
  expect(await post(form(named))).toEqual([200, { c: blob('x', 'image/png') }]);
  expect(await post(form('Content-Disposition: form-data; name="a%22b"'))).toEqual([200, { 'a"b': 'x' }]);
  expect(
    await post(form(`${data}; filename=""\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: base64`, 'aGk=')),
  ).toEqual([200, { data: blob('hi', 'image/png') }]);
  expect(await post('?a=%3F&b=1+2', 'application/x-www-form-urlencoded')).toEqual([200, { '?a': '?', b: '1 2' }]);
  expect(await post(form(`${data}\r\nContent-Type: application/json`, '[[120,80]]'))).toEqual([
    200,
    { data: [[120, 80]] },
  ]);
  // RFC 7578, 4.4: a part without a type is a text; but what has a file name is a file, as Python's requests sends it with
  // files={'data': open('a.png', 'rb')}, and so is what has a type of bytes. TorchServe gives handlers the bytes of each.
  expect(await post(form(`${data}; filename="a.png"`))).toEqual([200, { data: blob('x', '') }]);
  for (const type of ['application/octet-stream', 'image/png', 'audio/wav'])
    expect(await post(form(`${data}\r\nContent-Type: ${type}`))).toEqual([200, { data: blob('x', type) }]);
  expect(await post(form(`${data}; filename="a.txt"\r\nContent-Type: text/plain`))).toEqual([200, { data: 'x' }]);
  expect(await post(form(`${data}\r\nContent-Type: text/csv`))).toEqual([200, { data: 'x' }]);
  // curl --data-binary @a.png declares a form.
  const png = new Blob([Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0xff)]);
  expect(await post(png, 'application/x-www-form-urlencoded')).toEqual([
    400,
    expect.objectContaining({ message: expect.stringContaining('curl -T FILE') }),
  ]);
  // A file's name in Latin-1, which is what curl sends from a Windows console, and in Japanese, as browsers send it.
  const [start, end] = form(`${data}; filename="?.png"\r\nContent-Type: image/png`).split('?');
  for (const name of [Uint8Array.of(0xe4), '日本'])
    expect(await post(new Blob([start!, name, end!]))).toEqual([200, { data: blob('x', 'image/png') }]);
  const refused = async (body: string, why: string, type = 'multipart/form-data; boundary=B'): Promise<void> =>
    expect(await post(body, type)).toEqual([400, expect.objectContaining({ message: expect.stringContaining(why) })]);
  await refused(form(data), 'the type has no boundary', 'multipart/form-data');
  await refused(form(data), 'the type has no boundary', 'multipart/form-data; boundary=');
  await refused(form(data), 'its end is missing', 'multipart/form-data; boundary=X');
  await refused(form(data, 'x', '\r\n'), 'a field has no headers, or no value');
  await refused(form(data).replace('\r\n--B--', ''), 'its end is missing');
  await refused(form(data).replaceAll('\r\n', '\n'), 'a field has no headers, or no value');
  await refused(form('Content-Disposition: form-data; filename="name=data"'), 'a field has no name');
  await refused(`--B\r\n\r\nlost\r\n${form(data)}`, 'a field has no name');
  await refused(`--B\r\nX: y\r\n${form(data)}`, 'a field has no headers, or no value');
  await refused('--B--\r\n', 'The form has no fields');
});

test('bodies that are not what they say, and bodies that are too large', async () => {
  const { send, client } = await serve(undefined, text, { maxRequestSize: 10 });
  const post = async (body: BodyInit, headers: HeadersInit = {}): Promise<unknown> => {
    const [status, { type }] = (await told(
      await send('/predictions/digits', { method: 'POST', body, headers, duplex: 'half' } as RequestInit),
    )) as [number, { type: string }];
    return [status, type];
  };
  expect(await post('{"a":', { 'Content-Type': 'application/json' })).toEqual([400, 'BadRequestException']);
  expect(await post('', { 'Content-Type': 'application/vnd.x+json' })).toEqual([400, 'BadRequestException']);
  expect(await post('no form', { 'Content-Type': 'multipart/form-data; boundary=x' })).toEqual([
    400,
    'BadRequestException',
  ]);
  expect(await post('no form', { 'Content-Type': 'multipart/form-data' })).toEqual([400, 'BadRequestException']);
  expect(await post('12345678901', { 'Content-Type': 'text/plain' })).toEqual([413, 'RequestEntityTooLargeException']);
  expect(await post('1', { 'Content-Encoding': 'gzip' })).toEqual([400, 'BadRequestException']);
  expect(await post('1', { 'Content-Length': '11' })).toEqual([413, 'RequestEntityTooLargeException']);
  let pulled = 0;
  const endless = new ReadableStream({ pull: (controller) => (pulled++, controller.enqueue(new Uint8Array(4))) });
  expect(await post(endless)).toEqual([413, 'RequestEntityTooLargeException']);
  expect(pulled).toBeLessThan(10);
  const broken = new ReadableStream({ pull: (controller) => controller.error(new Error('the line is cut')) });
  expect(await post(broken)).toEqual([400, 'BadRequestException']);
  expect(client.asked).toEqual([]);
});

test('a compressed body is decoded, within the limit of bytes; or refused with what is known', async () => {
  const { send } = await serve(echo, text, { maxRequestSize: 1000 });
  const post = async (body: Uint8Array<ArrayBuffer>, encoding: string): Promise<Response> =>
    await send('/predictions/digits', {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'text/plain', 'Content-Encoding': encoding },
    });
  const bytes = (buffer: Buffer): Uint8Array<ArrayBuffer> => new Uint8Array(buffer);
  const [gzip, deflate] = [bytes(gzipSync('Grüße')), bytes(deflateSync('Grüße'))];
  for (const [body, encoding] of [
    [gzip, 'gzip'],
    [gzip, 'x-gzip'],
    [gzip, ' GZIP'],
    [deflate, 'deflate'],
    [new TextEncoder().encode('Grüße'), 'identity'],
  ] as const)
    expect(await (await post(body, encoding)).text(), encoding).toBe('Grüße');
  expect((await post(bytes(gzipSync('x'.repeat(1000))), 'gzip')).status).toBe(200);
  // 100 kB of zeros are 130 bytes, 100 MB are 100 kB.
  expect((await post(bytes(gzipSync(Buffer.alloc(100_000))), 'gzip')).status).toBe(413);
  for (const damaged of [gzip.slice(0, -5), gzip.map((byte, at) => (at === 15 ? byte ^ 255 : byte)), deflate])
    expect((await post(damaged, 'gzip')).status).toBe(400);
  // RFC 7694
  for (const encoding of ['compress', 'br', 'gzip, gzip']) {
    const refused = await post(gzip, encoding);
    expect([refused.status, refused.headers.get('accept-encoding')], encoding).toEqual([415, 'gzip, deflate']);
  }
});

test('a body that does not come is answered with 408, and nobody reads it any more', async () => {
  const clock = new FakeClock();
  const { send, server } = await serve(undefined, text, { timeout: 1000, clock });
  let left = false;
  const body = new ReadableStream({ pull: () => new Promise(() => {}), cancel: () => void (left = true) });
  const response = send('/predictions/digits', { method: 'POST', body, duplex: 'half' } as RequestInit);
  await expect.poll(async () => (await server.describe('digits')).activeRequests).toBe(1);
  await clock.advance(1000);
  expect((await response).status).toBe(408);
  expect((await server.describe('digits')).activeRequests).toBe(0);
  await expect.poll(() => left).toBe(true);
});

test('results as JSON: PyTorch’s lists for tensors', async () => {
  const results: unknown[] = [];
  const { send } = await serve(() => results.shift(), text);
  const post = async (result: unknown): Promise<[string | null, string]> => {
    results.push(result);
    const response = await send('/predictions/digits', { method: 'POST', body: 'x' });
    return [response.headers.get('content-type'), await response.text()];
  };
  const json = async (result: unknown): Promise<unknown> => {
    const [type, body] = await post(result);
    expect(type).toBe('application/json');
    return JSON.parse(body);
  };
  expect(await json({ seven: 0.5, three: 0.25 })).toEqual({ seven: 0.5, three: 0.25 });
  const tensor = { dtype: 'float32', dims: [2, 3, 1], data: new Float32Array([1, 2, 3, 4, 5, 6]) };
  expect(await json(tensor)).toEqual([
    [[1], [2], [3]],
    [[4], [5], [6]],
  ]);
  expect(await json({ y: { dtype: 'int64', dims: [2], data: new BigInt64Array([7n, 2n ** 60n]) } })).toEqual({
    y: [7, '1152921504606846976'],
  });
  expect(await json({ dtype: 'bool', dims: [], data: new Uint8Array([1]) })).toBe(true);
  expect(await json({ dtype: 'float16', dims: [3], data: new Uint16Array([0x3c00, 0xc000, 0x3555]) })).toEqual([
    1, -2, 0.333251953125,
  ]);
  expect(await json({ dtype: 'float32', dims: [2, 0], data: new Float32Array(0) })).toEqual([[], []]);
  expect(await json({ dtype: 'string', dims: [1], data: ['a'] })).toEqual(['a']);
  expect(await json({ mask: new Uint8Array([0, 255]), size: [1, 2] })).toEqual({ mask: [0, 255], size: [1, 2] });
  expect(await json([Number.NaN, undefined, null])).toEqual([null, null, null]);
  expect(await json({ at: new Date(0) })).toEqual({ at: '1970-01-01T00:00:00.000Z' });
  const mixed = {
    map: new Map<unknown, unknown>([
      ['a', 1n],
      [2, new Map()],
    ]),
    set: new Set([1, 'b']),
    bytes: Uint8Array.of(1, 2).buffer,
    none: {},
  };
  expect(await json(mixed)).toEqual({ map: { a: 1, 2: {} }, set: [1, 'b'], bytes: [1, 2], none: {} });
  for (const lost of [new Blob(['x']), new Error('x'), /x/, new DataView(new ArrayBuffer(1))]) {
    results.push([{ lost }]);
    const response = await send('/predictions/digits', { method: 'POST', body: 'x' });
    const message = `The result has a ${lost.constructor.name}, which JSON cannot hold.`;
    expect(await told(response)).toEqual([500, { code: 500, type: 'InternalServerException', message }]);
  }
  expect(await json(undefined)).toBe(null);
  expect(await post('a text')).toEqual(['text/plain; charset=utf-8', 'a text']);
  expect(await post(new Uint8Array([97, 98]))).toEqual(['application/octet-stream', 'ab']);
  expect(await post(new Blob(['<svg/>'], { type: 'image/svg+xml' }))).toEqual(['image/svg+xml', '<svg/>']);
});

test('a text is decoded by the charset that is declared, and strictly', async () => {
  const { send } = await serve(echo, text);
  const post = async (body: Uint8Array, type: string): Promise<unknown> => {
    const headers = { 'Content-Type': type };
    const response = await send('/predictions/digits', { method: 'POST', body: new Blob([body as BlobPart]), headers });
    if (response.headers.get('content-type')?.startsWith('text/')) return await response.text();
    const [status, answer] = (await told(response)) as [number, { message?: string }];
    return status === 200 ? answer : `${status}: ${answer.message}`;
  };
  const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex, 'hex'));
  const form = (header: string, value: Uint8Array, name = 'name="data"'): Uint8Array =>
    Buffer.concat([
      Buffer.from(`--B\r\nContent-Disposition: form-data; ${name}\r\n${header}\r\n\r\n`),
      value,
      Buffer.from('\r\n--B--\r\n'),
    ]);
  const MULTIPART = 'multipart/form-data; boundary=B';
  const URLENCODED = 'application/x-www-form-urlencoded';
  // The bytes are what Python's str.encode() returns.
  const [cp1251, shiftJis] = [bytes('ece5f2f0ee'), bytes('93fa967b')];
  const inJson = Buffer.concat([Buffer.from('{"data":"'), cp1251, Buffer.from('"}')]);
  for (const [body, type, expected] of [
    [cp1251, 'text/plain; charset=windows-1251', 'метро'],
    [shiftJis, 'text/plain;charset="Shift_JIS"', '日本'],
    [bytes('5a0075006700'), 'text/plain; charset=utf-16le', 'Zug'],
    [bytes('80e9'), 'text/plain; charset=windows-1252', '€é'],
    [cp1251, 'text/plain', /^400: The body is not text in utf-8: .*send a file as application\/octet-stream\.$/],
    [shiftJis, 'text/plain; charset=utf-8', /^400: The body is not text in utf-8: /],
    [cp1251, 'text/plain; charset=klingon', '415: The charset klingon is not known: send UTF-8.'],
    [inJson, 'application/json', /^400: The body is not JSON: it is not UTF-8/],
    [inJson, 'application/json; charset=windows-1251', /^400: The body is not JSON: it is not UTF-8/],
    [form('Content-Type: text/plain; charset=windows-1251', cp1251), MULTIPART, { data: 'метро' }],
    [
      form('Content-Type: text/plain; charset=windows-1251', cp1251, 'name="data"; filename="a.txt"'),
      MULTIPART,
      { data: 'метро' },
    ],
    [
      form('X: y', cp1251),
      MULTIPART,
      /^400: A field of the form without a file name is not text in utf-8: .*Name the charset/,
    ],
    [form('Content-Transfer-Encoding: 8BIT', Buffer.from('ä')), MULTIPART, { data: 'ä' }],
    [
      form('Content-Transfer-Encoding: quoted-printable', Buffer.from('=C3=A4')),
      MULTIPART,
      '415: A field of the form is encoded (quoted-printable): send it as it is, or in base64.',
    ],
    [Buffer.from('?data=a+b%20c%zz&&x=%D0%BC=1&y'), URLENCODED, { '?data': 'a b c%zz', x: 'м=1', y: '' }],
    [Buffer.from('data=%ec%E5&x='), `${URLENCODED}; charset=windows-1251`, { data: 'ме', x: '' }],
    [Buffer.from('data=%C3%28'), URLENCODED, /^400: A field of the form is not text in utf-8: /],
  ] as const) {
    const got = await post(body, type);
    if (expected instanceof RegExp) expect(got, type).toMatch(expected);
    else expect(got, type).toEqual(expected);
  }
});

test('a small body of very many values is refused, and does not keep the server busy', async () => {
  const { send } = await serve(echo, text);
  const post = async (body: string, type: string): Promise<unknown> =>
    await told(await send('/predictions/digits', { method: 'POST', body, headers: { 'Content-Type': type } }));
  const refused = (message: string): unknown => [400, { code: 400, type: 'BadRequestException', message }];
  const names = Array.from({ length: 100_000 }, (_, at) => at.toString(36)).join('&');
  // A file that curl declares as a form may have as many.
  const refusedFile = [
    400,
    expect.objectContaining({ message: expect.stringMatching(/more than 1000 fields\. .*curl -T FILE/) }),
  ];
  expect(await post(names, 'application/x-www-form-urlencoded')).toEqual(refusedFile);
  const same = Array(1001).fill('a=1').join('&');
  expect(await post(same, 'application/x-www-form-urlencoded')).toEqual(refusedFile);
  const part = '\r\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1';
  const parts = `${part.slice(2)}${part.repeat(1000)}\r\n--x--\r\n`;
  expect(await post(parts, 'multipart/form-data; boundary="x"')).toEqual(
    refused('The form has more than 1000 fields.'),
  );
  // What the type says of the boundary hides the fields from no count.
  expect(await post(names, 'application/x-www-form-urlencoded; boundary=z')).toEqual(refusedFile);
  const long = parts.replaceAll('--x', `--${'x'.repeat(40)}`);
  for (const hidden of [`xboundary=z; boundary=${'x'.repeat(40)}`, `boundary="\\${'x'.repeat(40)}"`])
    expect(await post(long, `multipart/form-data; ${hidden}`)).toEqual([
      400,
      expect.objectContaining({ message: expect.stringContaining('has more than one boundary, or a backslash') }),
    ]);
  const fewer = parts.replace(part, '');
  expect(await post(fewer, 'multipart/form-data; boundary=x')).toEqual([200, { a: Array(1000).fill('1') }]);
  const headers = `--x\r\n${'X: y\r\n'.repeat(3000)}\r\n1\r\n--x--\r\n`;
  for (const flood of [headers, headers.replace('\r\n\r\n', '')])
    expect(await post(flood, 'multipart/form-data; boundary=x')).toEqual(
      refused('The headers of a field of the form have more than 16384 bytes, or no end.'),
    );
  const many = await send('/v1/models/digits:predict', {
    method: 'POST',
    body: JSON.stringify({ instances: Array(1001).fill(0) }),
    headers: { 'Content-Type': 'application/json' },
  });
  expect(await told(many)).toEqual([400, { error: '"instances" has 1001 inputs, expected at most 1000.' }]);
  const bytes = `[${Array(1001).fill('{"b64":""}').join()}]`;
  expect(await post(bytes, 'application/json')).toEqual(refused('The body has more than 1000 values in base64.'));
  const keys = `{${Array.from({ length: 400_000 }, (_, at) => `"k${at}":1`).join()}}`;
  expect(await post(keys, 'application/json')).toEqual(refused('The body has more than 20000 keys.'));
  const rows = `[${Array(20_001).fill('{"k":1}').join()}]`;
  expect(await post(rows, 'application/json')).toEqual(refused('The body has more than 20000 keys.'));
  const lists = `[${Array(300_000).fill('[]').join()}]`;
  expect(await post(lists, 'application/json')).toEqual(refused('The body has more than 300000 lists and objects.'));
  const deep = `${'['.repeat(1001)}${']'.repeat(1001)}`;
  expect(await post(deep, 'application/json')).toEqual(refused('The body has more than 1000 levels.'));
  // In a string they are text.
  const brackets = `["\\"${':[{'.repeat(100_000)}"]`;
  expect(await post(brackets, 'application/json')).toEqual([200, JSON.parse(brackets)]);
  const infer = (body: string): Promise<Response> => send('/v2/models/digits/infer', { method: 'POST', body });
  expect(await told(await infer(`{"inputs":${lists}}`))).toEqual([
    400,
    { error: 'The request: it has more than 300000 lists and objects.' },
  ]);
  // Numbers in lists cost little.
  expect(await post(`[${Array(100_000).fill('1').join()}]`, 'application/json')).toEqual([200, Array(100_000).fill(1)]);
});

test('a handler with TorchServe’s form answers in it, unless the config says otherwise', async () => {
  const paramsFor = async (description: object): Promise<unknown> => {
    const { send, client } = await serve(() => [], description as never);
    await send('/predictions/digits', { method: 'POST', body: new Blob(['x']) });
    return client.asked[0]!.options.params;
  };
  const config = (handler: object): object => ({ config: { handler } });
  expect(await paramsFor({})).toEqual({ result: 'torchserve' });
  expect(await paramsFor({ resultForms: ['classes', 'mask', 'torchserve'] })).toEqual({ result: 'torchserve' });
  expect(await paramsFor(config({ output: 'classes' }))).toEqual({});
  expect(await paramsFor(config({ result: 'typed' }))).toEqual({});
  expect(await paramsFor({ resultForms: ['typed'] })).toEqual({});
  expect(await paramsFor({ resultForms: undefined })).toEqual({});
});

test('the params of the query, a JSON object, are those of the request', async () => {
  const { send, client } = await serve();
  const asked = async (path: string, query: string): Promise<unknown> => {
    const before = client.asked.length;
    const body = path.startsWith('/v1') ? '{"instances":["eA=="]}' : new Blob(['x']);
    const response = await send(`${path}?params=${encodeURIComponent(query)}`, { method: 'POST', body });
    return client.asked.length > before
      ? client.asked.at(-1)!.options.params
      : [response.status, await response.text()];
  };
  const topK = '{"topK":2}';
  expect(await asked('/predictions/digits', topK)).toEqual({ result: 'torchserve', topK: 2 });
  expect(await asked('/predictions/digits', '{"result":"typed"}')).toEqual({ result: 'typed' });
  expect(await asked('/v1/models/digits:predict', topK)).toEqual({ result: 'torchserve', topK: 2 });
  expect(await asked('/v1/models/digits:explain', topK)).toEqual({ topK: 2 });
  expect(await asked('/explanations/digits', topK)).toEqual({ topK: 2 });
  const refused = [400, expect.stringContaining("The query's params must be one JSON object")];
  for (const wrong of ['', 'topK', '[1]', 'null']) expect(await asked('/predictions/digits', wrong)).toEqual(refused);
  const twice = await send(`/predictions/digits?params=${topK}&params=${topK}`, { method: 'POST', body: 'x' });
  expect([twice.status, await twice.text()]).toEqual(refused);
});

test("a handler class of the app's own gets what was sent, whichever built-in handler its archive names", async () => {
  class Own implements Handler {
    async initialize(): Promise<void> {}
    preprocess(): void {}
    inference(): void {}
    postprocess(): void {}
    async handle(rows: readonly unknown[], { params }: Context): Promise<readonly unknown[]> {
      return rows.map((row, index) => ({ row, params: params[index] }));
    }
  }
  const named = { ...archive, manifest: { model: { modelName: 'own', handler: 'image_classifier' } } };
  const worker = (): Worker => new HostWorker(Own, { archive: named }) as unknown as Worker;
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  const client = connect<Handler>(worker, { model: archive.url as string, verdicts });
  await client.initialize();
  const server = new ModelServer();
  await server.register(client, { name: 'own' });
  const request = new Request('http://server/predictions/own', { method: 'POST', body: 'a text' });
  expect(await told(await server.fetch(request))).toEqual([200, { row: 'a text', params: {} }]);
  expect((await client.describe()).handler).toBe('Own');
  await client.dispose();
});

test("a class of the app's own that extends a handler of images gets its forms; one with a postprocess of its own has no other form", async () => {
  const seen: unknown[] = [];
  class Birds extends ImageClassifier {
    override async preprocess(data: readonly unknown[]): Promise<Tensors> {
      seen.push(...data);
      return { image: { dtype: 'float32', dims: [1, 3, 1, 1], data: new Float32Array(3) } };
    }
  }
  class Best extends Birds {
    override async postprocess(outputs: Tensors, context: Context): Promise<readonly string[]> {
      const rows: readonly Classification[] = await super.postprocess(outputs, context);
      return rows.map(([best]) => best!.label);
    }
  }
  const session = {
    inputs: [{ name: 'image', dtype: 'float32', dims: ['batch', 3, null, null] }],
    outputs: [{ name: 'logits', dtype: 'float32', dims: ['batch', 2] }],
    run: async (): Promise<Tensors> => ({ logits: { dtype: 'float32', dims: [1, 2], data: new Float32Array(2) } }),
    [Symbol.asyncDispose]: async () => {},
  } as const;
  const own = { ...archive, config: { handler: { labels: ['wren', 'crane'] } } };
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  for (const [handlerClass, expected] of [
    [Birds, { wren: 0.5, crane: 0.5 }],
    [Best, 'wren'],
  ] as const) {
    const worker = (): Worker =>
      new HostWorker(handlerClass, { archive: own, open: async () => session }) as unknown as Worker;
    const client = connect<Handler>(worker, { model: archive.url as string, verdicts });
    await client.initialize();
    const server = new ModelServer();
    await server.register(client, { name: 'own' });
    const headers = { 'Content-Type': 'application/json' };
    const send = { method: 'POST', headers, body: '{"instances":["iVA="]}' };
    const response = await server.fetch(new Request('http://server/v1/models/own:predict', send));
    expect(await told(response)).toEqual([200, { predictions: [expected] }]);
    await client.dispose();
  }
  const blob = { blob: [137, 80], type: '' };
  expect(await spelled(seen)).toEqual([blob, blob]);
});

test('the forms of a handler are those of its result', () => {
  const typed = ['typed', 'torchserve'];
  class Renamed extends ImageClassifier {}
  class Field extends ImageClassifier {
    override postprocess = async (): Promise<string[]> => [];
  }
  class Rows extends ImageClassifier {
    protected override rowResults = (): (() => Classification) => () => [];
  }
  for (const [handler, forms] of [
    [new ImageClassifier(), typed],
    [new Renamed(), typed],
    [new Field(), []],
    [new Rows(), []],
    [new BaseHandler(), []],
  ] as const)
    expect(resultFormsOf(handler), handler.constructor.name).toEqual(forms);
});

const STATUSES: Readonly<Partial<Record<ErrorCode, readonly [number, string]>>> = {
  'invalid-input': [400, 'BadRequestException'],
  'image-decode': [400, 'BadRequestException'],
  timeout: [408, 'RequestTimeoutException'],
  'queue-full': [503, 'ServiceUnavailableException'],
  'worker-lost': [503, 'ServiceUnavailableException'],
  disposed: [503, 'ServiceUnavailableException'],
  'out-of-memory': [507, 'OutOfMemoryError'],
  'handler-failed': [500, 'InternalServerException'],
  'inference-failed': [500, 'InternalServerException'],
  'backend-wrong': [500, 'InternalServerException'],
};

test('errors of a client: TorchServe’s status and body', async () => {
  let code: ErrorCode = 'network';
  const { send } = await serve(() => {
    throw code === 'image-decode' ? new PredictionError(code, 'no image') : new TabServeError(code, 'it failed');
  });
  for (const [key, [status, type]] of Object.entries(STATUSES)) {
    code = key as ErrorCode;
    const response = await send('/predictions/digits', { method: 'POST', body: new Blob(['x']) });
    expect(response.headers.get('retry-after'), code).toBe(status === 503 ? '1' : null);
    expect(response.headers.get('cache-control')).toContain('no-store');
    const message = code === 'image-decode' ? 'no image' : 'it failed';
    expect(await told(response), code).toEqual([status, { code: status, type, message }]);
    const v2 = await send('/v2/models/digits/infer', { method: 'POST', body: '{"inputs":[]}' });
    expect(await told(v2), code).toEqual([status, { error: message }]);
  }
});

test('paths and methods that are not there', async () => {
  const { send } = await serve(() => 1);
  const failed = async (path: string, method = 'POST'): Promise<unknown> => {
    const response = await send(path, { method, ...(!['GET', 'HEAD'].includes(method) && { body: 'x' }) });
    const { code, type, message, error } = (await response.json()) as Record<string, unknown>;
    return [response.status, type ?? error, code === undefined ? undefined : message].filter(
      (one) => one !== undefined,
    );
  };
  const nothing = [404, 'ResourceNotFoundException', 'Requested resource is not found, please refer to API document.'];
  for (const path of ['/', '/predictions', '/nothing', '/models/digits/1.0/x'])
    expect(await failed(path, 'GET'), path).toEqual(nothing);
  expect(await failed('/predictions/digits', 'DELETE')).toEqual([
    405,
    'MethodNotAllowedException',
    'Requested method is not allowed, please refer to API document. Allowed: POST, PUT, GET, OPTIONS.',
  ]);
  expect(await failed('/predictions/%E0%A4%A')).toEqual([
    400,
    'BadRequestException',
    'The path /predictions/%E0%A4%A has a percent sign that encodes nothing.',
  ]);
  for (const name of ['cats', '__proto__', 'constructor', 'a%2Fb', '..%2f'])
    expect(await failed(`/predictions/${name}`), name).toEqual([
      404,
      'ModelNotFoundException',
      `Model not found: ${decodeURIComponent(name)}`,
    ]);
  expect(await failed('/predictions/digits/9.9')).toEqual([
    404,
    'ModelVersionNotFoundException',
    'Model version: 9.9 does not exist for model: digits',
  ]);
  expect(await failed('/v2/models/cats/infer')).toEqual([404, 'Model not found: cats']);
  expect(await failed('/v2/models/digits/versions/9/infer')).toEqual([
    404,
    'Model version: 9 does not exist for model: digits',
  ]);
  expect((await failed('/v2/nothing', 'GET')) as unknown[]).toContain(404);
  expect(await failed('/v1/models/digits:run')).toEqual([404, nothing[2]]);
  for (const [path, method] of [
    ['/models', 'POST'],
    ['/models/digits', 'DELETE'],
    ['/models/digits', 'PUT'],
    ['/models/digits/1.0/set-default', 'PUT'],
  ] as const)
    expect(((await failed(path, method)) as unknown[])[0], `${method} ${path} without management`).toBe(405);
  // RFC 9110, 15.5.6: an answer 405 says what is allowed.
  const allowed = async (path: string, method: string): Promise<unknown> => {
    const { status, headers } = await send(path, { method });
    return [status, headers.get('allow'), headers.get('retry-after')];
  };
  expect(await allowed('/predictions/digits', 'DELETE')).toEqual([405, 'POST, PUT, GET, OPTIONS', null]);
  expect(await allowed('/models', 'POST')).toEqual([405, 'GET', null]);
  expect(await allowed('/v2/models/digits/infer', 'GET')).toEqual([405, 'POST', null]);
  expect((await send('/predictions/digits/', { method: 'POST', body: new Blob(['x']) })).status).toBe(200);
});

test('an abort reaches the client, and a disposed server answers 503', async () => {
  const never = pending<unknown>();
  const { send, server, client } = await serve(() => never.promise, text);
  const aborter = new AbortController();
  const response = send('/predictions/digits', { method: 'POST', body: 'x', signal: aborter.signal });
  await expect.poll(() => client.asked.length).toBe(1);
  aborter.abort();
  expect((await response).status).toBe(499);
  expect(client.asked[0]!.options.signal?.aborted).toBe(true);
  await server.dispose();
  expect(client.disposed).toBe(false);
  expect(client.listeners).toBe(0);
  expect((await send('/ping')).status).toBe(503);
});

test('a timeout that no timer waits is refused: with it, each request would be late at once', async () => {
  for (const timeout of [Infinity, NaN, 0, 2 ** 31])
    expect(() => new ModelServer({ timeout })).toThrow(
      /^timeout: expected milliseconds above 0, and up to 2147483647, got /,
    );
  await expect(whenControlled({ timeout: Infinity })).rejects.toMatchObject({ code: 'invalid-input' });
});

test('options that are none, do not exist or have a wrong type are refused by their names', async () => {
  const server = (options: unknown) => async () => new ModelServer(options as object);
  const controlled = (options: unknown) => async () => whenControlled(options as object);
  const host = (of: unknown) => async () => hostModels(of as ModelServer);
  const cases: readonly (readonly [() => Promise<unknown>, string])[] = [
    [server(null), 'expected an object as options of ModelServer, got null.'],
    [server('load'), 'expected an object as options of ModelServer, got "load".'],
    [
      server({ timeOut: 5 }),
      'timeOut is not an option of ModelServer (load, maxRequestSize, maxResponseSize, timeout, management, onChange, clock).',
    ],
    [server({ load: '/models/' }), 'load: expected a function, got "/models/".'],
    [server({ maxRequestSize: '10' }), 'maxRequestSize: expected a number above 0, got "10".'],
    [server({ maxRequestSize: NaN }), 'maxRequestSize: expected a number above 0, got NaN.'],
    [server({ management: true }), 'management.allowsUrl: expected a function, got undefined.'],
    [server({ management: { allowsUrl: '/models/' } }), 'management.allowsUrl: expected a function, got "/models/".'],
    [controlled(null), 'expected an object as options of whenControlled, got null.'],
    [controlled({ timeOut: 5 }), 'timeOut is not an option of whenControlled (signal, timeout).'],
    [host(null), 'hostModels: expected a ModelServer, got null.'],
    [host({ fetch: true }), 'hostModels: expected a ModelServer, got {"fetch":true}.'],
  ];
  for (const [call, message] of cases)
    expect(await call().catch((error: TabServeError) => [error.code, error.message])).toEqual([
      'invalid-input',
      message,
    ]);
  expect(
    new ModelServer({ timeout: 5, maxRequestSize: 1, load: undefined, management: undefined } as object),
  ).toBeInstanceOf(ModelServer);
});

test('ping, metrics, OPTIONS', async () => {
  const { send, server, client } = await serve();
  expect(await told(await send('/ping'))).toEqual([200, { status: 'Healthy' }]);
  client.emit('fail');
  expect(await told(await send('/ping'))).toEqual([500, { status: 'Unhealthy' }]);
  expect(await told(await send('/v2/health/ready'))).toEqual([503, { ready: false }]);
  expect(await told(await send('/v2/health/live'))).toEqual([200, { live: true }]);
  expect((await send('/v2/models/digits/ready')).status).toBe(503);
  // Whoever looks at the health before sending a request sends none now: the app initializes the client again.
  client.emit('backendchange');
  expect(await told(await send('/ping'))).toEqual([200, { status: 'Healthy' }]);
  expect(await told(await send('/v2/models/digits/ready'))).toEqual([200, { name: 'digits', ready: true }]);

  client.prometheus =
    '# HELP T Time.\n# TYPE T summary\nT{ModelName="m",Level="Model",quantile="0.5"} 1\nT_count{ModelName="m",Level="Model"} 2\n# HELP ts_n N.\n# TYPE ts_n counter\nts_n{model_name="m",model_version="default",outcome="a}\\",b"} 3\n';
  const second = new FakeClient({ modelVersion: '2.0' });
  second.prometheus =
    '# HELP T Time.\n# TYPE T summary\nT_count{ModelName="m",Level="Model"} 5\n# HELP U Own.\n# TYPE U gauge\nU{ModelName="m"} 1\n';
  await server.register(second, { name: 'digits' });
  const all = await (await send('/metrics')).text();
  expect(all.split('\n')).toEqual([
    '# HELP T Time.',
    '# TYPE T summary',
    'T{ModelName="digits",ModelVersion="1.0",Level="Model",quantile="0.5"} 1',
    'T_count{ModelName="digits",ModelVersion="1.0",Level="Model"} 2',
    'T_count{ModelName="digits",ModelVersion="2.0",Level="Model"} 5',
    '# HELP ts_n N.',
    '# TYPE ts_n counter',
    'ts_n{model_name="digits",model_version="1.0",outcome="a}\\",b"} 3',
    '# HELP U Own.',
    '# TYPE U gauge',
    'U{ModelName="digits",ModelVersion="2.0"} 1',
    '# HELP Requests2XX Answers with a status of 200 to 299',
    '# TYPE Requests2XX counter',
    'Requests2XX{Level="Host"} 4',
    '# HELP Requests4XX Answers with a status of 400 to 499',
    '# TYPE Requests4XX counter',
    'Requests4XX{Level="Host"} 0',
    '# HELP Requests5XX Answers with a status of 500 to 599',
    '# TYPE Requests5XX counter',
    'Requests5XX{Level="Host"} 3',
    '',
  ]);
  expect(await (await send('/metrics?name[]=U')).text()).toBe(
    '# HELP U Own.\n# TYPE U gauge\nU{ModelName="digits",ModelVersion="2.0"} 1\n',
  );
  const options = await send('/predictions/digits', { method: 'OPTIONS' });
  expect((await options.json()) as object).toMatchObject({
    openapi: '3.0.1',
    paths: { '/predictions/digits': { post: { parameters: [{ name: 'params', in: 'query', required: false }] } } },
  });
});

test('KServe’s protocol v1: a batch of instances', async () => {
  const { send } = await serve(
    async ({ kind, input }) => (kind === 'handle' ? [...(input as unknown[])] : { why: await spelled(input) }),
    text,
  );
  const post = (path: string, body: unknown): Promise<Response> =>
    send(path, { method: 'POST', body: JSON.stringify(body) });
  expect(await told(await post('/v1/models/digits:predict', { instances: ['a', { data: 'b' }] }))).toEqual([
    200,
    { predictions: ['a', { data: 'b' }] },
  ]);
  expect(await told(await post('/v1/models/digits:explain', { instances: ['a'] }))).toEqual([
    200,
    { explanations: [{ why: 'a' }] },
  ]);
  for (const body of [{}, [], null, { instances: [] }, { instances: 'a' }])
    expect((await post('/v1/models/digits:predict', body)).status).toBe(400);
  const failing = await serve(() => [1, new PredictionError('invalid-input', 'row 1 is bad')], text);
  const response = await failing.send('/v1/models/digits:predict', { method: 'POST', body: '{"instances":[1,2]}' });
  expect(await told(response)).toEqual([400, { error: 'row 1 is bad' }]);
  expect(await told(await post('/v1/models/none:predict', { instances: ['a'] }))).toEqual([
    404,
    { error: 'Model not found: none' },
  ]);
});

test('the Open Inference Protocol: metadata, and tensors as JSON and as bytes', async () => {
  const outputs = {
    logits: { dtype: 'float32', dims: [1, 2], data: new Float32Array([0.5, 2]) },
    other: { dtype: 'int32', dims: [1], data: new Int32Array([3]) },
  };
  const { send, client } = await serve(() => outputs);
  expect(await told(await send('/v2'))).toEqual([
    200,
    { name: 'tabserve', version: expect.any(String), extensions: ['binary_tensor_data', 'model_repository'] },
  ]);
  const metadata = {
    name: 'digits',
    versions: ['1.0'],
    platform: 'onnx_onnxv1',
    inputs: [{ name: 'image', datatype: 'FP32', shape: [-1, 2] }],
    outputs: [{ name: 'logits', datatype: 'FP32', shape: [-1, 2] }],
  };
  expect(await told(await send('/v2/models/digits'))).toEqual([200, metadata]);
  expect(await told(await send('/v2/models/digits/versions/1.0'))).toEqual([200, metadata]);
  expect(await told(await send('/v2/models/digits/versions/1.0/ready'))).toEqual([
    200,
    { name: 'digits', ready: true },
  ]);
  const inputs = [{ name: 'image', shape: [1, 2], datatype: 'FP32', data: [1, 0.25] }];
  const infer = (body: unknown): Promise<Response> =>
    send('/v2/models/digits/versions/1.0/infer', { method: 'POST', body: JSON.stringify(body) });
  expect(await told(await infer({ id: 'one', inputs, outputs: [{ name: 'logits' }] }))).toEqual([
    200,
    {
      id: 'one',
      model_name: 'digits',
      model_version: '1.0',
      outputs: [{ name: 'logits', shape: [1, 2], datatype: 'FP32', data: [0.5, 2] }],
    },
  ]);
  expect(client.asked[0]!.input).toEqual({
    image: { dtype: 'float32', dims: [1, 2], data: new Float32Array([1, 0.25]) },
  });
  const binary = await infer({ inputs, outputs: [{ name: 'logits', parameters: { binary_data: true } }] });
  const length = Number(binary.headers.get('Inference-Header-Content-Length'));
  expect(binary.headers.get('content-type')).toBe('application/octet-stream');
  expect(new Float32Array((await binary.arrayBuffer()).slice(length))).toEqual(new Float32Array([0.5, 2]));
  expect(await told(await infer({ inputs, outputs: [{ name: 'nothing' }] }))).toEqual([
    400,
    { error: 'The model has no output "nothing"; its outputs are "logits", "other".' },
  ]);
  expect(((await told(await infer({ inputs: 'x' }))) as unknown[])[0]).toBe(400);
  expect((await send('/v2/models/digits/infer')).status).toBe(405);
});

test('streamed answers: parts as they come, an error before the first one as a response, and an end when nobody reads', async () => {
  const last = pending<unknown>();
  const { send, server, client } = await serve(() => last.promise, text, { stream: true });
  client.parts = ['one ', 'two '];
  const response = await send('/predictions/digits', { method: 'POST', body: 'x' });
  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  const reader = response.body!.getReader();
  const read = async (): Promise<string> => new TextDecoder().decode((await reader.read()).value);
  expect([await read(), await read()]).toEqual(['one ', 'two ']);
  expect((await server.describe('digits')).activeRequests).toBe(1);
  last.resolve('end');
  expect(await read()).toBe('end');
  expect((await reader.read()).done).toBe(true);
  expect((await server.describe('digits')).activeRequests).toBe(0);

  client.parts = [{ n: 1 }, { n: 2 }];
  const objects = await send('/predictions/digits', { method: 'POST', body: 'x' });
  expect(objects.headers.get('content-type')).toBe('application/x-ndjson');
  expect(await objects.text()).toBe('{"n":1}\n{"n":2}\n"end"\n');

  const left = await send('/predictions/digits', { method: 'POST', body: 'x' });
  await left.body!.cancel();
  expect((await server.describe('digits')).activeRequests).toBe(0);

  // The timeout counts from the last part: an answer that is still being written is not cut.
  const clock = new FakeClock();
  const slow = await serve(() => pending().promise, text, { stream: true, clock, timeout: 1000 });
  slow.client.parts = ['a', 'b', 'c'];
  const written = (await slow.send('/predictions/digits', { method: 'POST', body: 'x' })).body!.getReader();
  for (const part of ['a', 'b', 'c']) {
    expect(new TextDecoder().decode((await written.read()).value)).toBe(part);
    await clock.advance(900);
  }
  const late = written.read();
  late.catch(() => {});
  await clock.advance(1001);
  await expect(late).rejects.toThrow('within 1000 ms');
  expect((await slow.server.describe('digits')).activeRequests).toBe(0);

  const failing = await serve(
    () => {
      throw new TabServeError('queue-full', 'full');
    },
    text,
    { stream: true },
  );
  expect((await failing.send('/predictions/digits', { method: 'POST', body: 'x' })).status).toBe(503);
  failing.client.parts = ['one'];
  const broken = await failing.send('/predictions/digits', { method: 'POST', body: 'x' });
  expect(broken.status).toBe(200);
  await expect(broken.text()).rejects.toMatchObject({ code: 'queue-full' });
});

test('a body that is too large is refused before its end, which may never come', async () => {
  const { send } = await serve(echo, {}, { maxRequestSize: 100, timeout: 500 });
  const endless = new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(150)) });
  const response = await send('/predictions/digits', { method: 'POST', body: endless, duplex: 'half' } as RequestInit);
  expect(response.status).toBe(413);
});

test('each answer has an id: that of the request, or a new one', async () => {
  const { send } = await serve(echo, text);
  const idOf = async (path: string, id?: string): Promise<string | null> =>
    (await send(path, { ...(id !== undefined && { headers: { 'X-Request-Id': id } }) })).headers.get('x-request-id');
  for (const path of ['/ping', '/nothing', '/v2', '/v1/models']) {
    expect(await idOf(path, 'log-17'), path).toBe('log-17');
    const [first, second] = [await idOf(path), await idOf(path)];
    expect(first, path).toMatch(/^[\d-]+$/);
    expect(second, path).not.toBe(first);
  }
  // What would make an access log hard to read is no id.
  for (const id of ['two words', 'x'.repeat(201), '']) expect(await idOf('/ping', id), id).toMatch(/^[\d-]+$/);
});

test("TorchServe's older paths, and SageMaker's, are those of /predictions", async () => {
  const { server, send } = await serve(echo, text);
  const init = { method: 'POST', body: 'x', headers: { 'Content-Type': 'text/plain' } };
  // `handleInvocations`: the name may be missing where there is one model.
  for (const path of ['/digits/predict', '/models/digits/invoke', '/invocations?model_name=digits', '/invocations'])
    expect(await (await send(path, init)).text(), path).toBe('x');
  await server.register(new FakeClient({ modelName: 'cats' }));
  expect((await told(await send('/invocations', init))) as unknown[]).toEqual([
    400,
    { code: 400, type: 'BadRequestException', message: 'Parameter model_name is required.' },
  ]);
  for (const path of ['/none/predict', '/models/none/invoke', '/invocations?model_name=none', '/digits/predict/more'])
    expect((await send(path, init)).status, path).toBe(404);
});
