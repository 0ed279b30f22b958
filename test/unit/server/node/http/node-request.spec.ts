import * as zlib from 'node:zlib';
import { expect, test } from '@playwright/test';
import { toResponse } from '../../../../../src/server/http/messages.ts';
import { answerWith, ModelServer } from '../../../../../src/server/model-server.ts';
import { FakeClient } from '../../../support/fake-client.ts';
import { NodeRequest } from '../../../../../src/server/node/http/node-request.ts';

const { signal } = new AbortController();
const bytes = new TextEncoder().encode('abc').buffer;
const stream = (): ReadableStream<Uint8Array<ArrayBuffer>> => new Blob([bytes]).stream();

test('it says of a request what a Request says', () => {
  const headersDistinct = { accept: ['text/html', 'text/plain'], 'content-type': ['image/png'] };
  const own = new NodeRequest({ method: 'POST', headersDistinct }, '//a b/ä?c=d', signal, bytes);
  const headers = Object.entries(headersDistinct).flatMap(([name, values]) =>
    values.map((value): [string, string] => [name, value]),
  );
  const request = new Request('http://localhost//a b/ä?c=d', { method: 'POST', headers, body: bytes });
  expect(own.url).toBe(request.url);
  expect([...own.headers]).toEqual([...request.headers]);
});

for (const [what, body] of [
  ['whole', () => bytes],
  ['as a stream', stream],
] as const)
  test(`a body that is there ${what} can be read whole, and as a stream`, async () => {
    const make = (): NodeRequest => new NodeRequest({ headersDistinct: {} }, '/', signal, body());
    expect(await new Response(make().body).text()).toBe('abc');
    expect(await new Response(await make().arrayBuffer()).text()).toBe('abc');
  });

test('what no Request may be is none: other methods, a path that is none, headers that cannot be', () => {
  const make = (method: string, path: string, value: string) => () =>
    new NodeRequest({ method, headersDistinct: { a: [value] } }, path, signal, null);
  expect(make('GET', '/ping', 'b')).not.toThrow();
  for (const wrong of [make('TRACE', '/ping', 'b'), make('GET', '*', 'b'), make('GET', '/ping', 'ü\u{1f600}')])
    expect(wrong).toThrow(TypeError);
});

test('bodies by brotli, and by zstd where Node has it, are decoded within the limit', async () => {
  const server = new ModelServer({ maxRequestSize: 1000 });
  await server.register(new FakeClient({ handler: 'Own', takes: undefined }, ({ input }) => input));
  const post = async (body: Buffer, encoding: string): Promise<readonly [number, string]> => {
    const headersDistinct = { 'content-type': ['text/plain'], 'content-encoding': [encoding] };
    const request = new NodeRequest(
      { method: 'POST', headersDistinct },
      '/predictions/digits',
      signal,
      new Uint8Array(body).buffer,
    );
    const response = toResponse(await answerWith(server, request));
    return [
      response.status,
      response.status === 415 ? response.headers.get('accept-encoding')! : await response.text(),
    ];
  };
  expect(await post(zlib.brotliCompressSync('Grüße'), 'br')).toEqual([200, 'Grüße']);
  expect((await post(zlib.brotliCompressSync(Buffer.alloc(1_000_000)), 'br'))[0]).toBe(413);
  expect((await post(Buffer.from('no brotli'), 'br'))[0]).toBe(400);
  const { zstdCompressSync } = zlib as { readonly zstdCompressSync?: (text: string) => Buffer };
  if (zstdCompressSync) expect(await post(zstdCompressSync('Grüße'), 'zstd')).toEqual([200, 'Grüße']);
  else expect(await post(Buffer.from('x'), 'zstd')).toEqual([415, 'gzip, deflate, br']);
});

test('the stream that nobody reads is ended; one that is read is left to its reader', async () => {
  const reasons: string[] = [];
  const watched = (name: string): ReadableStream<Uint8Array<ArrayBuffer>> =>
    new ReadableStream({ cancel: () => void reasons.push(name) });
  await new NodeRequest({ headersDistinct: {} }, '/', signal, watched('unread')).end();
  const read = new NodeRequest({ headersDistinct: {} }, '/', signal, watched('read'));
  read.body!.getReader();
  await read.end();
  expect(reasons).toEqual(['unread']);
});
