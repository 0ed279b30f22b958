import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { Chunks } from '../../../../src/page/requests/chunks.ts';
import { CoreBudget } from '../../../../src/page/workers/budget.ts';
import { STABLE_MS } from '../../../../src/page/workers/pool.ts';
import { IDLE_MS, PAUSE_MS } from '../../../../src/page/workers/reconciler.ts';
import { settle, wasm, webgpu, World } from '../../support/pool-world.ts';

test('what each worker does is told, and one that is ended on demand is replaced; its requests run again', async () => {
  const world = new World({ maxWorkers: 1 });
  const worker = await world.start();
  const asked = world.ask();
  const [first] = world.pool.workerStatus;
  expect(first).toMatchObject({ number: 1, state: 'ready', backend: wasm, batches: 1, runs: 0, memory: undefined });
  worker.answer({ memory: 5_000_000 });
  await settle();
  expect(world.pool.workerStatus[0]).toMatchObject({ batches: 0, runs: 1, memory: 5_000_000 });

  const again = world.ask();
  first!.end!();
  expect(worker.error).toMatchObject({ code: 'worker-lost', message: 'The app has ended the worker.' });
  expect(world.pool.workerStatus).toEqual([
    { number: 2, state: 'opening', backend: undefined, batches: 0, runs: 0, memory: undefined, end: undefined },
  ]);
  const next = await world.opened();
  expect(world.pool.workerStatus).toMatchObject([{ number: 2, state: 'ready', batches: 1 }]);
  next.answer();
  await settle();
  expect([asked.outcome, again.outcome]).toEqual(['1', '2']);
  expect(world.recoveries).toMatchObject([{ replayed: 1, failed: 0 }]);
});

