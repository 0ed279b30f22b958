import { expect, test } from './fixtures.ts';
import type { GatedAnswer } from './workers/gated.worker.ts';

/**
 * Requests wait in a queue and run in batches. A gate in the first one keeps the worker busy, for as long as the test
 * wants.
 */

/** ONNX Runtime's WebGL refuses a dynamic batch axis; there the batch is run row by row. */
const modelFor = (backend: string): string => `/test/models/${backend === 'webgl' ? 'affine_fixed' : 'affine'}.onnx`;

test('what has gathered while the worker was busy runs together, up to batchSize, in order', async ({
  open,
  backend,
}) => {
  test.skip(backend === 'webgpu', 'one GPU backend is enough: the rule is the same for both');
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const { tabserve, workers, gate } = window;
      const client = tabserve.connect(workers.gated, { model, backends: [backend], batchSize: 4 });
      await client.initialize();
      const input = (x: number) => ({ data: Float32Array.of(x, 2, 3, 4), dims: [4] }) as never;
      const alone: GatedAnswer[] = [];
      for (let x = 0; x < 7; x++) alone.push((await client.predict(input(x))) as never);
      // As many as may be in the worker at once: WASM takes another batch only when it is full.
      const busy = backend === 'wasm' ? 1 : 2;
      const gates = await Promise.all(Array.from({ length: busy }, () => gate('preprocess')));
      const first = gates.map(({ params }) => client.predict(input(0), { params: params as never }));
      for (const one of gates) await one.reached();
      const rest = Array.from({ length: 7 }, (_, x) => client.predict(input(x)));
      const whole = client.handle([input(0), input(1)]);
      const last = client.predict(input(2));
      const { jobQueueStatus } = await client.describe();
      gates.forEach((one) => one.open());
      await Promise.all(first);
      const answered = {
        alone,
        rest: (await Promise.all(rest)) as unknown as GatedAnswer[],
        whole: (await whole) as unknown as GatedAnswer[],
        last: (await last) as unknown as GatedAnswer,
      };
      const sizes = client.metrics.snapshot().histograms;
      await client.dispose();
      return { ...answered, jobQueueStatus, queued: sizes['QueueTime']![0]!.count, rows: sizes['BatchSize']![0]!.sum };
    },
    { model: modelFor(backend), backend },
  );
  // What is full goes into WASM's worker as well, and is answered meanwhile.
  if (backend !== 'wasm') expect(answer.jobQueueStatus).toEqual({ remainingCapacity: 91, pendingRequests: 9 });
  expect(answer.rest.map(({ batchSize }) => batchSize)).toEqual([4, 4, 4, 4, 3, 3, 3]);
  expect(answer.rest.map(({ batch }) => batch - answer.rest[0]!.batch)).toEqual([0, 0, 0, 0, 1, 1, 1]);
  answer.rest.forEach(({ y }, x) =>
    y.forEach((value, index) => expect(Math.abs(value - answer.alone[x]!.y[index]!)).toBeLessThanOrEqual(1e-6)),
  );
  // A batch as given stays one, and nobody overtakes it.
  expect(answer.whole.map(({ batchSize }) => batchSize)).toEqual([2, 2]);
  expect([answer.whole[0]!.batch, answer.last.batch].map((batch) => batch - answer.rest[0]!.batch)).toEqual([2, 3]);
  expect(answer).toMatchObject({
    queued: 7 + (backend === 'wasm' ? 1 : 2) + 9,
    rows: 7 + (backend === 'wasm' ? 1 : 2) + 10,
  });
});

test('a worker has two batches: the next is preprocessed while the first runs @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.gated, { model, backends: [backend] });
      await client.initialize();
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const running = await window.gate('inference');
      const next = await window.gate('preprocess');
      const bad = client.predict(input(), { params: running.params as never });
      await running.reached();
      const overlapping = client.predict(input(), { params: next.params as never });
      const third = client.predict(input());
      await next.reached();
      const { pendingRequests } = (await client.describe()).jobQueueStatus;
      next.open();
      running.open();
      const answers = await Promise.all([bad, overlapping, third]);
      // An error in one of two that overlap is its own.
      const held = await window.gate('inference');
      const good = client.predict(input(), { params: held.params as never });
      await held.reached();
      const failure = window.failure(client.predict(input(), { params: { bad: 'batch' } }));
      await failure;
      held.open();
      const after = { code: (await failure).code, good: await good };
      await client.dispose();
      return { pendingRequests, answers, after };
    },
    { model: modelFor(backend), backend },
  );
  expect(answer.pendingRequests).toBe(1);
  expect(answer.answers).toHaveLength(3);
  expect(answer.after).toEqual({ code: 'handler-failed', good: expect.objectContaining({ batchSize: 1 }) });
});

