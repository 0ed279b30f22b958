import { createServer, request, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { load, nodeListener } from '../../../../../src/node.ts';
import { ModelServer } from '../../../../../src/serving.ts';

/** test/node/readme.spec.ts runs the sample of docs/node.md. */

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Asks a listener for a path, with headers that `fetch` does not let one set. */
async function ask(
  listener: RequestListener,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<Answer> {
  const server = createServer(listener);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise((resolve, reject) => {
      const asked = request({ host: '127.0.0.1', port, path, headers }, (answer) => {
        let body = '';
        answer.setEncoding('utf8').on('data', (text: string) => (body += text));
        answer.once('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body }));
      });
      asked.once('error', reject);
      asked.end();
    });
  } finally {
    server.close();
  }
}

const known = { host: 'localhost' };

test('a listener answers as the model server does', async () => {
  await using models = new ModelServer({ load });
  const ping = await ask(nodeListener(models), '/ping', known);
  expect([ping.status, JSON.parse(ping.body)]).toEqual([200, { status: 'Healthy' }]);
  const missing = await ask(nodeListener(models), '/predictions/digits', known);
  expect([missing.status, JSON.parse(missing.body)]).toMatchObject([404, { type: 'ModelNotFoundException' }]);
});

test('a listener refuses unknown names and the pages of other origins, unless they are named', async () => {
  await using models = new ModelServer();
  const closed = nodeListener(models);
  const [named, page] = [{ host: 'models.example.com' }, { ...known, origin: 'https://example.com' }];
  const stranger = await ask(closed, '/ping', named);
  expect([stranger.status, stranger.body]).toEqual([403, expect.stringContaining('`hosts` of nodeListener')]);
  const foreign = await ask(closed, '/ping', page);
  expect([foreign.status, foreign.body]).toEqual([403, expect.stringContaining('`origins` of nodeListener')]);
  const open = nodeListener(models, { hosts: ['models.example.com'], origins: ['https://example.com'] });
  expect((await ask(open, '/ping', named)).status).toBe(200);
  const allowed = await ask(open, '/ping', page);
  expect([allowed.status, allowed.headers['access-control-allow-origin']]).toEqual([200, 'https://example.com']);
});