test.describe('dispatch', () => {
  test('a WASM worker takes one batch, and a second one only if it is full', async () => {
    const world = new World({ batchSize: 2 });
    const worker = await world.start();
    for (let i = 0; i < 5; i++) world.ask();
    expect(worker.batches).toEqual(['1', '2+3']);
    worker.answer();
    await settle();
    // Now one is there, and "4+5" is full.
    expect(worker.batches).toEqual(['2+3', '4+5']);
  });

  test('requests wait in the queue, not with a busy worker: another worker is opened for them', async () => {
    const world = new World({ maxWorkers: 2 });
    const worker = await world.start();
    world.ask();
    worker.answer({ handlerTime: 20 });
    await settle();
    for (let i = 0; i < 10; i++) {
      world.now += 100;
      world.ask();
    }
    expect(worker.batches).toHaveLength(2);
    expect(world.attempts).toHaveLength(1);
  });

  test('if one request of a batch cannot be cloned, the others run without it, also if it is aborted first', async () => {
    const world = new World({ batchSize: 2 });
    const worker = await world.start();
    const aborter = new AbortController();
    world.ask();
    worker.uncloneable.add('2');
    const [bad, good] = [world.ask({ signal: aborter.signal }), world.ask()];
    aborter.abort();
    await settle();
    expect(worker.batches).toEqual(['1', good.id]);
    worker.answer();
    worker.answer();
    await settle();
    expect([bad.outcome, good.outcome]).toEqual(['aborted', good.id]);
  });

  test('a GPU worker has two batches, full or not', async () => {
    const world = new World({ batchSize: 8 });
    const worker = await world.start(webgpu);
    const asked = [world.ask(), world.ask(), world.ask()];
    expect(worker.batches).toEqual(['1', '2']);
    worker.answer();
    await settle();
    expect(worker.batches).toEqual(['2', '3']);
    expect(asked.map(({ outcome }) => outcome)).toEqual(['1', undefined, undefined]);
  });

  test('a handler that works on more batches at once gets them as they come', async () => {
    const world = new World({ batchSize: 8 });
    const worker = await world.start(wasm, { batchesAtOnce: 4 });
    for (let i = 0; i < 5; i++) world.ask();
    expect(worker.batches).toEqual(['1', '2', '3', '4']);
    worker.answerOf(worker.requests[2]!);
    await settle();
    expect(worker.batches).toEqual(['1', '2', '4', '5']);
  });

  test('a batch that is not full waits for maxBatchDelay, counted from its oldest request', async () => {
    const world = new World({ batchSize: 3, maxBatchDelay: 100 });
    const worker = await world.start();
    world.ask();
    await world.pass(60);
    world.ask();
    await world.pass(39);
    expect(worker.batches).toEqual([]);
    await world.pass(1);
    expect(worker.batches).toEqual(['1+2']);
  });

  test('an exclusive request runs alone', async () => {
    const world = new World({ batchSize: 8 });
    const worker = await world.start();
    world.ask();
    world.ask();
    world.ask({ exclusive: true });
    world.ask();
    const seen: string[] = [];
    while (worker.batches.length > 0) {
      seen.push(worker.batches[0]!);
      worker.answer();
      await settle();
    }
    expect(seen).toEqual(['1', '2', '3', '4']);
  });

  for (const [name, backend] of [
    ['WASM', wasm],
    ['a GPU', webgpu],
  ] as const)
    test(`an explanation on ${name} takes no other request's place, and waits for another explanation`, async () => {
      const world = new World({ batchSize: 2 });
      const worker = await world.start(backend);
      for (let i = 0; i < 2; i++) world.ask({ request: 'explain' });
      world.ask();
      const beside = backend === wasm ? ['1', '3'] : ['1', '3', '4'];
      world.ask();
      expect(worker.batches).toEqual(beside);
      while (worker.batches.length > 1) {
        worker.answerOf(worker.requests[1]!);
        await settle();
      }
      expect(worker.batches).toEqual(['1']);
      worker.answer();
      await settle();
      expect(worker.batches).toEqual(['2']);
    });

  test('after a loss an explanation is replayed last, lets requests in, and fails with a second loss', async () => {
    const world = new World();
    const worker = await world.start();
    const explanation = world.ask({ request: 'explain' });
    const request = world.ask();
    expect(worker.batches).toEqual(['1', '2']);
    worker.die();
    await world.pass(0);
    const second = await world.opened();
    expect(second.batches).toEqual(['2']);
    second.answer();
    await settle();
    expect(request.outcome).toBe('2');
    expect(second.batches).toEqual(['1']);
    const later = world.ask();
    expect(second.batches).toEqual(['1', '3']);
    second.die();
    await world.pass(10_000);
    expect(explanation.outcome).toBe('worker-lost');
    const third = await world.opened();
    expect(third.batches).toEqual(['3']);
    third.answer();
    await settle();
    expect(later.outcome).toBe('3');
  });

  test('the parts of an explanation are progress: it is replayed although some were read', async () => {
    const world = new World();
    const worker = await world.start();
    const chunks = new Chunks({ restarts: true });
    const seen: unknown[] = [];
    chunks.onChunk = () => seen.push(chunks.take().chunk);
    const asked = world.ask({ request: 'explain', chunks });
    worker.sendChunk(worker.requests[0]!, 1);
    worker.die();
    await world.pass(0);
    const next = await world.opened();
    next.sendChunk(next.requests[0]!, 2);
    next.answer();
    await settle();
    expect(seen).toEqual([1, 2]);
    expect(asked.outcome).toBe('1');
  });

  test('an answer continues after its last chunk, however many workers are lost on the way', async () => {
    const world = new World();
    const chunks = new Chunks();
    const seen: unknown[] = [];
    const asked = world.ask({ chunks });
    let worker = await world.start();
    for (let lost = 0; lost < 4; lost++) {
      const [request] = worker.requests;
      expect(request!.resumed).toBe(lost === 0 ? undefined : `behind ${2 * lost - 1}`);
      // What nobody has read stays, and takes no room from the next worker.
      expect(request!.room).toBe(2);
      for (const part of [2 * lost, 2 * lost + 1]) worker.sendChunk(request!, part, `behind ${part}`);
      expect(worker.paused.has('1')).toBe(true);
      seen.push(chunks.take().chunk);
      worker.die();
      await world.pass(0);
      worker = await world.opened();
    }
    worker.answer();
    await settle();
    while (chunks.hasUnread) seen.push(chunks.take().chunk);
    expect(seen).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(asked.outcome).toBe('1');
  });

  test('an answer that does not get on is to blame for the second worker that it has lost', async () => {
    const world = new World();
    const chunks = new Chunks();
    const asked = world.ask({ chunks });
    const first = await world.start();
    first.sendChunk(first.requests[0]!, 1, 'behind 1');
    first.die();
    await world.pass(0);
    (await world.opened()).die();
    await world.pass(10_000);
    expect(asked.outcome).toBe('worker-lost');
  });

  test('an answer that cannot go on behind its last chunk fails once a chunk was read', async () => {
    const world = new World();
    const chunks = new Chunks();
    const asked = world.ask({ chunks });
    const worker = await world.start();
    worker.sendChunk(worker.requests[0]!, 1, 'behind 1');
    chunks.take();
    worker.sendChunk(worker.requests[0]!, 2);
    worker.die();
    await world.pass(0);
    expect(asked.outcome).toBe('worker-lost');
  });

  test('aborting a running request cancels it in the worker, and nothing more is sent for it', async () => {
    const world = new World();
    const worker = await world.start();
    const controller = new AbortController();
    const asked = world.ask({ signal: controller.signal });
    controller.abort();
    await settle();
    expect(asked.outcome).toBe('aborted');
    expect(worker.canceled).toEqual(['1']);
    worker.die();
    await settle();
    await world.pass(0);
    const next = await world.opened();
    expect(next.batches).toEqual([]);
  });
});

