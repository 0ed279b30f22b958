/** Requests that share a message, in the worker: `Host.handle` with a handler of the test's own, and the page's watchdog. */
import { expect, test } from '@playwright/test';
import type { Context, Handler } from '../../src/contract/handler.ts';
import type { HandleRequest, WorkerEvent } from '../../src/contract/wire.ts';
import { Watchdog } from '../../src/client/workers/watchdog.ts';
import { servingClass } from '../../src/worker/expose.ts';
import { Host } from '../../src/worker/host.ts';
import { FakeClock } from './fake-clock.ts';
import { archive } from './host-worker.ts';

type Behavior = (input: unknown, context: Context) => Promise<unknown>;

/** A host whose handler does `behave` with the row of each batch. */
async function openHost(behave: Behavior, emit: (event: WorkerEvent) => void = () => {}): Promise<Host> {
  class Behaving implements Handler {
    async initialize(): Promise<void> {}
    preprocess(): void {}
    inference(): void {}
    postprocess(): void {}
    async handle(data: readonly unknown[], context: Context): Promise<readonly unknown[]> {
      return await Promise.all(data.map((row) => behave(row, context)));
    }
  }
  const session = { inputs: [], outputs: [], run: async () => ({}), [Symbol.asyncDispose]: async () => {} };
  const engine = { version: '0', threads: 1, memory: () => 0, open: async () => session };
  const host = new Host({
    engines: { 'onnx/wasm': async () => engine },
    ...servingClass(Behaving),
    emit,
    sendPart() {},
  });
  const opened = await host.open({
    archive,
    candidate: 'onnx/wasm',
    handler: undefined,
    assets: undefined,
    download: {},
  });
  expect(opened).toMatchObject({ ok: true });
  return host;
}

const request = (id: string): HandleRequest => ({ id, request: 'predict', rows: [id], ids: [id], params: [{}] });

/** The outcome of each request: its answer, or the code of its failure. */
async function outcomes(handled: ReturnType<Host['handle']>): Promise<unknown[]> {
  return (await handled).map((envelope) => {
    if (!envelope.ok) return envelope.error;
    const [row] = envelope.value.rows;
    return row?.ok ? row.value : (envelope.value.failure as { code: string }).code;
  });
}

test('requests that have run, and wait for others of their message, are not taken for a worker that hangs', async () => {
  const clock = new FakeClock();
  const { now } = performance;
  performance.now = () => clock.now();
  try {
    const silent: number[] = [];
    const watchdog = new Watchdog(2, (seconds) => void silent.push(seconds), clock);
    const beat = (event: WorkerEvent): void => {
      if (event.type === 'heartbeat') watchdog.beat(event.id);
    };
    // 0.8 s each: the watchdog would allow each of them more than twice that.
    const host = await openHost(async (id) => (await clock.advance(800), id), beat);
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
    for (const id of ids) watchdog.watch(id);
    expect(await outcomes(host.handle(ids.map(request)))).toEqual(ids);
    expect(silent).toEqual([]);
    // One that hangs is noticed.
    await clock.advance(2000);
    expect(silent).toEqual([2]);
  } finally {
    performance.now = now;
  }
});

test('a request that waits for others of its message can be canceled: it does not run', async () => {
  const ran: unknown[] = [];
  const host = await openHost(async (id) => {
    ran.push(id);
    if (id === 'a') host.cancel('b');
    return id;
  });
  expect(await outcomes(host.handle(['a', 'b', 'c'].map(request)))).toEqual(['a', 'aborted', 'c']);
  expect(ran).toEqual(['a', 'c']);
});
