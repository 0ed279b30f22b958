import { expect, test } from '@playwright/test';
import type { ErrorCode, TabServeError } from '../../../../src/contract/errors.ts';
import type { Envelope, HandleAnswer, HandleRequest, ChunkMessage } from '../../../../src/contract/wire.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import { settle } from '../../support/fake-clock.ts';
import { EchoWorker } from '../../support/fake-worker.ts';
import { GuestTab, HOST_TIMEOUT } from '../../../../src/page/sharing/guest-tab.ts';
import type { HostMessage, SharedAnswer } from '../../../../src/page/sharing/messages.ts';
import { ANSWER_MS, ServedGuest } from '../../../../src/page/sharing/served-guest.ts';
import { ShareWorld } from '../../support/share-world.ts';

/** A worker that answers its batches only while its gate is open. */
class GatedWorker extends EchoWorker {
  static isOpen = true;
  static waiting: (() => void)[] = [];
  /** The rows of each batch that reached a worker. */
  static batches: (readonly unknown[])[] = [];

  static reset(): void {
    this.isOpen = true;
    this.waiting = [];
    this.batches = [];
  }

  static open(): void {
    this.isOpen = true;
    for (const answer of this.waiting.splice(0)) answer();
  }

  protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
    const request = args[0] as HandleRequest | undefined;
    if (Array.isArray(request?.rows)) {
      GatedWorker.batches.push(request.rows);
      if (!GatedWorker.isOpen) await new Promise<void>((resolve) => GatedWorker.waiting.push(resolve));
    }
    return await method(...args);
  }
}

const gated = (): GatedWorker => new GatedWorker();

/** Opens tabs, the first of which becomes the host tab. */
async function open(
  world: ShareWorld,
  names: string,
  ...rest: Parameters<ShareWorld['tab']> extends [string, ...infer R] ? R : never
): Promise<Client[]> {
  const tabs = [...names].map((name) => world.tab(name, ...rest));
  for (const tab of tabs) await tab.initialize();
  return tabs;
}

function codeOf(work: Promise<unknown>): Promise<ErrorCode | 'answered'> {
  return work.then(
    () => 'answered' as const,
    (error: TabServeError) => error.code,
  );
}

/** Waits until a condition holds; messages of real ports need a few turns. */
async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !condition(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 1));
  expect(condition()).toBe(true);
}

/** Waits until this many requests are in the host tab's queue. */
async function pending(tab: Client, count: number): Promise<void> {
  const now = async (): Promise<number> => (await tab.describe()).jobQueueStatus.pendingRequests;
  for (let turn = 0; turn < 500 && (await now()) !== count; turn += 1)
    await new Promise((resolve) => setTimeout(resolve, 1));
  expect(await now()).toBe(count);
}

test.beforeEach(() => GatedWorker.reset());

test('tabs with the same options share one model; its requests are counted together, and each tab sees the backend', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abcde');
  expect(world.live).toBe(1);
  expect(await Promise.all(tabs.map((tab, index) => tab.predict(index)))).toEqual([0, 1, 2, 3, 4]);
  // The worker is the host tab's.
  expect(tabs.map(({ workerStatus }) => workerStatus.length)).toEqual([1, 0, 0, 0, 0]);
  const descriptions = await Promise.all(tabs.map((tab) => tab.describe()));
  expect(descriptions.map(({ sharing }) => sharing)).toEqual([
    { role: 'host', clients: 5 },
    ...Array.from({ length: 4 }, () => ({ role: 'guest', clients: 5 })),
  ]);
  for (const { backend, metrics, workers } of descriptions) {
    expect([backend.engine, backend.name, workers]).toEqual(['onnx', 'wasm', 1]);
    expect(metrics.counters['ts_inference_requests_total']).toMatchObject([{ labels: { outcome: 'ok' }, value: 5 }]);
  }
  for (const tab of tabs) await tab.dispose();
});