test('a full queue refuses at once; an aborted request makes room; each abort and timeout settles its own request @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const { failure } = window;
      const client = window.tabserve.connect(window.workers.gated, {
        model,
        backends: [backend],
        jobQueueSize: 2,
        batchSize: 8,
      });
      await client.initialize();
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const gates = await Promise.all(
        Array.from({ length: backend === 'wasm' ? 1 : 2 }, () => window.gate('preprocess')),
      );
      const running = new AbortController();
      const begun = gates.map(({ params }) =>
        failure(client.predict(input(), { params: params as never, signal: running.signal })),
      );
      for (const one of gates) await one.reached();
      const before = await failure(client.predict(input(), { signal: AbortSignal.abort() }));
      const queued = new AbortController();
      const waiting = [
        client.predict(input(), { signal: queued.signal }),
        client.predict(input(), { timeout: 60_000 }),
      ] as const;
      const gone = failure(waiting[0]);
      const refusal = await client
        .predict(input())
        .catch((error) => ({ code: error.code, retriable: error.retriable, message: error.message }));
      queued.abort();
      const aborted = await gone;
      const late = await failure(client.predict(input(), { timeout: 20 }));
      const joined = client.predict(input());
      running.abort();
      const stopped = await Promise.all(begun);
      gates.forEach((one) => one.open());
      const answers = (await Promise.all([waiting[1], joined])) as unknown as GatedAnswer[];
      const after = new AbortController();
      await client.predict(input(), { signal: after.signal });
      after.abort();
      const outcomes = client.metrics
        .snapshot()
        .counters['ts_inference_requests_total']!.map(({ labels, value }) => [labels['outcome'], value]);
      await client.dispose();
      return { before, refusal, aborted, late, stopped, answers, outcomes };
    },
    { model: modelFor(backend), backend },
  );
  expect(answer.before.code).toBe('aborted');
  expect(answer.refusal).toEqual({
    code: 'queue-full',
    retriable: true,
    message: expect.stringContaining('2 requests wait'),
  });
  expect(answer.aborted.code).toBe('aborted');
  expect(answer.late.code).toBe('timeout');
  const begun = backend === 'wasm' ? 1 : 2;
  expect(answer.stopped.map(({ code }) => code)).toEqual(Array.from({ length: begun }, () => 'aborted'));
  expect(answer.answers.map(({ batchSize }) => batchSize)).toEqual([2, 2]);
  expect(Object.fromEntries(answer.outcomes)).toEqual({ aborted: 2 + begun, 'queue-full': 1, timeout: 1, ok: 3 });
});

test('each row of a batch fails alone and has its own params, also if it cannot be sent @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const { failure } = window;
      const client = window.tabserve.connect(window.workers.gated, { model, backends: [backend], batchSize: 8 });
      await client.initialize();
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const together = async (...rest: (() => Promise<unknown>)[]): Promise<unknown[]> => {
        const gates = await Promise.all(
          Array.from({ length: backend === 'wasm' ? 1 : 2 }, () => window.gate('preprocess')),
        );
        const begun = gates.map(({ params }) => client.predict(input(), { params: params as never }));
        for (const one of gates) await one.reached();
        const all = rest.map((call) => call());
        gates.forEach((one) => one.open());
        await Promise.all(begun);
        return await Promise.all(all);
      };
      const plain = () => client.predict(input());
      const rows = await together(plain, () => failure(client.predict(input(), { params: { bad: 'row' } })), plain);
      const batch = await together(plain, () => failure(client.predict(input(), { params: { bad: 'batch' } })), plain);
      const labels = await together(
        plain,
        () => failure(client.predict(input(), { params: { labels: ['mine'] } })),
        plain,
      );
      const wrong = await together(
        plain,
        () => failure(client.predict({ data: new Float32Array(3), dims: [3] } as never)),
        plain,
      );
      const given = new Float32Array(4);
      const unsent = await together(
        plain,
        () => failure(client.predict({ data: () => 1, dims: [4] } as never)),
        () => client.predict({ data: given, dims: [4] } as never, { transfer: true }),
      );
      const twice = await together(() => client.predict(input(), { params: { odd: 'twice' } }), plain);
      const moved = await together(() => client.predict(input(), { params: { odd: 'moved-twice' } }), plain);
      const shared = twice[0] === twice[1] || (moved[0] as { y: object }).y === (moved[1] as { y: object }).y;
      await client.dispose();
      return { rows, batch, labels, wrong, unsent, twice, moved, shared, gone: given.byteLength === 0 };
    },
    { model: modelFor(backend), backend },
  );
  const batchOf = (batchSize: number) => expect.objectContaining({ batchSize });
  expect(answer.rows).toEqual([batchOf(3), expect.objectContaining({ code: 'invalid-input' }), batchOf(3)]);
  for (const [how, code] of [
    ['batch', 'handler-failed'],
    ['labels', 'invalid-input'],
    ['wrong', 'invalid-input'],
    ['unsent', 'not-cloneable'],
  ] as const) {
    expect(answer[how], how).toEqual([batchOf(1), expect.objectContaining({ code }), batchOf(1)]);
  }
  expect(answer.gone).toBe(true);
  expect(answer.twice).toEqual([batchOf(2), batchOf(2)]);
  expect(answer.moved[1]).toEqual(answer.moved[0]);
  expect(answer.shared).toBe(false);
});