test.describe('growing and shrinking', () => {
  test('with minWorkers 3 and maxWorkers 3, three workers are opened one after the other, and no fourth', async () => {
    const world = new World({ minWorkers: 3, maxWorkers: 3 });
    await world.start();
    for (let i = 0; i < 9; i++) world.ask();
    expect(world.attempts.map(({ only }) => only?.name)).toEqual(['wasm']);
    await world.opened();
    expect(world.attempts).toHaveLength(1);
    await world.opened();
    expect(world.attempts).toHaveLength(0);
    expect(world.pool.workers).toBe(3);
    for (const worker of world.workers) worker.answer();
    await settle();
    await world.pass(10 * IDLE_MS);
    expect(world.attempts).toHaveLength(0);
    expect(world.pool.workers).toBe(3);
  });

  test('a worker is added while requests wait for one, up to maxWorkers, and ended after it was idle', async () => {
    const world = new World({ maxWorkers: 2 });
    const first = await world.start();
    world.ask();
    expect(world.attempts).toHaveLength(0);
    // One more fills the worker (batches of 1 are full), the next waits.
    world.ask();
    world.ask();
    expect(world.attempts).toHaveLength(1);
    const second = await world.opened();
    expect(second.batches).toEqual(['3']);
    for (let i = 0; i < 5; i++) world.ask();
    expect(world.attempts).toHaveLength(0);
    while (first.batches.length + second.batches.length > 0) {
      for (const worker of [first, second]) if (worker.batches.length > 0) worker.answer();
      await settle();
    }
    await world.pass(IDLE_MS - 1);
    expect(world.pool.workers).toBe(2);
    await world.pass(1);
    expect(world.pool.workers).toBe(1);
    expect(world.workers.filter(({ error }) => error?.code === 'disposed')).toHaveLength(1);
    expect(world.timers).toBe(0);
  });

  test('a GPU has one worker, whatever is asked for', async () => {
    const world = new World({ minWorkers: 4, maxWorkers: 4 });
    await world.start(webgpu);
    for (let i = 0; i < 9; i++) world.ask();
    await world.pass(PAUSE_MS);
    expect(world.attempts).toHaveLength(0);
  });

  test('all clients of a page share its cores; each still gets its first worker', async () => {
    const cores = new CoreBudget(2);
    const one = new World({ cores, minWorkers: 2, maxWorkers: 2 });
    const other = new World({ cores, minWorkers: 2, maxWorkers: 2 });
    await one.start();
    await other.start();
    expect([one.attempts.length, other.attempts.length]).toEqual([1, 0]);
    await one.opened();
    await other.pass(PAUSE_MS);
    expect(other.attempts).toHaveLength(0);
    one.pool.close(new TabServeError('disposed', 'over'));
    await other.pass(PAUSE_MS);
    expect(other.attempts).toHaveLength(1);
  });

  test('an attempt to add a worker that fails is repeated after a pause', async () => {
    const world = new World({ minWorkers: 2, maxWorkers: 2, cores: 2 });
    await world.start();
    await world.notOpened();
    expect(world.attempts).toHaveLength(0);
    await world.pass(PAUSE_MS - 1);
    expect(world.attempts).toHaveLength(0);
    await world.pass(1);
    // The cores of the first attempt were released.
    expect(world.attempts).toHaveLength(1);
  });
});