test('requests of several tabs run in one batch, by priority', async () => {
  const world = new ShareWorld();
  GatedWorker.isOpen = false;
  const tabs = await open(world, 'abc', { batchSize: 8 }, undefined, gated);
  const seen: { batchSize: number; queued: number }[] = [];
  tabs[1]!.on('response', (response) => seen.push(response));
  const first = tabs[0]!.predict('first');
  await until(() => GatedWorker.batches.length === 1);
  const later = [tabs[1]!.predict('low'), tabs[2]!.predict('high', { priority: 1 })];
  await pending(tabs[0]!, 2);
  later.push(tabs[0]!.predict('own'));
  GatedWorker.open();
  expect(await Promise.all([first, ...later])).toEqual(['first', 'low', 'high', 'own']);
  expect(GatedWorker.batches).toEqual([['first'], ['high', 'low', 'own']]);
  expect(seen).toMatchObject([{ rows: 1, batchSize: 3 }]);
  expect(await tabs[2]!.handle(['x', 'y'])).toEqual(['x', 'y']);
  expect(GatedWorker.batches.at(-1)).toEqual(['x', 'y']);
  for (const tab of tabs) await tab.dispose();
});

test('when the host tab ends under a hundred requests, another tab takes over and answers them all', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abcde', { jobQueueSize: 200 }, undefined, gated);
  const guests = tabs.slice(1);
  const recovered: string[] = [];
  for (const guest of guests) guest.on('recover', ({ cause }) => recovered.push(cause.code));
  GatedWorker.isOpen = false;
  const asked = Array.from({ length: 100 }, (_, index) => guests[index % 4]!.predict(index));
  await until(() => GatedWorker.batches.length === 2);
  world.close('a');
  GatedWorker.open();
  expect(await Promise.all(asked)).toEqual(Array.from({ length: 100 }, (_, index) => index));
  await until(() => recovered.length === 4);
  expect(recovered).toEqual(Array.from({ length: 4 }, () => 'worker-lost'));
  expect(world.live).toBe(1);
  expect((await guests[0]!.describe()).sharing).toEqual({ role: 'host', clients: 4 });
  for (const tab of guests) await tab.dispose();
});

test('a full queue of the shared model refuses requests, but none that an earlier host tab had accepted', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abc', { jobQueueSize: 2 }, undefined, gated);
  GatedWorker.isOpen = false;
  // Two are in the worker, and two in the queue.
  const asked = Array.from({ length: 4 }, (_, index) => tabs[1]!.predict(index));
  await until(() => GatedWorker.batches.length === 2);
  await pending(tabs[0]!, 2);
  expect(await codeOf(tabs[2]!.predict('one too many'))).toBe('queue-full');
  world.close('a');
  GatedWorker.open();
  expect(await Promise.all(asked)).toEqual([0, 1, 2, 3]);
  for (const tab of tabs.slice(1)) await tab.dispose();
});

test('a transferred input is lost with its host tab, which is a typed error that says to retry', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const gone = tabs[1]!.predict(new Float32Array(4), { transfer: true });
  const kept = tabs[1]!.predict(new Float32Array([1, 2]));
  await until(() => GatedWorker.batches.length === 2);
  world.close('a');
  GatedWorker.open();
  await expect(gone).rejects.toMatchObject({ code: 'worker-lost', retriable: true });
  expect(await kept).toEqual(new Float32Array([1, 2]));
  await tabs[1]!.dispose();
});

test('a request that ends three tabs is not sent to a fourth', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abcd', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const asked = codeOf(tabs[3]!.predict('bad'));
  for (const [index, name] of ['a', 'b', 'c'].entries()) {
    await until(() => GatedWorker.batches.length === index + 1);
    world.close(name);
    await world.clock.advance(0);
  }
  expect(await asked).toBe('worker-lost');
  await tabs[3]!.dispose();
});

test('the host tab’s client that is disposed of leaves the shared model to another tab, and nothing stays behind', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abc');
  await tabs[0]!.dispose();
  expect(await tabs[1]!.predict('next')).toBe('next');
  expect(await tabs[2]!.predict('next')).toBe('next');
  expect(world.live).toBe(1);
  expect(await codeOf(tabs[0]!.predict(1))).toBe('disposed');
  for (const tab of tabs.slice(1)) await tab.dispose();
  await until(() => world.live === 0 && world.channels.size === 0 && world.locks.names.length === 0);
  expect(world.locks.waiting).toBe(0);
  expect(world.clock.pending).toBe(0);
});

