// Bare sockets, because a client of HTTP hides what becomes of its connections.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import type { HttpRequest } from '../../../../../src/server/http/messages.ts';
import { serveHttp, type HttpServer } from '../../../../../src/server/node/http/serve-http.ts';

const listen = (answer: (request: HttpRequest) => Promise<Response>): Promise<HttpServer> =>
  serveHttp(answer, { host: '127.0.0.1', port: 0, timeout: 60_000, hosts: [], origins: [] });

async function open({ url }: HttpServer): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  return socket;
}

const ASK = 'GET /ping HTTP/1.1\r\nHost: 127.0.0.1\r\n';

test('the end of a server resets nobody: idle connections, a request under way, a new connection', async () => {
  let arrived = (): void => {};
  let answer = (): void => {};
  const isAsked = new Promise<void>((resolve) => (arrived = resolve));
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  const http = await listen(async (request) => {
    if (request.url.endsWith('/slow')) {
      arrived();
      await mayAnswer;
    }
    return new Response('answered');
  });
  const idle = await open(http);
  idle.write(`${ASK}\r\n`);
  expect(String(await once(idle, 'data'))).toMatch(/^HTTP\/1\.1 200[^]*connection: keep-alive/i);
  const slow = await open(http);
  slow.write('GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  await isAsked;
  const connecting = open(http);
  const closed = http.close();
  // Its next request, when the server has begun to end.
  idle.write(`${ASK}\r\n`);
  const fresh = await connecting;
  fresh.write(`${ASK}\r\n`);
  const last = /^HTTP\/1\.1 200[^]*connection: close[^]*answered/i;
  expect(await text(idle)).toMatch(last);
  expect(await text(fresh)).toMatch(last);
  answer();
  expect(await text(slow)).toMatch(last);
  await closed;
  await expect(open(http)).rejects.toThrow('ECONNREFUSED');
});

test('late answers are cut off only when none of them ends any more @full', async () => {
  test.setTimeout(60_000);
  const waiting: (() => void)[] = [];
  const http = await listen(async () => {
    await new Promise<void>((resolve) => waiting.push(resolve));
    return new Response('answered');
  });
  const sockets = await Promise.all(Array.from({ length: 4 }, () => open(http)));
  const answers = sockets.map((socket) => {
    socket.write(`${ASK}\r\n`);
    return text(socket).catch(({ code }: NodeJS.ErrnoException) => code);
  });
  await expect.poll(() => waiting.length).toBe(4);
  let closed!: Promise<void>;
  await new Promise<void>((resolve) => (closed = http.close(resolve)));
  // One ends in each span of two seconds, for longer than that in all; the last one never ends.
  for (const end of waiting.slice(0, 3)) {
    await wait(1500);
    end();
  }
  await closed;
  const found = await Promise.all(answers);
  expect(found.map((answer) => answer?.includes('answered'))).toEqual([true, true, true, false]);
});

test('a client that reads nothing of its answer is cut off; one that waits long for a part of it is not', async () => {
  let part = (): void => {};
  let cut = (): void => {};
  const isCut = new Promise<void>((resolve) => (cut = resolve));
  const http = await serveHttp(
    async ({ url, signal }) => {
      if (url.endsWith('/large')) {
        signal.addEventListener('abort', cut);
        return new Response(new Uint8Array(50_000_000));
      }
      const later = new Promise<void>((resolve) => (part = resolve));
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode('first '));
          await later;
          controller.enqueue(new TextEncoder().encode('second'));
          controller.close();
        },
      });
      return new Response(body);
    },
    { host: '127.0.0.1', port: 0, timeout: 200, hosts: [], origins: [] },
  );
  const slow = await open(http);
  slow.write(`${ASK}Connection: close\r\n\r\n`);
  const stalled = await open(http);
  stalled.on('error', () => {});
  stalled.pause();
  stalled.write('GET /large HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  let size = 0;
  stalled.on('data', (chunk: Buffer) => (size += chunk.length));
  stalled.pause();
  await isCut;
  part();
  expect(await text(slow)).toMatch(/first [^]*second/);
  // It learns of the end when it reads on.
  stalled.resume();
  await once(stalled, 'close');
  expect(size).toBeLessThan(50_000_000);
  await http.close();
});

test('a hundred requests may be sent ahead of their answers on a connection; it is closed if there are more', async () => {
  let asked = 0;
  const http = await listen(async () => new Response(`answer ${(asked += 1)}`));
  const ahead = async (count: number): Promise<number> => {
    const socket = await open(http);
    socket.on('error', () => {});
    const closed = new Promise((resolve) => socket.on('close', resolve));
    let answers = '';
    socket.on('data', (chunk: Buffer) => (answers += chunk.toString()));
    socket.write(`${`${ASK}\r\n`.repeat(count - 1)}${ASK}Connection: close\r\n\r\n`);
    await closed;
    return answers.split('HTTP/1.1 200').length - 1;
  };
  expect(await ahead(100)).toBe(100);
  expect(await ahead(5000)).toBeLessThan(5000);
  expect(asked).toBeLessThan(1000);
  await http.close();
});