test.describe('recycling', () => {
  test('a worker is replaced after maxRuns: the next one is opened first, then the old one drains', async () => {
    const world = new World({ maxRuns: 2 });
    const old = await world.start(webgpu);
    for (let run = 0; run < 2; run++) {
      world.ask();
      old.answer();
      await settle();
    }
    expect(world.attempts.map(({ only }) => only?.name)).toEqual(['webgpu']);
    const running = world.ask();
    expect(old.batches).toEqual(['3']);
    const next = await world.opened(webgpu);
    world.ask();
    expect(next.batches).toEqual(['4']);
    expect(old.error).toBeUndefined();
    old.answer();
    await settle();
    expect(running.outcome).toBe('3');
    expect(old.error?.code).toBe('disposed');
    expect(world.recoveries).toEqual([]);
    expect(world.pool.workers).toBe(1);
  });

  test('a worker is replaced when its memory has grown beyond maxMemory, but not if it needed that much from the start', async () => {
    for (const [first, attempts] of [
      [50, 1],
      [150, 0],
    ] as const) {
      const world = new World({ maxMemory: 100 });
      const worker = await world.start();
      for (const memory of [first, 150]) {
        world.ask();
        worker.answer({ memory });
        await settle();
      }
      expect(world.attempts).toHaveLength(attempts);
    }
  });

  test('a drained worker that is lost loses no request, and no backend is blamed', async () => {
    const world = new World({ maxRuns: 1 });
    const old = await world.start();
    world.ask();
    old.answer();
    await settle();
    const asked = world.ask();
    const next = await world.opened();
    old.die();
    await settle();
    expect(next.batches).toEqual(['2']);
    next.answer();
    await settle();
    expect(asked.outcome).toBe('2');
    expect(world.backends).toEqual(['wasm']);
  });
});

test.describe('recycling under load', () => {
  /** Answers a batch in each worker, and opens whatever is asked for. */
  async function round(world: World, asks: number): Promise<void> {
    for (let ask = 0; ask < asks; ask++) world.ask();
    if (world.attempts.length > 0) await world.opened();
    for (const worker of world.workers) if (!worker.error && worker.batches.length > 0) worker.answer();
    await settle();
  }

  const alive = (world: World): number => world.workers.filter(({ error }) => !error).length;

  test('there is one worker more than cores while one is replaced, and never a second', async () => {
    const world = new World({ maxWorkers: 6, maxRuns: 2, cores: 2, jobQueueSize: 10_000 });
    await world.start();
    for (let turn = 0; turn < 60; turn++) {
      await round(world, 6);
      expect(world.pool.workers).toBeLessThanOrEqual(3);
    }
  });

  test('a worn worker is retired as soon as its replacement is ready, though requests wait', async () => {
    const world = new World({ maxWorkers: 4, maxRuns: 2, cores: 8, jobQueueSize: 10_000 });
    const first = await world.start();
    for (let turn = 0; turn < 10; turn++) await round(world, 4);
    expect(first.error?.code).toBe('disposed');
  });

  test('each worn worker is replaced, one after the other', async () => {
    const world = new World({ minWorkers: 3, maxWorkers: 3, maxRuns: 1 });
    await world.start();
    await world.opened();
    await world.opened();
    const worn = [...world.workers];
    for (let ask = 0; ask < 3; ask++) world.ask();
    for (const worker of worn) worker.answer();
    await settle();
    for (let replaced = 1; replaced <= 3; replaced++) {
      await world.opened();
      expect(worn.filter(({ error }) => error)).toHaveLength(replaced);
    }
    expect([alive(world), world.pool.workers, world.attempts.length]).toEqual([3, 3, 0]);
  });

  test('the last ready worker is not retired while another one opens', async () => {
    const world = new World({ maxWorkers: 2, maxRetryTimeoutInSec: 0 });
    const worker = await world.start();
    for (let ask = 0; ask < 3; ask++) world.ask();
    while (worker.batches.length > 0) {
      worker.answer();
      await settle();
    }
    expect(world.attempts).toHaveLength(1);
    await world.pass(10 * IDLE_MS);
    expect(world.pool.workers).toBe(1);
    await world.notOpened();
    const asked = world.ask();
    worker.answer();
    await settle();
    expect(asked.outcome).toBe('4');
    expect(world.failures).toEqual([]);
  });
});

