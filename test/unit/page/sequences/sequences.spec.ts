// Sequences: the page holds the state, and sends it to a worker that does not keep it. The worker here runs a handler that
// sums: its answer is the state plus the row, and is the new state.
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import type { ClientOptions } from '../../../../src/page/options/client-options.ts';
import { Sequence } from '../../../../src/page/sequences/sequence.ts';
import { PredictionError, TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import type { HandleRequest, LoadRequest } from '../../../../src/contract/wire.ts';
import type { Context } from '../../../../src/contract/handler.ts';
import type { KeptValues } from '../../../../src/contract/kept-values.ts';
import { Batches } from '../../../../src/worker/host/batches.ts';
import type { OpenHandler } from '../../../../src/worker/host/open-handlers.ts';
import { StateBudget } from '../../../../src/worker/host/state-budget.ts';
import { EchoWorker } from '../../support/fake-worker.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

type Row = number | 'fail' | 'hang' | 'die' | { readonly data?: Float32Array };

/** What the workers of one client got, batch by batch. */
interface Seen {
  readonly batches: (readonly Row[])[];
  /** The states in the messages; `'kept'` for a key alone. */
  readonly states: unknown[];
  /** What each worker keeps. */
  readonly kept: KeptValues[];
  /** The keys that the page has told workers to forget. */
  readonly forgotten: string[];
  /** The rows `die` that end a worker; later ones are answered. */
  deaths: number;
}

class SummingWorker extends EchoWorker {
  readonly #seen: Seen;
  readonly #kept: KeptValues;
  readonly #batches = new Batches(
    () => {},
    () => {},
  );
  #config: LoadRequest['config'];

  constructor(seen: Seen) {
    super();
    this.#seen = seen;
    this.#kept = new StateBudget(1000, new FakeClock()).values();
    seen.kept.push(this.#kept);
  }

  protected override answer(method: (...args: never[]) => unknown, args: never[]): unknown {
    const request = args[0] as HandleRequest | string | undefined;
    if (typeof request === 'string' && request.startsWith('kept/')) {
      this.#seen.forgotten.push(request);
      return this.#kept.delete(request);
    }
    if (typeof request === 'string' || !Array.isArray(request?.rows))
      return this.#configured(super.answer(method, args), args[0]);
    const rows = request.rows as Row[];
    this.#seen.batches.push(rows);
    for (const { state } of request.sequences?.filter((one) => one !== undefined) ?? [])
      this.#seen.states.push(state && ('value' in state ? state.value : 'kept'));
    const isFourthFrame = rows[0] instanceof ArrayBuffer && this.#seen.batches.length === 4;
    if (rows.includes('hang') || isFourthFrame) return new Promise(() => {});
    const dies = rows.some((row) => row === 'die' || (typeof row === 'object' && Number.isNaN(row.data?.[0])));
    if (dies && this.#seen.deaths-- > 0) {
      this.dispatchEvent(Object.assign(new Event('error'), { message: 'killed by the test' }));
      return new Promise(() => {});
    }
    return this.#batches.handle(request, () => this.#opened, undefined);
  }

  /** The archive's config is what the client's options make of it. */
  async #configured(answer: unknown, request: Partial<LoadRequest> | undefined): Promise<unknown> {
    this.#config ??= request?.config;
    const envelope = (await answer) as { readonly value: object } | undefined;
    return envelope?.value && 'manifest' in envelope.value
      ? { ...envelope, value: { ...envelope.value, config: this.#config } }
      : envelope;
  }

  get #opened(): OpenHandler {
    const environment = { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {}, kept: this.#kept };
    return { handler: { handle: sum } as unknown, environment } as OpenHandler;
  }
}

/** Numbers are added; of anything else, the first element, or nothing. */
async function sum(rows: readonly Row[], context: Context): Promise<unknown[]> {
  return rows.map((row, index) => {
    const state = context.state(index) as { sum: Float32Array } | undefined;
    if (row === 'fail') {
      // What a handler must not do has no consequence.
      state?.sum.fill(NaN);
      return PredictionError.from(new TabServeError('invalid-input', 'the test fails this row'));
    }
    const added = typeof row === 'number' ? row : typeof row === 'object' ? (row.data?.[0] ?? 1) : 0;
    const all = (state?.sum[0] ?? 0) + added;
    context.setState(index, { sum: Float32Array.of(all) });
    return all;
  });
}

async function open(options: Partial<ClientOptions> = {}): Promise<{ client: Client; seen: Seen }> {
  const seen: Seen = { batches: [], states: [], kept: [], forgotten: [], deaths: 0 };
  const client = connect(() => new SummingWorker(seen) as unknown as Worker, {
    model: 'http://127.0.0.1/model.onnx',
    verdicts: { get: async () => undefined, set: async () => {}, clear: async () => {} },
    ...options,
  });
  await client.initialize();
  return { client, seen };
}

async function codeOf(work: Promise<unknown>): Promise<ErrorCode | 'answer'> {
  return await work.then(
    () => 'answer',
    (error: TabServeError) => error.code,
  );
}

test('the state comes back with each answer, and is kept by the worker: the page sends its key', async () => {
  const { client, seen } = await open();
  await using _ = client;
  await using sequence = client.openSequence();
  expect([await sequence.predict(1), await sequence.predict(2), await sequence.predict(3)]).toEqual([1, 3, 6]);
  expect(seen.states).toEqual([undefined, 'kept', 'kept']);
  expect(await client.predict(7)).toBe(7);
});

test('a state that the worker has freed is sent, with the same request', async () => {
  const { client, seen } = await open({ batchSize: 2, maxBatchDelay: 10_000 });
  await using _ = client;
  const [one, other] = [client.openSequence(), client.openSequence()];
  await Promise.all([one.predict(1), other.predict(10)]);
  // Its own budget is too small for it and what the states take.
  seen.kept[0]!.set('all', 'of it', { bytes: 1000 });
  seen.kept[0]!.delete('all');
  expect(await Promise.all([one.predict(2), other.predict(20)])).toEqual([3, 30]);
  const [first, second] = [1, 10].map((sum) => ({ sum: Float32Array.of(sum) }));
  expect(seen.states.slice(2)).toEqual(['kept', 'kept', first, second]);
  expect(await Promise.all([one.predict(3), other.predict(30)])).toEqual([6, 60]);
  expect(seen.states.slice(6)).toEqual(['kept', 'kept']);
});

test('beside a row whose state was freed, one that cannot be sent again is answered', async () => {
  const { client, seen } = await open({ batchSize: 2, maxBatchDelay: 10_000 });
  await using _ = client;
  const sequence = client.openSequence();
  await Promise.all([sequence.predict(1), client.predict(10)]);
  seen.kept[0]!.set('all', 'of it', { bytes: 1000 });
  seen.kept[0]!.delete('all');
  const moved = client.predict({ data: Float32Array.of(5) }, { transfer: true });
  expect(await Promise.all([sequence.predict(2), moved])).toEqual([3, 5]);
});

test('beside what moves to the worker, the state is sent too: neither can be sent again', async () => {
  const { client, seen } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  await sequence.predict(4);
  expect(await sequence.predict({ data: Float32Array.of(2) }, { transfer: true })).toBe(6);
  expect(seen.states).toEqual([undefined, { sum: Float32Array.of(4) }]);
});

test('the end of a sequence frees its state in the worker', async () => {
  const { client, seen } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  await sequence.predict(1);
  await sequence.predict(2);
  expect(seen.forgotten).toEqual([]);
  await sequence.end();
  await expect.poll(() => seen.forgotten.length).toBe(1);
  expect(seen.kept[0]!.has(seen.forgotten[0])).toBe(false);
});

test('a state that nobody waited for is freed in the worker, and the one before goes on', async () => {
  const { client, seen } = await open({ maxWorkers: 1 });
  await using _ = client;
  const sequence = client.openSequence();
  await sequence.predict(1);
  const controller = new AbortController();
  const aborted = sequence.predict(100, { signal: controller.signal });
  await settle();
  controller.abort();
  expect(await codeOf(aborted)).toBe('aborted');
  expect(await sequence.predict(2)).toBe(3);
  await expect.poll(() => seen.forgotten.length).toBe(1);
});

test('many sequences share batches with one another and with single requests, and keep their states apart', async () => {
  const { client, seen } = await open({ batchSize: 6, maxBatchDelay: 10_000 });
  await using _ = client;
  const sequences = Array.from({ length: 5 }, () => client.openSequence());
  expect(new Set(sequences.map(({ id }) => id)).size).toBe(5);
  for (const turn of [1, 2, 3]) {
    const answers = await Promise.all([
      ...sequences.map((sequence, index) => sequence.predict(turn * 10 ** index)),
      client.predict(turn),
    ]);
    const sum = (turn * (turn + 1)) / 2;
    expect(answers).toEqual([...sequences.map((_, index) => sum * 10 ** index), turn]);
  }
  expect(seen.batches.map(({ length }) => length)).toEqual([6, 6, 6]);
});

test('a second request at once is refused, and the first one goes on', async () => {
  const { client } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  const first = sequence.predict(1);
  await expect(sequence.predict(2)).rejects.toMatchObject({
    code: 'queue-full',
    retriable: true,
    message: expect.stringContaining('takes one at a time'),
  });
  expect(await first).toBe(1);
  expect(await sequence.predict(2)).toBe(3);
});

test('a request that fails, is aborted or times out leaves the state as it was', async () => {
  const { client } = await open({ responseTimeout: 60, maxWorkers: 1 });
  await using _ = client;
  const sequence = client.openSequence();
  expect(await sequence.predict(1)).toBe(1);
  expect(await codeOf(sequence.predict('fail'))).toBe('invalid-input');
  expect(await sequence.predict(2)).toBe(3);
  const controller = new AbortController();
  const aborted = sequence.predict('die', { signal: controller.signal });
  controller.abort();
  expect(await codeOf(aborted)).toBe('aborted');
  expect(await sequence.predict(3)).toBe(6);
  expect(await codeOf(sequence.predict('hang', { timeout: 5 }))).toBe('timeout');
});

test('a lost worker: the request runs again with the same state, in another worker', async () => {
  const { client, seen } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  await sequence.predict(4);
  seen.deaths = 1;
  expect(await sequence.predict('die')).toBe(4);
  expect(seen.states.slice(-2)).toEqual(['kept', { sum: Float32Array.of(4) }]);
  expect(await sequence.predict(1)).toBe(5);
});

test('a lost worker takes an input that was transferred: the request fails, and the sequence goes on from its last state', async () => {
  const { client, seen } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  await sequence.predict(4);
  seen.deaths = 1;
  await expect(sequence.predict({ data: Float32Array.of(NaN) }, { transfer: true })).rejects.toMatchObject({
    code: 'worker-lost',
    message: expect.stringContaining('without transfer: true'),
  });
  expect(await sequence.predict(1)).toBe(5);
});

test('after its end, a sequence refuses every request, and the one under way is rejected', async () => {
  const { client } = await open();
  await using _ = client;
  const sequence = client.openSequence();
  const pending = sequence.predict('hang');
  await settle();
  await sequence.end();
  expect(await codeOf(pending)).toBe('disposed');
  await expect(sequence.predict(1)).rejects.toMatchObject({
    code: 'disposed',
    message: 'The sequence has ended. Open another one with openSequence().',
  });
  expect(sequence.ended.aborted).toBe(true);
  await sequence.end();
});

test('dispose of the client ends its sequences', async () => {
  const { client } = await open();
  const sequence = client.openSequence();
  await sequence.predict(1);
  await client.dispose();
  expect(sequence.ended.aborted).toBe(true);
  expect(await codeOf(sequence.predict(1))).toBe('disposed');
  expect(() => client.openSequence()).toThrow('disposed');
});

test('a client that is not initialized opens no sequence, and wrong options are named', async () => {
  const unopened = connect(() => new EchoWorker() as unknown as Worker, { model: 'http://127.0.0.1/model.onnx' });
  expect(() => unopened.openSequence()).toThrow('not initialized');
  const { client } = await open();
  await using _ = client;
  for (const idleTimeout of [0, -1, Infinity, NaN, '5', 2 ** 31, null])
    expect(() => client.openSequence({ idleTimeout: idleTimeout as number })).toThrow(
      /idleTimeout must be a number > 0/,
    );
  expect(() => client.openSequence(null as never)).toThrow('options');
  expect(() => client.openSequence({ timeout: 5 } as never)).toThrow(
    'timeout is not an option of openSequence (idleTimeout).',
  );
  expect(await codeOf(client.openSequence().predict(1, { timeout: -1 }))).toBe('invalid-input');
});

test.describe('idleTimeout', () => {
  function sequenceOf(clock: FakeClock, idleTimeout = 100): { sequence: Sequence; answer: (value: unknown) => void } {
    let answer: (value: unknown) => void = () => {};
    const sequence = new Sequence(
      { idleTimeout },
      {
        clock,
        disposed: new AbortController().signal,
        request: () => new Promise((resolve) => (answer = (value) => resolve([value]))),
        frames: () => {
          throw new Error('no frames here');
        },
      },
    );
    return { sequence, answer: (value) => answer(value) };
  }

  test('ends a sequence that nobody uses', async () => {
    const clock = new FakeClock();
    const { sequence } = sequenceOf(clock);
    await clock.advance(99);
    expect(sequence.ended.aborted).toBe(false);
    await clock.advance(1);
    expect(sequence.ended.aborted).toBe(true);
    await expect(sequence.predict(1)).rejects.toMatchObject({
      code: 'timeout',
      message: expect.stringContaining('no request came for 100 ms'),
    });
  });

  test('counts from the last answer, and not while a request is under way', async () => {
    const clock = new FakeClock();
    const { sequence, answer } = sequenceOf(clock);
    await clock.advance(90);
    const asked = sequence.predict(1);
    await clock.advance(1000);
    answer('late');
    expect(await asked).toBe('late');
    await clock.advance(99);
    expect(sequence.ended.aborted).toBe(false);
    await clock.advance(1);
    expect(sequence.ended.aborted).toBe(true);
  });

  test('leaves no timer after the end', async () => {
    const clock = new FakeClock();
    const { sequence } = sequenceOf(clock);
    await sequence.end();
    expect(clock.pending).toBe(0);
  });
});

test('a loop over frames that is left is over: the sequence takes the next request at once', async () => {
  /** It can be transferred, as a picture can. */
  class Picture extends ArrayBuffer {
    readonly width = 1;
    close(): void {}
  }
  Object.assign(globalThis, { ImageBitmap: Picture });
  try {
    const { client, seen } = await open();
    await using _ = client;
    await using sequence = client.openSequence();
    const camera = new ReadableStream({
      pull: (controller) => controller.enqueue(new Picture(1)),
    });
    // The fourth frame, whose worker hangs, is under way when the loop ends.
    let sum = 0;
    for await (const { result } of sequence.frames(camera as never)) {
      sum = result as number;
      while (seen.batches.length <= sum) await settle();
      if (sum === 3) break;
    }
    expect(await sequence.predict(10)).toBe(13);
  } finally {
    Reflect.deleteProperty(globalThis, 'ImageBitmap');
  }
});