test('a client that is disposed of while it joins the share leaves nothing', async () => {
  const world = new ShareWorld();
  const environment = world.environment('a');
  const { locks } = environment;
  const request = ((...args: Parameters<typeof locks.request>) => {
    void tab.dispose();
    return locks.request(...args);
  }) as typeof locks.request;
  const tab = world.tab('a', {}, { ...environment, locks: { request } });
  expect(await codeOf(tab.initialize())).toBe('disposed');
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect([world.channels.size, world.locks.names.length, world.live]).toEqual([0, 0, 0]);
});

test('the host tab’s client that is disposed of first answers what it has accepted, for a second at most', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abc', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const transferred = tabs[1]!.predict(new Float32Array([1]), { transfer: true });
  const own = codeOf(tabs[0]!.predict('own'));
  await until(() => GatedWorker.batches.length === 2);
  const left = tabs[0]!.dispose();
  expect(await own).toBe('disposed');
  const late = tabs[2]!.predict('late');
  GatedWorker.open();
  expect(await transferred).toEqual(new Float32Array([1]));
  await left;
  // The next host answers it.
  expect(await late).toBe('late');

  GatedWorker.isOpen = false;
  const slow = tabs[2]!.predict('slow');
  await until(() => GatedWorker.batches.at(-1)?.[0] === 'slow');
  const closed = tabs[1]!.dispose();
  await world.clock.advance(1000);
  await closed;
  GatedWorker.open();
  expect(await slow).toBe('slow');
  await tabs[2]!.dispose();
});

test('the host tab’s client that is disposed of soon after an answer waits for a request that it has accepted since', async () => {
  const world = new ShareWorld();
  const [host, guest] = await open(world, 'ab', {}, undefined, gated);
  expect(await guest!.predict('before')).toBe('before');
  GatedWorker.isOpen = false;
  // Transferred: no other host could answer it.
  const accepted = guest!.predict(new Float32Array([1]), { transfer: true });
  await until(() => GatedWorker.batches.length === 2);
  let hasLeft = false;
  const left = host!.dispose().then(() => (hasLeft = true));
  // The first answer is certainly with the guest tab now.
  await new Promise((resolve) => setTimeout(resolve, ANSWER_MS));
  expect(hasLeft).toBe(false);
  GatedWorker.open();
  expect(await accepted).toEqual(new Float32Array([1]));
  await left;
  await guest!.dispose();
});

test('the host tab’s client that is disposed of just after an answer leaves when that has arrived', async () => {
  const world = new ShareWorld();
  const [host, guest] = await open(world, 'ab');
  // Its messages take longer than the locks.
  world.freeze('b');
  const answer = guest!.predict(new Float32Array([1]), { transfer: true });
  await until(() => world.frozen.get('b')!.length > 0);
  const left = host!.dispose();
  await settle();
  world.thaw('b');
  expect(await answer).toEqual(new Float32Array([1]));
  await left;
  await guest!.dispose();
});

test('a page in the back/forward cache is neither host nor candidate, and takes part again when it is shown', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'abc', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const asked = tabs[2]!.predict('waits');
  await until(() => GatedWorker.batches.length === 1);
  // The next in the queue leaves before the host tab does.
  world.hide('b');
  world.hide('a');
  await until(() => GatedWorker.batches.length === 2);
  GatedWorker.open();
  expect(await asked).toBe('waits');
  expect((await tabs[2]!.describe()).sharing).toEqual({ role: 'host', clients: 1 });
  expect(world.live).toBe(1);
  const late = tabs[0]!.predict('of a page that is away');
  for (const tab of ['a', 'b']) world.show(tab);
  expect(await late).toBe('of a page that is away');
  expect(await tabs[1]!.predict('back')).toBe('back');
  expect((await tabs[1]!.describe()).sharing).toEqual({ role: 'guest', clients: 3 });
  expect(world.live).toBe(1);
  // A client that is disposed of while its page is away leaves nothing.
  world.hide('a');
  const never = codeOf(tabs[0]!.predict('never'));
  await tabs[0]!.dispose();
  expect(await never).toBe('disposed');
  for (const tab of tabs.slice(1)) await tab.dispose();
  await until(() => world.live === 0 && world.locks.names.length === 0);
});