test.describe('healing', () => {
  test('the requests of a lost worker are replayed first, each one alone', async () => {
    const world = new World({ batchSize: 2 });
    const first = await world.start();
    const asked = [world.ask(), world.ask(), world.ask(), world.ask()];
    expect(first.batches).toEqual(['1', '2+3']);
    await world.pass(500);
    first.die();
    await settle();
    expect(world.attempts).toMatchObject([{ first: { name: 'wasm' }, demoted: [] }]);
    const second = await world.opened();
    const order: string[][] = [];
    while (second.batches.length > 0) {
      order.push([...second.batches]);
      await world.pass(10);
      second.answer();
      await settle();
    }
    expect(order).toEqual([['1'], ['2'], ['3'], ['4']]);
    expect(asked.map(({ outcome }) => outcome)).toEqual(['1', '2', '3', '4']);
    expect(world.recoveries).toMatchObject([{ replayed: 3, failed: 0, took: 30, backend: { name: 'wasm' } }]);
  });

  test('a request that ends its worker alone fails for itself, and no backend is blamed', async () => {
    const world = new World();
    (await world.start(webgpu)).die();
    await world.pass(0);
    const poison = world.ask();
    for (let loss = 0; loss < 2; loss++) {
      const worker = await world.opened(webgpu);
      expect(worker.batches).toEqual(['1']);
      worker.die();
      await settle();
      await world.pass(1000);
    }
    expect(poison.error).toMatchObject({
      code: 'worker-lost',
      message: expect.stringContaining('ran this request and no other'),
    });
    // Two losses count, the lone replay's does not: a second in a row, of the first one and of the poison's first.
    expect(world.attempts[0]!.demoted.map(({ name }) => name)).toEqual(['webgpu']);
  });

  test('a request that was alone in a worker that ran out of time is not replayed; one that shared it is, once', async () => {
    const world = new World();
    const first = await world.start(webgpu);
    const slow = world.ask();
    await world.pass(120_000);
    first.hang();
    await settle();
    expect(slow.error).toMatchObject({
      code: 'worker-lost',
      message:
        'it hung It ran this request and no other, so the request is not replayed. If it needs more time, raise responseTimeout.',
    });
    const second = await world.opened(webgpu);
    expect(second.batches).toEqual([]);
    expect(world.recoveries).toMatchObject([{ replayed: 0, failed: 1 }]);
    const shared = [world.ask(), world.ask()];
    expect(second.batches).toEqual(['2', '3']);
    second.hang();
    await settle();
    await world.pass(1000);
    const third = await world.opened(webgpu);
    expect(third.batches).toEqual(['2']);
    third.hang();
    await settle();
    await world.pass(1000);
    const fourth = await world.opened(webgpu);
    expect(fourth.batches).toEqual(['3']);
    fourth.answer();
    await settle();
    expect(shared.map(({ outcome }) => outcome)).toEqual(['worker-lost', '3']);
  });

  test("a request that the model's files kept from ending is not replayed when it was alone; others are", async () => {
    const world = new World();
    const first = await world.start(webgpu);
    const endless = new TabServeError('model-config', 'The pattern takes longer than 4 s.');
    const alone = world.ask();
    await world.pass(4000);
    first.close(endless);
    await settle();
    expect(alone.error).toBe(endless);
    const second = await world.opened(webgpu);
    const shared = [world.ask(), world.ask()];
    second.close(endless);
    await settle();
    await world.pass(1000);
    const third = await world.opened(webgpu);
    expect(third.batches).toEqual(['2']);
    third.close(endless);
    await settle();
    await world.pass(1000);
    const fourth = await world.opened(webgpu);
    fourth.answer();
    await settle();
    expect(shared.map(({ outcome }) => outcome)).toEqual(['model-config', '3']);
  });

  test("requests that the model's files keep from ending, one after the other, cost neither the backend nor the client", async () => {
    const world = new World();
    let worker = await world.start(webgpu);
    // Longer than the client tries to heal.
    for (let at = 0; at < 100; at++) {
      const request = world.ask();
      await world.pass(4000);
      worker.close(new TabServeError('model-config', 'The pattern takes longer than 4 s.'));
      await settle();
      expect(request.outcome).toBe('model-config');
      expect(world.attempts[0]!.demoted).toEqual([]);
      worker = await world.opened(webgpu);
    }
    const good = world.ask();
    worker.answer();
    await settle();
    expect(good.outcome).toBe('101');
  });

  test('a request that shared its first lost worker is replayed twice: the loss of the first replay may be another fault', async () => {
    const world = new World({ batchSize: 2 });
    const first = await world.start(webgpu);
    const [plain, poison] = [world.ask(), world.ask()];
    expect(first.batches).toEqual(['1', '2']);
    first.die();
    await settle();
    const second = await world.opened(webgpu);
    second.answer();
    await settle();
    expect(second.batches).toEqual(['2']);
    second.die();
    await settle();
    const third = await world.opened(webgpu);
    expect(third.batches).toEqual(['2']);
    third.die();
    await settle();
    expect(plain.outcome).toBe('1');
    expect(poison.error).toMatchObject({
      code: 'worker-lost',
      message: expect.stringContaining('ran this request and no other'),
    });
    await world.pass(1000);
    expect(world.attempts[0]!.demoted).toEqual([]);
  });

  test('an aborted request that still runs shares the worker: the other is not to blame', async () => {
    const world = new World({ batchSize: 2 });
    const first = await world.start(webgpu);
    const abort = new AbortController();
    const [aborted, plain] = [world.ask({ signal: abort.signal }), world.ask()];
    expect(first.batches).toEqual(['1', '2']);
    abort.abort();
    first.die();
    await settle();
    (await world.opened(webgpu)).die();
    await settle();
    await world.pass(1000);
    (await world.opened(webgpu)).answer();
    await settle();
    expect([aborted.outcome, plain.outcome]).toEqual(['aborted', '2']);
  });

  test('the lone replay that ends its worker is not counted against the backend', async () => {
    const world = new World();
    const first = await world.start(webgpu);
    const poison = world.ask();
    first.die();
    await settle();
    (await world.opened(webgpu)).die();
    await settle();
    await world.pass(1000);
    expect(poison.outcome).toBe('worker-lost');
    expect(world.attempts[0]!.demoted).toEqual([]);
  });

  test('a request whose input was transferred is rejected with a retriable error', async () => {
    const world = new World();
    const worker = await world.start();
    const gone = world.ask({ replayable: false });
    worker.die();
    await settle();
    expect(gone.error).toMatchObject({ code: 'worker-lost', retriable: true });
    await world.opened();
    expect(world.recoveries).toMatchObject([{ replayed: 0, failed: 1 }]);
  });

  test('a backend that is lost twice in a row is demoted; an answer in between clears it', async () => {
    const world = new World();
    let worker = await world.start(webgpu);
    for (const answered of [false, true, false]) {
      if (answered) {
        world.ask();
        worker.answer();
        await settle();
      }
      worker.die();
      await settle();
      await world.pass(1000);
      expect(world.attempts[0]!.demoted).toEqual([]);
      if (answered) break;
      worker = await world.opened(webgpu);
    }
    worker = await world.opened(webgpu);
    worker.die('device-lost', 'the GPU went away');
    await settle();
    await world.pass(1000);
    expect(world.attempts[0]).toMatchObject({
      first: { name: 'webgpu' },
      demoted: [{ name: 'webgpu', reason: expect.stringContaining('the GPU went away') }],
    });
    await world.opened(wasm);
    expect(world.backends).toEqual(['webgpu', 'wasm']);
  });

  test('losses are counted for each backend', async () => {
    const world = new World();
    (await world.start(webgpu)).die();
    await settle();
    (await world.opened(wasm)).die();
    await settle();
    await world.pass(1000);
    expect(world.attempts[0]!.demoted).toEqual([]);
  });

  test('an aborted replay ends the recovery that waits for it', async () => {
    const world = new World({ batchSize: 2 });
    const first = await world.start(webgpu);
    const controller = new AbortController();
    world.ask();
    world.ask({ signal: controller.signal });
    first.die();
    await settle();
    const second = await world.opened(webgpu);
    expect(second.batches).toEqual(['1']);
    second.answer();
    await settle();
    expect(second.batches).toEqual(['2']);
    controller.abort();
    second.answer();
    await settle();
    expect(world.recoveries).toHaveLength(1);
  });

  test('losses that are a minute apart have nothing to do with one another', async () => {
    const world = new World();
    for (let loss = 0; loss < 4; loss++) {
      const worker = loss === 0 ? await world.start(webgpu) : await world.opened(webgpu);
      await world.pass(STABLE_MS + 1);
      worker.die();
      await settle();
      // At once: no attempt has failed.
      expect(world.attempts).toHaveLength(1);
      expect(world.attempts[0]!.demoted).toEqual([]);
    }
  });

  test('attempts follow TorchServe’s delays, until maxRetryTimeoutInSec has passed', async () => {
    const world = new World({ maxRetryTimeoutInSec: 5 });
    (await world.start()).die();
    await settle();
    const asked = world.ask();
    const seconds: number[] = [];
    const began = world.now;
    while (world.failures.length === 0) {
      if (world.attempts.length > 0) {
        seconds.push((world.now - began) / 1000);
        await world.notOpened('backend-failed', `reason ${seconds.length}`);
      } else await world.pass(250);
    }
    expect(seconds).toEqual([0, 1, 2, 4]);
    expect(world.failures[0]).toMatchObject({ code: 'no-backend', message: expect.stringContaining('reason 4') });
    expect(asked.outcome).toBe('no-backend');
    expect(world.ask().outcome).toBeUndefined();
    await settle();
    expect(world.timers).toBe(0);
    // It begins again.
    const worker = await world.start();
    world.ask();
    expect(worker.batches).toHaveLength(1);
  });

  test('a failure names no failed attempts if each worker could be opened, and was lost', async () => {
    const world = new World({ maxRetryTimeoutInSec: 0 });
    (await world.start()).die();
    await settle();
    (await world.opened()).die('worker-lost', 'it died again');
    await settle();
    const message = 'The worker was lost, and could not be replaced. it died again';
    expect(world.failures).toMatchObject([{ code: 'no-backend', message }]);
  });

  test('after a failure, a pool that is started again adds workers at once', async () => {
    const world = new World({ minWorkers: 2, maxWorkers: 2 });
    const first = await world.start();
    await world.notOpened();
    first.die();
    await settle();
    await world.notOpened('model-config');
    expect(world.failures).toHaveLength(1);
    await world.start();
    expect(world.attempts).toHaveLength(1);
  });

  test('an error that blames the archive ends the attempts', async () => {
    const world = new World();
    (await world.start()).die();
    await settle();
    await world.notOpened('model-config', 'a wrong key');
    expect(world.failures).toMatchObject([{ code: 'no-backend', cause: { code: 'model-config' } }]);
  });

  test('a worker that was being added takes the place of the last one', async () => {
    const world = new World({ minWorkers: 2, maxWorkers: 2 });
    const first = await world.start();
    const asked = world.ask();
    first.die();
    await settle();
    expect(world.attempts).toHaveLength(1);
    const second = await world.opened();
    expect(second.batches).toEqual(['1']);
    second.answer();
    await settle();
    expect(asked.outcome).toBe('1');
    expect(world.recoveries).toHaveLength(1);
  });

  test('one of several workers is lost: another replays its jobs, the third continues with the queue', async () => {
    const world = new World({ minWorkers: 3, maxWorkers: 3 });
    const [a, b, c] = [await world.start(), await world.opened(), await world.opened()];
    for (let i = 0; i < 3; i++) world.ask();
    expect([a, b, c].map(({ batches }) => batches.join())).toEqual(['1', '2', '3']);
    a.die();
    const waiting = world.ask();
    b.answer();
    await settle();
    expect(b.batches).toEqual(['1']);
    c.answer();
    await settle();
    expect(c.batches).toEqual(['4']);
    b.answer();
    c.answer();
    await settle();
    expect(waiting.outcome).toBe('4');
    expect(world.recoveries).toMatchObject([{ replayed: 1 }]);
    // It had run nothing: the third one is opened again after a pause.
    expect(world.attempts).toHaveLength(0);
    await world.pass(PAUSE_MS);
    expect(world.attempts).toHaveLength(1);
  });

  test('an answer that reports a lost worker counts as a loss', async () => {
    const world = new World();
    const worker = await world.start();
    const asked = world.ask();
    worker.answer({ rows: [], failure: { name: 'TabServeError', code: 'out-of-memory', message: 'no memory' } });
    await settle();
    expect(worker.error?.code).toBe('out-of-memory');
    const next = await world.opened();
    next.answer();
    await settle();
    expect(asked.outcome).toBe('1');
  });
});

