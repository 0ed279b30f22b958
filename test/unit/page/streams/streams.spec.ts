// Answers in pieces: the client and a worker's host run whole under Node, with real message ports and a handler of the
// test's own.
import { expect, test } from '@playwright/test';
import { connect } from '../../../../src/page/client/connect.ts';
import type { Client } from '../../../../src/page/client/client.ts';
import type { Context, Handler } from '../../../../src/contract/handler.ts';
import { PredictionError, type TabServeError } from '../../../../src/contract/errors.ts';
import type { Serving } from '../../../../src/contract/settings.ts';
import { transferResult } from '../../../../src/worker/outputs/transfer.ts';
import { createTestContext } from '../../../../src/worker/host/test-context.ts';
import { createTestHandler } from '../../../../src/worker/host/testing.ts';
import { BaseHandler } from '../../../../src/worker/handlers/base-handler.ts';
import { HostWorker } from '../../support/host-worker.ts';

/** What the handler does with a row, which is a number of chunks. */
type Behavior = (chunks: number, context: Context) => Promise<unknown>;

interface Page {
  readonly client: Client<Handler>;
  readonly workers: readonly HostWorker[];
}

/** A client of workers whose handler does `behave` with each batch. */
async function pageWith(behave: Behavior, settings: Partial<Serving> = {}): Promise<Page> {
  class Counting implements Handler {
    async initialize(): Promise<void> {}
    preprocess(): void {}
    inference(): void {}
    postprocess(): void {}
    async handle(data: readonly number[], context: Context): Promise<readonly unknown[]> {
      return await Promise.all(data.map((chunks) => behave(chunks, context)));
    }
  }
  const workers: HostWorker[] = [];
  const factory = (): Worker => {
    const worker = new HostWorker(Counting);
    workers.push(worker);
    return worker as unknown as Worker;
  };
  const verdicts = { get: async () => undefined, set: async () => {}, clear: async () => {} };
  const client = connect<Handler>(factory, { model: 'http://127.0.0.1/model.onnx', verdicts, ...settings });
  await client.initialize();
  return { client, workers };
}

/** Sends the numbers from 1 as chunks; the result is their sum. */
const count: Behavior = async (chunks, context) => {
  let sum = 0;
  for (let chunk = 1; chunk <= chunks; chunk++) {
    await context.send(0, chunk);
    sum += chunk;
  }
  return `sum ${sum}`;
};

function stream(client: Client<Handler>, chunks: number, options = {}): AsyncIterator<unknown> {
  return client.stream(chunks as never, options)[Symbol.asyncIterator]();
}

async function readAll(iterable: AsyncIterable<unknown>): Promise<unknown[]> {
  const items: unknown[] = [];
  for await (const item of iterable) items.push(item);
  return items;
}

/** Reads until the stream fails. Returns what was read, and the error's code. */
async function readToFailure(iterable: AsyncIterable<unknown>): Promise<{ items: unknown[]; code: string }> {
  const items: unknown[] = [];
  try {
    for await (const item of iterable) items.push(item);
  } catch (error) {
    return { items, code: (error as TabServeError).code };
  }
  throw new Error(`expected a failure after ${JSON.stringify(items)}`);
}