test('a host tab that answers nothing is replaced, and is a guest tab when it is back', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab', {}, undefined, gated);
  const former = tabs[0]!;
  world.freeze('a');
  const asked = tabs[1]!.predict('waits');
  await new Promise((resolve) => setTimeout(resolve, 20));
  await world.clock.advance(HOST_TIMEOUT * 1000 + 100);
  expect(await asked).toBe('waits');
  expect((await tabs[1]!.describe()).sharing).toMatchObject({ role: 'host' });
  world.thaw('a');
  expect(await former.predict('back')).toBe('back');
  expect((await former.describe()).sharing).toEqual({ role: 'guest', clients: 2 });
  expect(world.live).toBe(1);
  for (const tab of tabs) await tab.dispose();
});

test('tabs of other options, of another name or of another model do not share', async () => {
  const world = new ShareWorld();
  const tabs = [
    world.tab('a'),
    world.tab('b', { share: 'other' }),
    world.tab('c', { batchSize: 2 }),
    world.tab('d', { model: 'http://127.0.0.1/other.onnx' }),
    world.tab('e', { config: { handler: { topK: 3 } } }),
    world.tab('f', { share: false }),
    // The same, in another order.
    world.tab('g', { maxWorkers: 2, config: { handler: { topK: 3, scores: true } } }),
    world.tab('h', { config: { handler: { scores: true, topK: 3 } }, maxWorkers: 2 }),
  ];
  for (const tab of tabs) await tab.initialize();
  expect(world.live).toBe(7);
  for (const tab of tabs) await tab.dispose();
});

test('a page that cannot share opens its own model, and says why', async () => {
  const world = new ShareWorld();
  const refused = {
    ...world.environment('b'),
    locks: { request: () => Promise.reject(new DOMException('Access denied', 'SecurityError')) },
  };
  // Firefox, where the visitor has blocked cookies.
  const noChannel = {
    ...world.environment('c'),
    channel: () => {
      throw new DOMException('The operation is insecure.', 'SecurityError');
    },
  };
  const tabs = [
    world.tab('a', {}, 'this browser has no Web Locks.'),
    world.tab('b', {}, refused as never),
    world.tab('c', {}, noChannel as never),
  ];
  const warnings: string[] = [];
  for (const tab of tabs) tab.on('warn', ({ message }) => warnings.push(message));
  for (const tab of tabs) await tab.initialize();
  expect(warnings).toEqual([
    'share: this page opens its own model, which it does not share with other tabs: this browser has no Web Locks.',
    'share: this page opens its own model, which it does not share with other tabs: the browser refuses it: Access denied',
    'share: this page opens its own model, which it does not share with other tabs: the browser refuses it: The operation is insecure.',
  ]);
  expect(world.live).toBe(3);
  expect((await tabs[0]!.describe()).sharing).toEqual({ role: 'alone', reason: 'this browser has no Web Locks.' });
  for (const tab of tabs) await tab.dispose();
});

test('a browser that refuses a lock or a message later on: the error has a type, and says what to do', async () => {
  const world = new ShareWorld();
  const { locks } = world.environment('a');
  let requests = 0;
  const later = {
    ...world.environment('a'),
    locks: {
      request: (...args: Parameters<LockManager['request']>) =>
        requests++ === 0 ? locks.request(...args) : Promise.reject(new DOMException('No more locks.', 'SecurityError')),
    },
  };
  const tab = world.tab('a', {}, later as never);
  await expect(tab.initialize()).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/refuses .*: No more locks\. Connect without the option share\.$/),
  });
  await tab.dispose();
});

test('waiting for a lock that the browser never grants ends with the signal, and with dispose', async () => {
  const world = new ShareWorld();
  const silent = { ...world.environment('a'), locks: { request: () => new Promise(() => {}) } };
  const tab = world.tab('a', {}, silent as never);
  const abort = new AbortController();
  const aborted = tab.initialize({ signal: abort.signal });
  abort.abort();
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  const disposed = tab.initialize();
  await tab.dispose();
  await expect(disposed).rejects.toMatchObject({ code: 'disposed' });
});