test('an invalid answer of a worker fails the batch, and every request settles', async () => {
  for (const rows of [
    [],
    [
      { ok: true, value: 1 },
      { ok: true, value: 2 },
    ],
    new Set([{ ok: true }]),
    [null],
    undefined,
  ]) {
    const world = new World();
    const worker = await world.start();
    const asked = world.ask();
    worker.answer({ rows: rows as never });
    await settle();
    expect(asked.outcome).toBe('worker-failed');
  }
});

test.describe('the end', () => {
  test('everything settles, every worker ends, no timer is left, and nothing is opened any more', async () => {
    const world = new World({ minWorkers: 2, maxWorkers: 2, maxBatchDelay: 50, batchSize: 2 });
    const worker = await world.start();
    const asked = [world.ask(), world.ask(), world.ask()];
    const pinged = world.pool.ask(({ ping }) => ping()).then(() => 'pong');
    const [attempt] = world.attempts;
    world.pool.close(new TabServeError('disposed', 'over'));
    await settle();
    expect(asked.map(({ outcome }) => outcome)).toEqual(['disposed', 'disposed', 'disposed']);
    expect(worker.error?.code).toBe('disposed');
    expect(attempt!.signal.aborted).toBe(true);
    expect(await pinged.catch((error: TabServeError) => error.code)).toMatch(/pong|disposed/);
    const late = await world.opened();
    expect(late.error?.code).toBe('disposed');
    expect(world.timers).toBe(0);
    const after = world.ask();
    await settle();
    expect(after.outcome).toBe('disposed');
  });

  test('a question waits for the next worker, or for the end', async () => {
    const world = new World();
    (await world.start()).die();
    await settle();
    const pinged = world.pool.ask(({ ping }) => ping()).then(() => 'pong');
    await world.opened();
    expect(await pinged).toBe('pong');
  });
});