/** A promise that the test settles. */
function gate(): { readonly passed: Promise<void>; readonly open: () => void } {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** Lets messages arrive, as many turns as it takes. */
async function until(done: () => boolean): Promise<void> {
  for (let turn = 0; turn < 2000 && !done(); turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(done()).toBe(true);
}

test('the parts in order, and the result as the last item', async () => {
  const { client } = await pageWith(count);
  await using _ = client;
  expect(await readAll(client.stream(5 as never))).toEqual([1, 2, 3, 4, 5, 'sum 15']);
  expect(await readAll(client.stream(0 as never))).toEqual(['sum 0']);
  const snapshot = client.metrics.snapshot();
  expect(snapshot.counters['ts_inference_requests_total']).toMatchObject([{ labels: { outcome: 'ok' }, value: 2 }]);
});

test('send does nothing for a request that is not streamed, and refuses a row that is not there', async () => {
  const { client } = await pageWith(count);
  await using _ = client;
  expect(await client.predict(3 as never)).toBe('sum 6');
  const other = await pageWith(async (index, context) => await context.send(index, 'chunk'));
  await using __ = other.client;
  await expect(other.client.predict(1 as never)).rejects.toMatchObject({
    code: 'handler-failed',
    message: expect.stringContaining('context.send'),
  });
});

test('a reader that stops holds the handler back, and the worker serves others meanwhile', async () => {
  let sent = 0;
  const { client } = await pageWith(
    async (chunks, context) => {
      for (let chunk = 1; chunk <= chunks; chunk++) await context.send(0, (sent = chunk));
      return 'result';
    },
    // A batch that is not full must not wait for the stream either.
    { batchSize: 8, responseTimeout: 0.05 },
  );
  await using _ = client;
  const reader = stream(client, 6);
  expect(await reader.next()).toEqual({ done: false, value: 1 });
  await until(() => sent === 4);
  // Longer than responseTimeout: a worker that waits for its reader does not hang. Requests are answered all the while.
  const ends = performance.now() + 200;
  while (performance.now() < ends) expect(await client.predict(0 as never)).toBe('result');
  expect(sent).toBe(4);
  const rest = [];
  for (let item = await reader.next(); !item.done; item = await reader.next()) rest.push(item.value);
  expect(rest).toEqual([2, 3, 4, 5, 6, 'result']);
});

test('a request inside the loop over a stream', async () => {
  const { client } = await pageWith(count, { batchSize: 8 });
  await using _ = client;
  const answers: unknown[] = [];
  for await (const chunk of client.stream(3 as never)) answers.push(chunk, await client.predict(0 as never));
  expect(answers).toEqual([1, 'sum 0', 2, 'sum 0', 3, 'sum 0', 'sum 6', 'sum 0']);
});

test('leaving the loop aborts the request, and the handler sees it', async () => {
  const seen: string[] = [];
  const { client } = await pageWith(async (chunks, context) => {
    context.signal.addEventListener('abort', () => seen.push('signal'));
    try {
      return await count(chunks, context);
    } catch (error) {
      seen.push((error as TabServeError).code);
      throw error;
    }
  });
  await using _ = client;
  for await (const chunk of client.stream(100 as never)) if (chunk === 2) break;
  await until(() => seen.length === 2);
  expect(seen.toSorted()).toEqual(['aborted', 'signal']);
  expect(await client.predict(1 as never)).toBe('sum 1');
});

test('abort, timeout and dispose end a stream at once, whatever has arrived', async () => {
  for (const way of ['aborted', 'timeout', 'disposed'] as const) {
    const { client } = await pageWith(count);
    const abort = new AbortController();
    const reader = stream(client, 100, { signal: abort.signal, ...(way === 'timeout' && { timeout: 60 }) });
    expect(await reader.next()).toEqual({ done: false, value: 1 });
    if (way === 'aborted') abort.abort();
    if (way === 'disposed') await client.dispose();
    if (way === 'timeout') await new Promise((resolve) => setTimeout(resolve, 80));
    await expect(reader.next()).rejects.toMatchObject({ code: way });
    expect(await reader.next()).toEqual({ done: true, value: undefined });
    await client.dispose();
  }
});

test('aborted while it is read, and before it is read', async () => {
  const never = gate();
  const { client } = await pageWith(async () => await never.passed);
  await using _ = client;
  const abort = new AbortController();
  const pending = readToFailure(client.stream(1 as never, { signal: abort.signal }));
  abort.abort();
  expect(await pending).toEqual({ items: [], code: 'aborted' });
  expect(await readToFailure(client.stream(1 as never, { signal: abort.signal }))).toEqual({
    items: [],
    code: 'aborted',
  });
  // return() ends a pending next() too.
  const reader = stream(client, 1);
  const next = reader.next();
  await reader.return!();
  expect(await next).toEqual({ done: true, value: undefined });
  never.open();
});

test("the error of a stream that its own signal has aborted says that it was the signal, with the signal's reason", async () => {
  const never = gate();
  const { client } = await pageWith(async () => await never.passed);
  await using _ = client;
  for (const [reason, message] of [
    [new DOMException('The user left.', 'AbortError'), "The stream's signal ended it: The user left."],
    ['the user left', "The stream's signal ended it: The call was aborted."],
  ] as const) {
    const abort = new AbortController();
    const next = stream(client, 1, { signal: abort.signal }).next();
    abort.abort(reason);
    await expect(next).rejects.toMatchObject({ code: 'aborted', message, cause: reason });
  }
  never.open();
});

test('a handler that fails after some parts: the parts, and then the error', async () => {
  const { client } = await pageWith(async (chunks, context) => {
    await count(chunks, context);
    throw new PredictionError('invalid-input', 'no more');
  });
  await using _ = client;
  expect(await readToFailure(client.stream(2 as never))).toEqual({ items: [1, 2], code: 'invalid-input' });
});

test('a part that cannot be cloned fails the row; a part is a snapshot, and is transferred if it is marked', async () => {
  let after = -1;
  const { client } = await pageWith(async (_, context) => {
    const list = [1];
    await context.send(0, list);
    list.push(2);
    const data = new Uint8Array([7]);
    await context.send(0, transferResult({ data }, [data.buffer]));
    after = data.length;
    await context.send(0, () => {});
    return 'never';
  });
  await using _ = client;
  const { items, code } = await readToFailure(client.stream(1 as never));
  expect(items).toEqual([[1], { data: new Uint8Array([7]) }]);
  expect(code).toBe('not-cloneable');
  expect(after).toBe(0);
});

test('a part that cannot be cloned and is not awaited fails the row too, whether it waits for room or not', async () => {
  const rejections: unknown[] = [];
  const reject = (reason: unknown): void => void rejections.push(reason);
  process.on('unhandledRejection', reject);
  for (const before of [0, 40]) {
    const { client } = await pageWith(async (_, context) => {
      for (let chunk = 0; chunk < before; chunk++) void context.send(0, chunk);
      void context.send(0, () => {});
      return 'result';
    });
    await using _ = client;
    const { items, code } = await readToFailure(client.stream(1 as never));
    expect(items).toHaveLength(before);
    expect(code).toBe('not-cloneable');
  }
  process.off('unhandledRejection', reject);
  expect(rejections).toEqual([]);
});

test('parts that are not awaited arrive in order, before the result; a part after the result is refused', async () => {
  let late: Promise<unknown> | undefined;
  const { client } = await pageWith(async (chunks, context) => {
    for (let chunk = 1; chunk <= chunks; chunk++) void context.send(0, chunk);
    late = new Promise((resolve) => setTimeout(resolve, 500)).then(() => context.send(0, 'late'));
    late.catch(() => {});
    return 'result';
  });
  await using _ = client;
  expect(await readAll(client.stream(6 as never))).toEqual([1, 2, 3, 4, 5, 6, 'result']);
  await expect(late).rejects.toMatchObject({ code: 'handler-failed' });
});

test('a lost worker: before a part was read, the answer starts again; after it, it fails', async () => {
  const workers: HostWorker[] = [];
  let runs = 0;
  const held = gate();
  const behave: Behavior = async (chunks, context) => {
    runs += 1;
    if (runs === 1) {
      await context.send(0, 'of the lost worker');
      await held.passed;
    }
    return await count(chunks, context);
  };
  const page = await pageWith(behave);
  workers.push(...page.workers);
  const { client } = page;
  await using _ = client;
  const reader = stream(client, 2);
  // The first chunk has arrived, but only when it is read is it too late to start again: nobody reads yet.
  const first = reader.next();
  expect(await first).toEqual({ done: false, value: 'of the lost worker' });
  page.workers.at(-1)!.crash();
  await expect(reader.next()).rejects.toMatchObject({
    code: 'worker-lost',
    message: expect.stringContaining('middle'),
  });
  held.open();

  let started = 0;
  const other = await pageWith(async (chunks, context) => {
    started += 1;
    if (started === 1) await new Promise(() => {});
    return await count(chunks, context);
  });
  await using __ = other.client;
  const answer = readAll(other.client.stream(3 as never));
  await until(() => started === 1);
  other.workers.at(-1)!.crash();
  expect(await answer).toEqual([1, 2, 3, 'sum 6']);
});

test('a stream is read once; options are checked when it is read', async () => {
  const { client } = await pageWith(count);
  await using _ = client;
  const items = client.stream(1 as never);
  await readAll(items);
  await expect(readAll(items)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('Ask the client for another one'),
  });
  expect(await readToFailure(client.stream(1 as never, { timeout: -1 }))).toEqual({ items: [], code: 'invalid-input' });
});

test('many streams at once on one worker, each with its own parts: Node warns of no leak', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on('warning', note);
  const { client } = await pageWith(count, { batchSize: 4 });
  await using _ = client;
  const all = await Promise.all(Array.from({ length: 20 }, (_, chunks) => readAll(client.stream(chunks as never))));
  for (const [chunks, items] of all.entries())
    expect(items).toEqual([
      ...Array.from({ length: chunks }, (_, index) => index + 1),
      `sum ${(chunks * (chunks + 1)) / 2}`,
    ]);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('tests of handlers: a context collects the parts, and stream returns them with the result', async () => {
  class Letters extends BaseHandler {
    declare readonly partType?: string;
    override async postprocess(_outputs: unknown, context: Context): Promise<readonly string[]> {
      for (const letter of ['a', 'b']) await context.send(0, letter);
      return ['c'];
    }
  }
  const handler = await createTestHandler(Letters, { outputs: { y: [[1]] } });
  const input = { dtype: 'float32', data: new Float32Array(1), dims: [1] } as const;
  expect(await handler.stream(input)).toEqual(['a', 'b', 'c']);
  const context = createTestContext();
  await context.send(0, { letter: 'a' });
  expect(context.parts).toEqual([{ index: 0, part: { letter: 'a' } }]);
  await expect(context.send(1, 'b')).rejects.toMatchObject({ code: 'handler-failed' });
});