test('1,500 connections at once: each is answered', async () => {
  const http = await listen(async () => new Response('answered'));
  const answers = await Promise.all(
    Array.from({ length: 1500 }, async () => {
      const socket = await open(http);
      socket.write(`${ASK}Connection: close\r\n\r\n`);
      return (await text(socket)).slice(0, 12);
    }),
  );
  expect(answers.filter((one) => one !== 'HTTP/1.1 200')).toEqual([]);
  await http.close();
});

test('a client that waits for 100 Continue is told to go on, and its body arrives', async () => {
  const http = await listen(
    async (request) => new Response(`got ${new TextDecoder().decode(await request.arrayBuffer())}`),
  );
  const socket = await open(http);
  socket.write(
    'POST /predictions/digits HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
  );
  expect(String(await once(socket, 'data'))).toBe('HTTP/1.1 100 Continue\r\n\r\n');
  socket.write('abc');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200[^]*got abc/);
  await http.close();
});

test('HEAD is answered without a body, and the connection goes on', async () => {
  const http = await listen(
    async ({ method }) => new Response('answered', { headers: { 'X-Method': method, 'Content-Length': '8' } }),
  );
  const socket = await open(http);
  socket.write(`${ASK.replace('GET', 'HEAD')}\r\n${ASK}Connection: close\r\n\r\n`);
  const [, head, get] = (await text(socket)).split('HTTP/1.1 200 OK\r\n');
  expect(head).toMatch(/^content-length: 8\r\n[^]*x-method: HEAD\r\n[^]*\r\n\r\n$/i);
  expect(get).toMatch(/x-method: GET\r\n[^]*answered$/i);
  await http.close();
});

for (const [size, how] of [
  [1000, 'small'],
  [10_000_000, 'large'],
] as const)
  test(`a client that goes away while it slowly sends a ${how} body: the request is aborted, and nothing is held`, async () => {
    let failure: unknown;
    let isAborted = false;
    const http = await listen(async (request) => {
      failure = await request.arrayBuffer().catch((error: unknown) => error);
      if (failure instanceof Error && !request.signal.aborted) await once(request.signal, 'abort');
      isAborted = request.signal.aborted;
      return new Response('answered');
    });
    const socket = await open(http);
    socket.write(`POST /predictions/digits HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${size}\r\n\r\nfirst`);
    // A body that has not come whole is no answer.
    const other = await fetch(`${http.url}/predictions/digits`, { method: 'POST', body: 'whole' });
    expect(await other.text()).toBe('answered');
    failure = undefined;
    socket.destroy();
    await expect.poll(() => failure).toBeInstanceOf(Error);
    await expect.poll(() => isAborted).toBe(true);
    await http.close();
  });

for (const [name, sent, status, words] of [
  ['HTTP/1.1 without Host', 'GET /ping HTTP/1.1\r\n\r\n', 400, 'no header Host'],
  ['a body of HTTP/1.0 without its length', 'POST /predictions/m HTTP/1.0\r\n\r\n\u0001\u0002', 400, 'Content-Length'],
  ['TLS', '\u0016\u0003\u0001\u0002', 400, 'reverse proxy'],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'HTTP/2'],
  ['a large header', `${ASK}X: ${'a'.repeat(20_000)}\r\n\r\n`, 431, '16 kB'],
] as const)
  test(`${name} is refused in words`, async () => {
    const http = await listen(async () => new Response('answered'));
    const socket = await open(http);
    socket.on('error', () => {});
    socket.end(sent);
    const [head, body] = (await text(socket)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    expect(head).toMatch(/^connection: close/im);
    expect(JSON.parse(body!)).toMatchObject({ code: status, message: expect.stringContaining(words) as unknown });
    await http.close();
  });

test('HTTP/1.0 without Host is answered', async () => {
  const http = await listen(async () => new Response('answered'));
  const socket = await open(http);
  socket.write('GET /ping HTTP/1.0\r\n\r\n');
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 [^]*answered$/);
  await http.close();
});

test('what cannot be read behind an answer that has begun ends the connection, and adds nothing to the answer', async () => {
  const http = await listen(
    async () =>
      new Response(
        new ReadableStream({
          start(controller) {
            // It has no end.
            controller.enqueue(new TextEncoder().encode('begun'));
          },
        }),
      ),
  );
  const socket = await open(http);
  socket.write(`${ASK}\r\n`);
  expect(String(await once(socket, 'data'))).toContain('200');
  socket.write('\u0001\u0002');
  expect(await text(socket)).not.toContain('cannot be read');
  await http.close();
});