test('a handler that stores its inputs has copies of them @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.gated, { model, backends: [backend] });
      await client.initialize();
      const own = Float32Array.of(1, 2, 3, 4);
      const input = () => ({ data: own, dims: [4] }) as never;
      await client.predict(input(), { params: { odd: 'keep' } });
      own.fill(9);
      await client.predict(input(), { params: { odd: 'keep' } });
      const kept = (await client.predict(input(), { params: { odd: 'kept' } })) as unknown as { data: Float32Array }[];
      await client.dispose();
      return kept.map(({ data }) => [...data]);
    },
    { model: modelFor(backend), backend },
  );
  expect(answer).toEqual([
    [1, 2, 3, 4],
    [9, 9, 9, 9],
  ]);
});

test('describe returns the model, its config and its backend; ping measures a round trip @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.gated, {
        model,
        backends: [backend],
        batchSize: 4,
        config: { jobQueueSize: 7, mine: 'too' },
      });
      const early = [await window.failure(client.describe()), await window.failure(client.ping())];
      await client.initialize();
      const rows = Array.from({ length: 3 }, (_, x) => ({ data: Float32Array.of(x, 2, 3, 4), dims: [4] }) as never);
      const together = (await client.handle(rows)) as unknown as GatedAnswer[];
      const description = await client.describe();
      const asked = performance.now();
      const ping = await client.ping();
      const elapsed = performance.now() - asked;
      await client.dispose();
      return {
        early: early.map(({ code }) => code),
        description,
        ping,
        elapsed,
        together,
        late: (await window.failure(client.ping())).code,
      };
    },
    { model: modelFor(backend), backend },
  );
  expect(answer.early).toEqual(['not-initialized', 'not-initialized']);
  const batch = backend === 'webgl' ? 1 : expect.anything();
  expect(answer.description).toMatchObject({
    modelName: backend === 'webgl' ? 'affine_fixed' : 'affine',
    handler: 'Gated',
    inputs: [{ name: 'x', dtype: 'float32', dims: [batch, 4] }],
    outputs: [{ name: 'y', dims: [batch, 3] }],
    rowsPerRun: backend === 'webgl' ? 1 : 'any',
    customizedMetadata: { batches: 1 },
    config: {
      batchSize: 4,
      maxBatchDelay: 0,
      jobQueueSize: 7,
      minWorkers: 1,
      maxWorkers: 1,
      responseTimeout: 120,
      mine: 'too',
    },
    backend: { engine: 'onnx', name: backend },
    workers: 1,
    jobQueueStatus: { remainingCapacity: 7, pendingRequests: 0 },
  });
  expect(answer.description.metrics.histograms['BatchSize']![0]).toMatchObject({ count: 1, sum: 3 });
  expect(answer.together.map(({ batchSize }) => batchSize)).toEqual([3, 3, 3]);
  // A round trip takes time, and no more than the caller waits for it.
  expect(answer.ping).toBeGreaterThan(0);
  expect(answer.ping).toBeLessThanOrEqual(answer.elapsed);
  expect(answer.late).toBe('disposed');
});