test('the option is checked', async () => {
  const world = new ShareWorld();
  for (const [share, message] of [
    [true, /share: with the app's own worker/],
    ['', /share: expected true, false or a name, got ""/],
    [7, /share: expected true, false or a name, got 7/],
  ] as const) {
    const tab = world.tab('a', { share: share as never });
    const error = await tab.initialize().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'model-config', message: expect.stringMatching(message) as unknown });
    await tab.dispose();
  }
  const files = world.tab('a', { share: true, model: new File([], 'model.onnx') });
  await expect(files.initialize()).rejects.toMatchObject({ code: 'model-config' });
  await files.dispose();
});

test('aborts and timeouts of a guest tab reach the host tab', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const first = tabs[0]!.handle([1, 1]);
  const second = tabs[0]!.handle([2, 2]);
  await until(() => GatedWorker.batches.length === 2);
  const abort = new AbortController();
  const aborted = codeOf(tabs[1]!.predict(2, { signal: abort.signal }));
  const late = codeOf(tabs[1]!.predict(3, { timeout: 20 }));
  expect(await late).toBe('timeout');
  await pending(tabs[0]!, 1);
  abort.abort();
  expect(await aborted).toBe('aborted');
  await pending(tabs[0]!, 0);
  GatedWorker.open();
  expect(await Promise.all([first, second])).toEqual([
    [1, 1],
    [2, 2],
  ]);
  expect(GatedWorker.batches).toEqual([
    [1, 1],
    [2, 2],
  ]);
  for (const tab of tabs) await tab.dispose();
});

test('the requests of a tab that has ended are dropped', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab', {}, undefined, gated);
  GatedWorker.isOpen = false;
  const asked = [tabs[0]!.predict(1), tabs[0]!.predict(1)];
  await until(() => GatedWorker.batches.length === 2);
  tabs[1]!.predict(2).catch(() => {});
  tabs[1]!.predict(3).catch(() => {});
  await pending(tabs[0]!, 2);
  world.close('b');
  await pending(tabs[0]!, 0);
  expect((await tabs[0]!.describe()).sharing).toEqual({ role: 'host', clients: 1 });
  GatedWorker.open();
  expect(await Promise.all(asked)).toEqual([1, 1]);
  await tabs[0]!.dispose();
});

/**
 * Sends each chunk of the request when there is room, and then their number; the state of a sequence counts its
 * requests.
 */
class StreamingWorker extends EchoWorker {
  /** Whether another worker can go on behind a chunk. */
  readonly goesOn: boolean = false;
  #calls: MessagePort | undefined;
  #more = (): void => {};

  override postMessage(message: Parameters<EchoWorker['postMessage']>[0]): void {
    this.#calls = message.calls;
    super.postMessage(message);
  }

  protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
    const request = args[0] as HandleRequest | string | undefined;
    if (typeof request === 'string') return this.#more();
    if (request?.rows === undefined) return await method(...args);
    if (request.sequences) {
      const states = request.sequences.map((sequence) => ((sequence?.state?.value as number | undefined) ?? 0) + 1);
      const rows = states.map((value) => ({ ok: true, value }));
      return { ok: true, value: { rows, states, timings: {}, handlerTime: 1, memory: 2 } };
    }
    if (request.room === undefined) return await method(...args);
    let { room } = request;
    let wake = (): void => {};
    this.#more = () => {
      room += 1;
      wake();
    };
    const { resumed = 0 } = request as { readonly resumed?: number };
    for (let chunk = resumed; chunk < (request.rows[0] as number); chunk += 1) {
      if (room === 0) await new Promise<void>((resolve) => (wake = resolve));
      room -= 1;
      const resume = this.goesOn ? { resume: chunk + 1 } : {};
      this.#calls!.postMessage({ type: 'chunk', id: request.id, chunk, ...resume } satisfies ChunkMessage);
    }
    return { ok: true, value: { rows: [{ ok: true, value: 'end' }], timings: {}, handlerTime: 1, memory: 2 } };
  }
}

