// Sequences: the page holds the state, and sends it with each request. The worker here sums: its answer is the state
// plus the row, and is the new state.
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import type { ClientOptions } from '../../../../src/page/options/client-options.ts';
import { Sequence } from '../../../../src/page/sequences/sequence.ts';
import { TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import { errorToData } from '../../../../src/contract/error-data.ts';
import type { Envelope, HandleAnswer, HandleRequest, LoadRequest } from '../../../../src/contract/wire.ts';
import { EchoWorker } from '../../support/fake-worker.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

type Row = number | 'fail' | 'hang' | 'die' | { readonly data?: Float32Array };

/** What the workers of one client got, batch by batch. */
interface Seen {
  readonly batches: (readonly Row[])[];
  readonly states: unknown[];
  /** The rows `die` that end a worker; later ones are answered. */
  deaths: number;
}

class SummingWorker extends EchoWorker {
  readonly #seen: Seen;
  #config: LoadRequest['config'];

  constructor(seen: Seen) {
    super();
    this.#seen = seen;
  }

  protected override answer(method: (...args: never[]) => unknown, args: never[]): unknown {
    const request = args[0] as HandleRequest | undefined;
    if (!Array.isArray(request?.rows)) return this.#configured(super.answer(method, args), args[0]);
    const rows = request.rows as Row[];
    this.#seen.batches.push(rows);
    this.#seen.states.push(...(request.states ?? []));
    if (rows.some((row) => row === 'hang' || (row as ArrayBuffer).byteLength > 3)) return new Promise(() => {});
    const dies = rows.some((row) => row === 'die' || (typeof row === 'object' && Number.isNaN(row.data?.[0])));
    if (dies && this.#seen.deaths-- > 0) {
      this.dispatchEvent(Object.assign(new Event('error'), { message: 'killed by the test' }));
      return new Promise(() => {});
    }
    return Promise.resolve(this.#sum(request, rows));
  }

  /** The archive's config is what the client's options make of it. */
  async #configured(answer: unknown, request: Partial<LoadRequest> | undefined): Promise<unknown> {
    this.#config ??= request?.config;
    const envelope = (await answer) as { readonly value: object } | undefined;
    return envelope?.value && 'manifest' in envelope.value
      ? { ...envelope, value: { ...envelope.value, config: this.#config } }
      : envelope;
  }

  #sum({ states, sequenceIds }: HandleRequest, rows: readonly Row[]): Envelope<HandleAnswer> {
    const sums = rows.map((row, index) => {
      const before = (states?.[index] as { sum: Float32Array } | undefined)?.sum[0] ?? 0;
      return before + (typeof row === 'number' ? row : typeof row === 'object' ? (row.data?.[0] ?? 1) : 0);
    });
    const value: HandleAnswer = {
      rows: rows.map((row, index) =>
        row === 'fail'
          ? { ok: false, error: errorToData(new TabServeError('invalid-input', 'the test fails this row')) }
          : { ok: true, value: sums[index] },
      ),
      timings: {},
      handlerTime: 0,
      memory: 0,
      ...(sequenceIds && {
        states: rows.map((row, index) => (row === 'fail' ? undefined : { sum: Float32Array.of(sums[index]!) })),
      }),
    };
    return { ok: true, value };
  }
}

async function open(options: Partial<ClientOptions> = {}): Promise<{ client: Client; seen: Seen }> {
  const seen: Seen = { batches: [], states: [], deaths: 0 };
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

test('the state goes to the worker with each request, and comes back with its answer', async () => {
  const { client, seen } = await open();
  await using _ = client;
  await using sequence = client.openSequence();
  expect([await sequence.predict(1), await sequence.predict(2), await sequence.predict(3)]).toEqual([1, 3, 6]);
  expect(seen.states).toEqual([undefined, { sum: Float32Array.of(1) }, { sum: Float32Array.of(3) }]);
  expect(await client.predict(7)).toBe(7);
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
  expect(seen.states.slice(-2)).toEqual([{ sum: Float32Array.of(4) }, { sum: Float32Array.of(4) }]);
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
    let count = 0;
    const camera = new ReadableStream({
      pull: (controller) => controller.enqueue(new Picture((count += 1))),
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