const WRONG: readonly (readonly [option: Record<string, unknown>, message: string])[] = [
  [{ batchSize: 0 }, 'batchSize must be an integer ≥ 1 and ≤ 2147483647, not 0.'],
  [{ batchSize: 2.5 }, 'batchSize must be an integer ≥ 1 and ≤ 2147483647, not 2.5.'],
  [{ maxBatchDelay: -1 }, 'maxBatchDelay must be a number ≥ 0'],
  [{ maxBatchDelay: 1e12 }, 'maxBatchDelay must be a number ≥ 0 and ≤ 2147483647, not 1000000000000.'],
  [{ jobQueueSize: 'many' }, 'jobQueueSize must be an integer ≥ 1 and ≤ 2147483647, not "many".'],
  [{ minWorkers: 3, maxWorkers: 2 }, 'minWorkers must be at most maxWorkers (2), not 3.'],
  [{ responseTimeout: Number.NaN }, 'responseTimeout must be a number > 0'],
  [{ startupTimeout: 0 }, 'startupTimeout must be a number > 0'],
  [{ maxRuns: 0 }, 'maxRuns must be an integer ≥ 1 and ≤ 2147483647, not 0.'],
  [{ maxRetryTimeoutInSec: Number.NaN }, 'maxRetryTimeoutInSec must be a number ≥ 0'],
];

test('sizes, delays, timeouts and priorities out of range @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(
    async (wrong) => {
      const model = '/test/models/affine.onnx';
      const failures = [];
      for (const options of wrong)
        failures.push(
          await window.failure(
            window.tabserve.connect(window.workers.gated, { model, backends: ['wasm'], ...options }).initialize(),
          ),
        );
      const client = window.tabserve.connect(window.workers.gated, { model, backends: ['wasm'] });
      await client.initialize();
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const requests = [];
      for (const options of [
        { priority: 0.5 },
        { priority: Number.NaN },
        { priority: 'high' },
        { timeout: 0 },
        { timeout: 2 ** 31 },
        { timeout: Number.NaN },
      ]) {
        requests.push(await window.failure(client.predict(input(), options as never)));
      }
      const after = (await client.predict(input(), {
        priority: -(2 ** 40),
        timeout: 2 ** 31 - 1,
      })) as unknown as GatedAnswer;
      await client.dispose();
      return { failures, requests, after };
    },
    WRONG.map(([options]) => options),
  );
  answer.failures.forEach((failure, index) =>
    expect(failure).toMatchObject({ code: 'model-config', message: expect.stringContaining(WRONG[index]![1]) }),
  );
  expect(answer.requests.map(({ code }) => code)).toEqual(Array.from({ length: 6 }, () => 'invalid-input'));
  for (const [index, key] of ['priority', 'priority', 'priority', 'timeout', 'timeout', 'timeout'].entries())
    expect(answer.requests[index]!.message).toContain(`${key} must be`);
  expect(answer.after.batchSize).toBe(1);
});

test.describe('where there are four cores', () => {
  // For the script that says so.
  test.use({ reuseTab: false });

  test('a worker of a pool that dies loses no request, and the others go on @once @full', async ({ open, page }) => {
    await page.addInitScript(() => Object.defineProperty(Navigator.prototype, 'hardwareConcurrency', { value: 4 }));
    await open();
    const answer = await page.evaluate(async () => {
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const made: Worker[] = [];
      const factory = () => made[made.push(window.workers.gated()) - 1]!;
      const client = window.tabserve.connect(factory, {
        model: '/test/models/affine.onnx',
        backends: ['wasm'],
        minWorkers: 2,
        config: { engine: { threads: 1 } },
      });
      const changes: string[] = [];
      client.on('backendchange', ({ name }) => changes.push(name));
      const recovered = new Promise<string>((resolve) => client.on('recover', ({ cause }) => resolve(cause.code)));
      await client.initialize();
      while ((await client.describe()).workers < 2) await new Promise((resolve) => setTimeout(resolve, 20));
      const gates = await Promise.all([window.gate('preprocess'), window.gate('preprocess')]);
      const held = gates.map(({ params }) => client.predict(input(), { params: params as never }));
      for (const one of gates) await one.reached();
      made[0]!.dispatchEvent(new ErrorEvent('error', { message: 'torn apart' }));
      gates.forEach((one) => one.open());
      const answered = (await Promise.all(held)) as unknown as GatedAnswer[];
      const cause = await recovered;
      while ((await client.describe()).workers < 2) await new Promise((resolve) => setTimeout(resolve, 20));
      await client.dispose();
      return { answered, cause, changes, workers: made.length };
    });
    expect(answer.answered.map(({ batchSize }) => batchSize)).toEqual([1, 1]);
    expect(answer).toMatchObject({ cause: 'worker-lost', changes: ['wasm'], workers: 3 });
  });
});

