import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, test } from '@playwright/test';
import { relay } from '../../src/node/http/relay.ts';

/** What a server may do with a body that is larger than it wants. */
const ANSWERS: Readonly<Record<string, (request: Request) => Promise<Response>>> = {
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
      void relay(incoming, outgoing, answer, { hosts: [], origins: [] });
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
