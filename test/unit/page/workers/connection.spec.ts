/** Page and worker from their first message on: `Connection` and `serve`, over a channel instead of a thread. */
import { mock } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@playwright/test';
import { expose } from 'comlink';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { PROTOCOL, type ConnectMessage, type HandleAnswer, type HandleRequest } from '../../../../src/contract/wire.ts';
import { Connection } from '../../../../src/page/workers/connection.ts';
import { markBuiltIn } from '../../../../src/page/workers/worker-factory.ts';
import { serve } from '../../../../src/worker/host/serve.ts';

/**
 * Makes a worker whose global scope is the other end of a channel.
 * @param received what the page sends to the worker itself
 */
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

test('a page that is being unloaded may be refused the lock that tells of the end of its worker: nothing is left unhandled', async () => {
  const before = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
  let refused = (): void => {};
  const asked = new Promise<void>((resolve) => (refused = resolve));
  let holder: string | undefined;
  const request = async (name: string, ...rest: unknown[]): Promise<void> => {
    if (holder === name) {
      refused();
      throw new DOMException('The document is not fully active.', 'InvalidStateError');
    }
    holder = name;
    await (rest.at(-1) as () => Promise<void>)();
  };
  const unhandled: unknown[] = [];
  const note = (reason: unknown): void => void unhandled.push(reason);
  Object.defineProperty(globalThis, 'navigator', { value: { locks: { request } }, configurable: true });
  process.on('unhandledRejection', note);
  try {
    const connection = await Connection.start(() => makeWorker([]), OPTIONS);
    await asked;
    await new Promise((resolve) => setTimeout(resolve));
    expect(await connection.call(({ ping }) => ping())).toBeUndefined();
    connection.close(new TabServeError('disposed', 'The test is over.'));
  } finally {
    process.off('unhandledRejection', note);
    Reflect.deleteProperty(globalThis, 'navigator');
    if (before) Object.defineProperty(globalThis, 'navigator', before);
  }
  expect(unhandled).toEqual([]);
});

test('an answer that is no envelope is the failure of a worker that is not ours', async () => {
  for (const answer of [undefined, null, [], 'text', 7, {}]) {
    const { port1, port2 } = new MessageChannel();
    expose({ ping: () => answer }, port2);
    port2.postMessage({ tabserve: 'ready', protocol: PROTOCOL });
    const worker = markBuiltIn(Object.assign(port1, { terminate: () => port1.close() }) as unknown as Worker);
    const connection = await Connection.start(() => worker, OPTIONS);
    await expect(connection.call(({ ping }) => ping())).rejects.toMatchObject({ code: 'worker-failed' });
    connection.close(new TabServeError('disposed', 'The test is over.'));
  }
});

test('a call whose connection is closed at once ends with it, and no error is left over', async () => {
  const connection = await Connection.start(() => makeWorker([]), OPTIONS);
  const outcome = connection.call(({ ping }) => ping());
  connection.close(new TabServeError('disposed', 'The client has been disposed of.'));
  await expect(outcome).rejects.toMatchObject({ code: 'disposed' });
  // An error that nobody catches fails the test.
  await new Promise((resolve) => setImmediate(resolve));
});

class FakeFrame {
  readonly timestamp = 0;
}