test('disposing of one client does not affect another @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const model = '/test/models/affine.onnx';
    const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
    const first = window.tabserve.connect(window.workers.gated, { model, backends: ['wasm'] });
    await first.initialize();
    const second = window.tabserve.connect(window.workers.gated, { model, backends: ['wasm'] });
    await second.initialize();
    const held = await window.gate('inference');
    const running = second.predict(input(), { params: held.params as never });
    await held.reached();
    await first.dispose();
    held.open();
    const answered = (await running) as unknown as GatedAnswer;
    await second.dispose();
    return answered;
  });
  expect(answer.batchSize).toBe(1);
});

test('a request that hangs fails, although its worker answers others @once', async ({ open, backend }) => {
  const page = await open();
  const answer = await page.evaluate(
    async ({ model, backend }) => {
      const client = window.tabserve.connect(window.workers.gated, { model, backends: [backend], responseTimeout: 2 });
      await client.initialize();
      const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
      const hung = window.failure(client.predict(input(), { params: { odd: 'never' } }));
      const lost = new Promise<'lost'>((resolve) => client.on('recover', () => resolve('lost')));
      let pings = 0;
      let answers = 0;
      for (;;) {
        await client.ping().then(
          () => (pings += 1),
          () => {},
        );
        await client.predict(input()).then(() => (answers += 1));
        const next = new Promise<'next'>((resolve) => setTimeout(() => resolve('next'), 20));
        if ((await Promise.race([lost, next])) === 'lost') break;
      }
      const failure = await hung;
      const after = (await client.predict(input())) as unknown as GatedAnswer;
      await client.dispose();
      return { failure, pings, answers, after };
    },
    { model: modelFor(backend), backend },
  );
  expect(answer.failure).toMatchObject({
    code: 'worker-lost',
    message: expect.stringContaining('had no heartbeat for 2 s'),
  });
  expect(answer.pings).toBeGreaterThan(5);
  expect(answer.answers).toBeGreaterThan(5);
  expect(answer.after.batchSize).toBe(1);
});

test('changes to an input after the call have no effect; an input in preparation has a place in the queue @once', async ({
  open,
}) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const { failure, gate, tabserve, workers } = window;
    const input = () => ({ data: Float32Array.of(1, 2, 3, 4), dims: [4] }) as never;
    const client = tabserve.connect(workers.gated, {
      model: '/test/models/affine.onnx',
      backends: ['wasm'],
      jobQueueSize: 3,
    });
    await client.initialize();
    const held = await gate('preprocess');
    const begun = client.predict(input(), { params: held.params as never });
    await held.reached();
    const params: { bad?: string } = { bad: 'row' };
    const bad = failure(client.predict(input(), { params }));
    delete params.bad;
    const unsendable = await failure(client.predict(input(), { params: { now: () => 1 } }));
    const pictures = Array.from({ length: 5 }, () => failure(client.predict(new OffscreenCanvas(4, 4) as never)));
    held.open();
    await begun;
    const codes = (await Promise.all([bad, ...pictures])).map(({ code }) => code);
    await client.dispose();
    return { codes, unsendable: unsendable.code };
  });
  // The handler takes no pictures: three of them had a place in the queue, and failed with invalid-input.
  expect(answer).toEqual({
    codes: ['invalid-input', 'invalid-input', 'invalid-input', 'invalid-input', 'queue-full', 'queue-full'],
    unsendable: 'not-cloneable',
  });
});

test('a batch that is tried again row by row is recorded once @once', async ({ open }) => {
  const page = await open();
  const counters = await page.evaluate(async () => {
    const client = window.tabserve.connect(window.workers.counting, {
      model: '/test/models/affine.onnx',
      backends: ['wasm'],
    });
    await client.initialize();
    const row = { data: Float32Array.of(1, 2, 3, 4), dims: [4] } as never;
    await client.handle([row, row, row], { params: { fail: true } });
    const { counters } = client.metrics.snapshot();
    await client.dispose();
    return counters;
  });
  expect(counters['Rows']![0]!.value).toBe(3);
  expect(counters['Refused']![0]!.value).toBe(3);
  expect(counters['Initialized']![0]!.value).toBe(1);
});
