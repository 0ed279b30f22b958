/** Page and worker from their first message on: `Connection` and `serve`, over a channel in place of a thread. */
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../src/contract/errors.ts';
import { Connection } from '../../src/client/workers/connection.ts';
import { markBuiltIn } from '../../src/client/workers/built-in.ts';
import { serve } from '../../src/worker/serve.ts';

/** Makes a worker whose global scope is the other end of a channel. @param received what the page sends to the worker itself */
function makeWorker(received: unknown[]): Worker {
  const { port1, port2 } = new MessageChannel();
  port2.addEventListener('message', ({ data }) => received.push(data));
  port1.start();
  serve({ engines: {}, handlerClass: () => Promise.reject(new Error('not asked for')) }, port2 as unknown as Worker);
  port2.start();
  return Object.assign(port1, { terminate: () => port1.close() }) as unknown as Worker;
}

const OPTIONS = { signal: undefined, startupTimeout: 10, onEvent: () => {} };

test("a worker of the app's own gets one message of the page itself: the calls go through a port", async () => {
  const received: unknown[] = [];
  const connection = await Connection.start(() => makeWorker(received), OPTIONS);
  await connection.call(({ ping }) => ping());
  expect(received).toEqual([expect.objectContaining({ tabserve: 'connect', calls: expect.any(MessagePort) })]);
  connection.close(new TabServeError('disposed', 'The test is over.'));
});

test('the calls of a built-in worker are its own messages, and so are its answers', async () => {
  const received: unknown[] = [];
  const connection = await Connection.start(() => markBuiltIn(makeWorker(received)), OPTIONS);
  await connection.call(({ ping }) => ping());
  expect(received).toEqual([
    expect.not.objectContaining({ calls: expect.anything() }),
    expect.objectContaining({ path: ['ping'] }),
  ]);
  await expect(connection.call(({ describe }) => describe())).rejects.toMatchObject({ code: 'not-initialized' });
  connection.close(new TabServeError('disposed', 'The test is over.'));
});
