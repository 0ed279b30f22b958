import { expect, test } from '@playwright/test';
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