test.describe('a worker that has a frame', () => {
  test.beforeAll(() => Object.assign(globalThis, { VideoFrame: FakeFrame }));
  test.afterAll(() => Reflect.deleteProperty(globalThis, 'VideoFrame'));

  const frame = (): FakeFrame => new FakeFrame();

  /** Makes a worker that answers no request, and sends it one. @param rows the request's */
  async function ask(...rows: unknown[]) {
    const { port1, port2 } = new MessageChannel();
    const done: string[] = [];
    let close = (): void => {};
    const closed = new Promise((resolve) => (close = () => resolve({ ok: true })));
    let heard = (): void => {};
    const asked = new Promise<void>((resolve) => (heard = resolve));
    const closeImages = async (): Promise<unknown> => {
      done.push('asked to close');
      heard();
      return await closed;
    };
    expose({ handle: () => new Promise(() => {}), closeImages }, port2);
    port2.postMessage({ tabserve: 'ready', protocol: PROTOCOL });
    let ended = (): void => {};
    const end = new Promise<void>((resolve) => (ended = resolve));
    const terminate = (): void => {
      done.push('ended');
      port1.close();
      ended();
    };
    const worker = markBuiltIn(Object.assign(port1, { terminate }) as unknown as Worker);
    const connection = await Connection.start(() => worker, OPTIONS);
    const request = { id: '1', request: 'predict', ids: ['1'], params: [{}], rows } as unknown as HandleRequest;
    const outcome = connection.call<HandleAnswer>(({ handle }) => handle(request, []), '1').catch(({ code }) => code);
    return { connection, outcome, done, close, asked, end };
  }
  const disposed = new TabServeError('disposed', 'The client has been disposed of.');

  for (const [what, row] of [
    ['it alone', frame],
    ['beside another input', () => ({ image: frame(), points: [] })],
  ] as const)
    test(`${what}: it is ended after the frame, and its calls at once`, async () => {
      const { connection, outcome, done, close, asked, end } = await ask(row());
      connection.close(disposed);
      expect(await outcome).toBe('disposed');
      await asked;
      expect(done).toEqual(['asked to close']);
      close();
      await end;
      expect(done).toEqual(['asked to close', 'ended']);
    });

  test('it is ended after a second, whether it has closed the frame or not', async () => {
    const { connection, outcome, done, asked, end } = await ask(frame());
    mock.timers.enable({ apis: ['setTimeout'] });
    try {
      connection.close(disposed);
      await asked;
      mock.timers.tick(999);
      expect(done).toEqual(['asked to close']);
      mock.timers.tick(1);
      await end;
      expect(done).toEqual(['asked to close', 'ended']);
    } finally {
      mock.timers.reset();
    }
    await outcome;
  });

  test('it is ended at once if it is lost; and so is one that has no frame', async () => {
    const lost = await ask(frame());
    lost.connection.close(new TabServeError('worker-lost', 'It had no heartbeat.'));
    expect(lost.done).toEqual(['ended']);
    const other = await ask({ data: 'text' });
    other.connection.close(disposed);
    expect(other.done).toEqual(['ended']);
    await Promise.all([lost.outcome, other.outcome]);
  });
});

test('a worker that is ready and then shows no sign of life has ended: startupTimeout is for one that lives', async () => {
  const { port1, port2 } = new MessageChannel();
  const silent = Object.assign(port1, { terminate: () => port1.close() }) as unknown as Worker;
  port1.start();
  port2.postMessage({ tabserve: 'ready', protocol: PROTOCOL });
  const now = mock.method(performance, 'now', () => 0);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const connection = await Connection.start(() => silent, { ...OPTIONS, startupTimeout: 300 });
    const lost = connection.call(({ probe }) => probe(undefined, false, undefined));
    now.mock.mockImplementation(() => 5000);
    mock.timers.tick(5000);
    mock.timers.tick(1);
    await expect(lost).rejects.toMatchObject({ code: 'worker-lost', message: expect.stringContaining('for 5 s') });

    const living = await Connection.start(() => makeWorker([]), { ...OPTIONS, startupTimeout: 300 });
    await living.call(({ ping }) => ping());
    void living.call(({ describe }) => describe()).catch(() => {});
    expect(living.error).toBeUndefined();
    living.close(new TabServeError('disposed', 'The test is over.'));
  } finally {
    now.mock.restore();
    // The span of its start waits to be shown: no later one of this process would be, if it waited for ever.
    mock.timers.tick(1);
    mock.timers.reset();
  }
});

test("a worker is ended if code of the model's files does not end, and lives if it does", async () => {
  const begun = {
    type: 'step',
    step: { name: 'tokenizer.json: the pattern (a+)+b', remedy: 'Save it anew.' },
  } as const;
  const now = mock.method(performance, 'now', () => 0);
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    for (const ends of [true, false]) {
      const { port1, port2 } = new MessageChannel();
      const worker = Object.assign(port1, { terminate: () => port1.close() }) as unknown as Worker;
      port1.start();
      const connected = new Promise<MessagePort>((resolve) => {
        port2.onmessage = ({ data }: MessageEvent<ConnectMessage>) => resolve(data.events);
      });
      port2.postMessage({ tabserve: 'ready', protocol: PROTOCOL });
      const got: unknown[] = [];
      const onEvent = (event: unknown): void => void got.push(event);
      const connection = await Connection.start(() => worker, { ...OPTIONS, onEvent, startupTimeout: 300 });
      const events = await connected;
      for (const event of [{ type: 'unheld' }, begun, ...(ends ? [{ type: 'step' }] : []), { type: 'stored' }])
        events.postMessage(event);
      // The events arrive in their order.
      while (!got.some((event) => (event as { type: string }).type === 'stored')) await nextTurn();
      now.mock.mockImplementation(() => 4000);
      mock.timers.tick(3999);
      expect(connection.error).toBeUndefined();
      mock.timers.tick(2);
      if (ends) expect(connection.error).toBeUndefined();
      else
        expect(connection.error).toMatchObject({
          code: 'model-config',
          message: 'tokenizer.json: the pattern (a+)+b takes longer than 4 s, so the worker was ended. Save it anew.',
        });
      connection.close(new TabServeError('disposed', 'The test is over.'));
      now.mock.mockImplementation(() => 0);
    }
  } finally {
    now.mock.restore();
    mock.timers.reset();
  }
});