test('a stream whose reader has left is watched again: its handler may hang', async () => {
  const world = new World();
  const worker = await world.start();
  const leave = new AbortController();
  const chunks = new Chunks();
  const { id } = world.ask({ chunks, signal: leave.signal });
  await settle();
  while (!chunks.isFull) worker.sendChunk(worker.requests[0]!, 'a part');
  expect(worker.paused.has(id)).toBe(true);
  leave.abort();
  expect(worker.canceled).toEqual([id]);
  expect(worker.paused.has(id)).toBe(false);
});

test.describe('larger inputs than the proven ones', () => {
  /** A promise that the test settles. */
  function deferred() {
    let resolve!: () => void;
    let reject!: (error: TabServeError) => void;
    const promise = new Promise<void>((...settlers) => ([resolve, reject] = settlers));
    return { promise, resolve, reject };
  }

  const larger = { larger: [{ feeds: {}, outputs: {}, size: 1 }] };

  /** A pool on a GPU whose comparison the test decides. */
  async function comparing(world: World) {
    const compared = deferred();
    const worker = await world.start(webgpu, {
      compareLarger: () =>
        compared.promise.catch((error: TabServeError) => {
          worker.close(error);
          throw error;
        }),
    });
    return { worker, compared };
  }

  test('every answer waits for the comparison', async () => {
    const world = new World();
    const { worker, compared } = await comparing(world);
    const [large, beside] = [world.ask(), world.ask()];
    worker.answer(larger);
    worker.answer();
    await settle();
    expect([large.outcome, beside.outcome]).toEqual([undefined, undefined]);
    compared.resolve();
    await settle();
    expect([large.outcome, beside.outcome]).toEqual(['1', '2']);
  });

  test('a wrong backend is demoted at once, and all that it has answered meanwhile runs on the next one', async () => {
    const world = new World();
    const { worker, compared } = await comparing(world);
    const [large, beside] = [world.ask(), world.ask()];
    worker.answer(larger);
    worker.answer();
    await settle();
    compared.reject(new TabServeError('backend-wrong', 'It is wrong.'));
    await world.pass(0);
    expect(world.attempts[0]!.demoted).toEqual([{ engine: 'onnx', name: 'webgpu', reason: 'It is wrong.' }]);
    const next = await world.opened();
    next.answer();
    await settle();
    next.answer();
    await settle();
    expect([large.outcome, beside.outcome]).toEqual(['1', '2']);
    expect(world.recoveries).toMatchObject([{ cause: { code: 'backend-wrong' }, replayed: 2, failed: 0 }]);
  });

  test('a replay that shows that a backend is wrong is not to blame', async () => {
    const world = new World();
    const first = await world.start(webgpu);
    const job = world.ask();
    first.die();
    await world.pass(0);
    const compared = deferred();
    const second = await world.opened(webgpu, {
      compareLarger: () =>
        compared.promise.catch((error: TabServeError) => {
          second.close(error);
          throw error;
        }),
    });
    second.answer(larger);
    compared.reject(new TabServeError('backend-wrong', 'It is wrong.'));
    await settle();
    await world.pass(5000);
    const third = await world.opened();
    third.answer();
    await settle();
    expect(job.outcome).toBe('1');
  });

  test('a worker that is lost during the comparison has answered nothing', async () => {
    const world = new World();
    const { worker } = await comparing(world);
    const job = world.ask();
    worker.answer(larger);
    await settle();
    worker.die();
    await world.pass(0);
    const next = await world.opened();
    expect(next.batches).toEqual(['1']);
    next.answer();
    await settle();
    expect(job.outcome).toBe('1');
  });
});
