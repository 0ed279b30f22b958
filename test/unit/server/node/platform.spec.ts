import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { expect, test } from '@playwright/test';
import { fetchLocal } from '../../../../src/server/node/platform.ts';

test('a server that cannot be reached: why, and not only that the fetch has failed', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  await expect(fetchLocal(`http://127.0.0.1:${port}/`)).rejects.toThrow(
    `fetch failed: connect ECONNREFUSED 127.0.0.1:${port}`,
  );
});

test('an abort stays what it is', async () => {
  const aborted = fetchLocal('http://127.0.0.1/', { signal: AbortSignal.abort() });
  await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
});