test('a guest tab’s streamed answer continues after its last part when the host tab is closed', async () => {
  class Lasting extends StreamingWorker {
    override readonly goesOn = true;
  }
  const world = new ShareWorld();
  const [, guest] = await open(world, 'ab', {}, undefined, () => new Lasting());
  const seen: unknown[] = [];
  for await (const chunk of guest!.stream(8)) {
    seen.push(chunk);
    if (chunk === 2) world.close('a');
  }
  expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 'end']);
  await guest!.dispose();
});

test('a guest tab’s streams and sequences continue in the host tab', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab', {}, undefined, () => new StreamingWorker());
  for (const tab of tabs) {
    const seen: unknown[] = [];
    for await (const chunk of tab.stream(5)) seen.push(chunk);
    expect(seen).toEqual([0, 1, 2, 3, 4, 'end']);
  }
  const sequence = tabs[1]!.openSequence();
  expect(await sequence.predict('x')).toBe(1);
  expect(await sequence.predict('x')).toBe(2);
  world.close('a');
  // The state is the tab's own: another host goes on with it.
  expect(await sequence.predict('x')).toBe(3);
  await tabs[1]!.dispose();
});

/** A worker whose handler says something of the answer over HTTP to each row that came over HTTP. */
class HttpWorker extends EchoWorker {
  protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
    const { http } = (args[0] ?? {}) as Partial<HandleRequest>;
    const answered = (await method(...args)) as Envelope<HandleAnswer>;
    if (!http || !answered.ok) return answered;
    return {
      ok: true,
      value: { ...answered.value, http: http.map((request) => request && { headers: request.headers }) },
    };
  }
}

test('what a handler says of an answer over HTTP reaches the tab of the request', async () => {
  const tabs = await open(new ShareWorld(), 'ab', {}, undefined, () => new HttpWorker());
  for (const tab of tabs) {
    const said: unknown[] = [];
    const http = {
      request: { headers: { a: 'b' }, path: '', query: '' },
      onAnswer: (answer: unknown) => void said.push(answer),
    };
    expect(await tab.predict('row', { http })).toBe('row');
    expect(said).toEqual([{ headers: { a: 'b' } }]);
    expect(await tab.predict('row')).toBe('row');
    await tab.dispose();
  }
});

test('a guest tab’s explanations and tensors go to the host tab; an explanation begins anew, once, when its host tab ends', async () => {
  const world = new ShareWorld();
  const asked: string[] = [];
  class Asked extends StreamingWorker {
    protected override async answer(method: (...args: never[]) => unknown, args: never[]): Promise<unknown> {
      const { request, rows } = (args[0] ?? {}) as Partial<HandleRequest>;
      if (rows) asked.push(request!);
      // The first explanation ends with its tab.
      if (request === 'explain' && asked.length === 1) return await new Promise(() => {});
      return await super.answer(method, args);
    }
  }
  const tabs = await open(world, 'abc', {}, undefined, () => new Asked());
  const seen: unknown[] = [];
  const explained = tabs[1]!.explain(3 as never, { onProgress: (progress: unknown) => void seen.push(progress) });
  await until(() => asked.length === 1);
  world.close('a');
  expect(await explained).toBe('end');
  expect(seen).toEqual([0, 1, 2]);
  const tensor = { dtype: 'float32', dims: [2], data: new Float32Array([1, 2]) } as const;
  for (const tab of tabs.slice(1)) expect(await tab.infer({ x: tensor })).toEqual({ x: tensor });
  expect(asked).toEqual(['explain', 'explain', 'infer', 'infer']);
  for (const tab of tabs.slice(1)) await tab.dispose();
});

