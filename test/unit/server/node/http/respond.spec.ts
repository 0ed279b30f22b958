import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import type { HttpRequest } from '../../../../../src/server/http/messages.ts';
import { BufferedBodies } from '../../../../../src/server/node/http/buffered-bodies.ts';
import { respond } from '../../../../../src/server/node/http/respond.ts';

/** What a server may do with a body that is larger than it wants. */
const ANSWERS: Readonly<Record<string, (request: HttpRequest) => Promise<Response>>> = {
  'leaves unread': async () => new Response('too large', { status: 413 }),
  'reads a part of, and cancels': async (request) => {
    const reader = request.body!.getReader();
    await reader.read();
    void new Promise((resolve) => setTimeout(resolve)).then(() => reader.cancel());
    return new Response('too large', { status: 413 });
  },
};

for (const [what, answer] of Object.entries(ANSWERS))
  test(`the rest of a body that the server ${what} is read to its end, and holds up nothing`, async () => {
    const seen: IncomingMessage[] = [];
    const server = createServer((incoming, outgoing) => {
      seen.push(incoming);
      void respond(incoming, outgoing, answer, { hosts: [], origins: [], bodies: new BufferedBodies() });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    // `fetch` goes away with the answer. This client sends its whole body.
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const size = 10_000_000;
    socket.write(`POST /predictions/digits HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(new Uint8Array(size));
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 [^]*too large$/);
    // It was not the limit of seconds that ended the reading.
    expect(seen.map(({ complete }) => complete)).toEqual([true]);
    server.closeAllConnections();
    server.close();
  });

// RFC 9112, 3.2.2: a server accepts a whole URL, whose host counts instead of the header's.
for (const [target, header, answer] of [
  ['http://127.0.0.1:8080/ping?a=1', '127.0.0.1:8080', '200 /ping?a=1'],
  ['HTTP://LocalHost/ping', 'localhost', '200 /ping'],
  ['http://[::1]:8080//ping', '[::1]:8080', '200 //ping'],
  ['http://127.0.0.1?a=1', '127.0.0.1', '200 /?a=1'],
  ['http://127.0.0.1', '127.0.0.1', '200 /'],
  ['http://127.0.0.1/ping', 'evil.example', '200 /ping'],
  ['http://allowed.example/ping', 'allowed.example', '200 /ping'],
  ['http://evil.example/ping', 'evil.example', '403'],
  ['http://evil.example/ping', '127.0.0.1', '403'],
  ['http://127.0.0.1@evil.example/ping', '127.0.0.1', '403'],
  ['http://127.0.0.1:80@evil.example/ping', '127.0.0.1', '403'],
  // Node itself refuses these two.
  ['http://127.0.0.1\\@evil.example/ping', '127.0.0.1', '400'],
  ['http://evil.example#127.0.0.1/ping', '127.0.0.1', '400'],
  ['http:///ping', '127.0.0.1', '403'],
  ['https://127.0.0.1/ping', '127.0.0.1', '400'],
  ['/http://127.0.0.1/ping', 'evil.example', '403'],
] as const)
  test(`the target ${target} with the host ${header} is answered with ${answer}`, async () => {
    const server = createServer((incoming, outgoing) => {
      const told = async ({ url }: HttpRequest): Promise<Response> => {
        const { pathname, search } = new URL(url);
        return new Response(pathname + search);
      };
      void respond(incoming, outgoing, told, { hosts: ['allowed.example'], origins: [], bodies: new BufferedBodies() });
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: ${header}\r\nConnection: close\r\n\r\n`);
    const [, status, path] = /^HTTP\/1\.1 (\d+) [^]*?(\/[/\w?=]*)?(?:\r\n0\r\n\r\n)?$/.exec(await text(socket)) ?? [];
    expect(status === '200' ? `200 ${path}` : status).toBe(answer);
    server.close();
  });

test('a body of 200,000 chunks of one byte comes in few pieces, whole', async () => {
  const count = 200_000;
  let pieces = 0;
  let sum = 0;
  const server = createServer((incoming, outgoing) => {
    const read = async ({ body }: HttpRequest): Promise<Response> => {
      for await (const piece of body!) {
        pieces += 1;
        for (const value of piece) sum += value;
      }
      return new Response('read');
    };
    void respond(incoming, outgoing, read, { hosts: [], origins: [], bodies: new BufferedBodies() });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  socket.write('POST /predictions/digits HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n');
  socket.write(`Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(count)}0\r\n\r\n`);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*read/);
  expect(sum).toBe(count * 'x'.charCodeAt(0));
  // Node reads 64 kB at once, which are 10,922 chunks of 6 bytes.
  expect(pieces).toBeLessThan(count / 100);
  server.close();
});

test('two Host headers are a bad request, whichever of them is allowed', async () => {
  const server = createServer((incoming, outgoing) => {
    void respond(incoming, outgoing, async () => new Response('told'), {
      hosts: [],
      origins: [],
      bodies: new BufferedBodies(),
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  for (const [first, second] of [
    ['127.0.0.1', 'evil.example'],
    ['evil.example', '127.0.0.1'],
    ['127.0.0.1', '127.0.0.1'],
  ]) {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(`GET /ping HTTP/1.1\r\nHost: ${first}\r\nHost: ${second}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [^]*more than one header Host/);
  }
  server.close();
});

test('what clients announce and do not send takes no room of the bodies that arrive', async () => {
  const bodies = new BufferedBodies(2 ** 20);
  const server = createServer((incoming, outgoing) => {
    const answer = async (request: HttpRequest): Promise<Response> =>
      new Response(`${(await request.arrayBuffer()).byteLength} read`);
    // Those that are cut off in the end cannot be read.
    respond(incoming, outgoing, answer, { hosts: [], origins: [], bodies }).catch(() => outgoing.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const begin = (size: number): ReturnType<typeof connect> => {
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Length: ${size}\r\n\r\n`);
    return socket;
  };
  const arrived = (count: number): Promise<void> =>
    new Promise((resolve) => {
      server.on('request', () => --count === 0 && resolve());
    });
  const first = arrived(1);
  const honest = begin(10);
  honest.write('12345');
  await first;
  const idle = arrived(8);
  const others = Array.from({ length: 8 }, () => begin(2 ** 18));
  await idle;
  honest.write('67890');
  expect(await text(honest)).toMatch(/^HTTP\/1\.1 200 [^]*10 read/);
  for (const socket of others) socket.destroy();
  server.closeAllConnections();
  server.close();
});

test('of the origins that the guard and a handler allow, the guard’s counts, and there is one', async () => {
  const origin = 'https://app.example';
  const own = { 'Access-Control-Allow-Origin': '*', 'Access-Control-Expose-Headers': 'X-Own', Vary: 'Accept' };
  const server = createServer((incoming, outgoing) => {
    const answer = async (): Promise<Response> => new Response('answered', { headers: own });
    void respond(incoming, outgoing, answer, { hosts: [], origins: [origin], bodies: new BufferedBodies() });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const ask = async (headers: Record<string, string>): Promise<readonly (string | null)[]> => {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/predictions/digits`, { headers });
    return ['access-control-allow-origin', 'access-control-expose-headers', 'vary'].map((name) =>
      response.headers.get(name),
    );
  };
  expect(await ask({ Origin: origin })).toEqual([origin, '*', 'Origin, Accept']);
  // A request of no page of another origin: whoever the handler names may not ask anyway.
  expect(await ask({})).toEqual(['*', 'X-Own', 'Accept']);
  server.closeAllConnections();
  server.close();
});