test('a shared model that cannot be opened is an error in each tab, and the next attempt is free', async () => {
  const world = new ShareWorld();
  let isBroken = true;
  class Broken extends EchoWorker {
    protected override answer(method: (...args: never[]) => unknown, args: never[]): unknown {
      if (isBroken) return { ok: false, error: { name: 'TabServeError', code: 'model-format', message: 'Broken.' } };
      return method(...args);
    }
  }
  const tabs = ['a', 'b'].map((name) => world.tab(name, {}, undefined, () => new Broken()));
  expect(await Promise.all(tabs.map((tab) => codeOf(tab.initialize())))).toEqual(['model-format', 'model-format']);
  expect(world.locks.names).toEqual([]);
  isBroken = false;
  const abort = new AbortController();
  const aborted = codeOf(tabs[0]!.initialize({ signal: abort.signal }));
  abort.abort();
  expect(await aborted).toBe('aborted');
  await until(() => world.locks.names.length === 0);
  await Promise.all(tabs.map((tab) => tab.initialize()));
  expect(world.live).toBe(1);
  expect(await tabs[1]!.predict(1)).toBe(1);
  for (const tab of tabs) await tab.dispose();
});

test('what cannot go to another tab, and what the host tab refuses, is an error of that request alone', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab');
  for (const tab of tabs) {
    expect(await codeOf(tab.predict(() => {}))).toBe('not-cloneable');
    expect(await tab.predict('fine')).toBe('fine');
  }
  for (const tab of tabs) await tab.dispose();
});

test('a request that cannot be read in the host tab fails, and others are answered', async () => {
  const world = new ShareWorld();
  const tabs = await open(world, 'ab');
  world.isUnreadable = (message) => JSON.stringify(message).includes('a frame too large');
  expect(await codeOf(tabs[1]!.predict('a frame too large'))).toBe('worker-lost');
  expect(await Promise.all(tabs.map((tab, index) => tab.predict(index)))).toEqual([0, 1]);
  for (const tab of tabs) await tab.dispose();
});

/** Has the pictures of these classes for as long as a test runs. */
async function withFrames(VideoFrame: unknown, work: () => Promise<void>): Promise<void> {
  const page = globalThis as { VideoFrame?: unknown };
  page.VideoFrame = VideoFrame;
  try {
    await work();
  } finally {
    delete page.VideoFrame;
  }
}

test('an answer whose frame cannot be read in the host tab is told to the guest tab', async () => {
  /** A frame whose GPU was lost. */
  class LostFrame {
    allocationSize(): number {
      return 4;
    }
    copyTo(): Promise<never> {
      return Promise.reject(new DOMException('The frame is lost', 'OperationError'));
    }
    close(): void {}
  }
  await withFrames(LostFrame, async () => {
    const world = new ShareWorld();
    const answer = { rows: [{ ok: true, value: new LostFrame() }] } as unknown as SharedAnswer;
    const guest = new ServedGuest({
      channel: world.environment('a').channel('s/g'),
      host: 'h',
      answer: async () => answer,
      ask: async () => undefined,
    });
    const channel = world.environment('b').channel('s/g');
    const told = new Promise<unknown>((resolve) =>
      channel.addEventListener('message', ({ data }: MessageEvent<{ value: HostMessage }>) => resolve(data.value)),
    );
    channel.postMessage({ value: { type: 'request', id: 'r', request: { request: 'predict', rows: [1] } } });
    expect(await told).toEqual({ type: 'unreadable', host: 'h' });
    guest.close();
  });
});

test('an answer whose frame cannot be made in the guest tab ends the guest tab’s connection, with the reason', async () => {
  const VideoFrame = function (): never {
    throw new RangeError('Out of memory');
  };
  await withFrames(VideoFrame, async () => {
    const world = new ShareWorld();
    const options = {
      environment: world.environment('b'),
      name: 's',
      lobby: { postMessage() {} },
      onProgress: undefined,
      onEvent() {},
      onSilence() {},
    };
    const guest = new GuestTab(options);
    const [{ name }] = [...world.channels] as unknown as [{ readonly name: string }];
    const frames = [[new ArrayBuffer(0), { data: new ArrayBuffer(4), init: {} }]];
    world
      .environment('a')
      .channel(name)
      .postMessage({ value: { type: 'answer', id: '1' }, frames });
    await until(() => guest.ended.aborted);
    expect(guest.ended.reason).toMatchObject({
      code: 'worker-lost',
      message: expect.stringContaining('a message of the tab that runs the model could not be read'),
    });
  });
});
