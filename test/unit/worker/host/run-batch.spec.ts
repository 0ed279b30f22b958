// A batch in the worker: which failures are tried again row by row, and which fail the batch. The lists of codes are
// written out here on purpose.
import { expect, test } from '@playwright/test';
import { ERROR_CODES, PredictionError, TabServeError, type ErrorCode } from '../../../../src/contract/errors.ts';
import { runBatch } from '../../../../src/worker/host/run-batch.ts';
import type { Context, Handler } from '../../../../src/contract/handler.ts';
import { cloneSafe } from '../../../../src/worker/host/endpoint.ts';
import { Recorder } from '../../../../src/worker/host/recorder.ts';

/** No row can have caused these: the rows are not tried alone. */
const NOT_RETRIED = ['worker-lost', 'device-lost', 'out-of-memory', 'aborted', 'not-initialized', 'disposed'];
/** If every row fails alone with one of these, the batch fails. */
const FAIL_THE_BATCH = ['batch-contract', 'model-config'];

/** Runs three rows. Returns the outcomes, and the sizes of the batches that the handler got. */
async function run(
  handle: (rows: readonly unknown[]) => unknown[],
  { quantizesAtRunTime = false, runsRowsAlone = false } = {},
): Promise<{ outcome: unknown; sizes: number[] }> {
  const sizes: number[] = [];
  const handler = {
    runsRowsAlone,
    handle(rows: readonly unknown[]) {
      sizes.push(rows.length);
      return Promise.resolve().then(() => handle(rows));
    },
  } as unknown as Handler;
  const environment = {
    modelDir: '',
    manifest: { model: { modelName: 'm' } },
    config: {},
    quantizesAtRunTime,
  } as never;
  const runner = { handler, environment, metrics: new Recorder(), signal: new AbortController().signal };
  const request = { id: 'b', request: 'predict', rows: [0, 1, 2], ids: ['a', 'b', 'c'], params: [{}, {}, {}] } as const;
  const outcome = await runBatch(request, runner).then(
    ({ rows }) => rows.map((row) => (row.ok ? row.value : (row.error as { code: string }).code)),
    (error: unknown) => (error as TabServeError).code,
  );
  return { outcome, sizes };
}

for (const code of Object.keys(ERROR_CODES) as ErrorCode[])
  test(`a batch of which every row fails with ${code}`, async () => {
    const { outcome, sizes } = await run(() => {
      throw new TabServeError(code, 'no');
    });
    expect(sizes).toEqual(NOT_RETRIED.includes(code) ? [3] : [3, 1, 1, 1]);
    expect(outcome).toEqual([...NOT_RETRIED, ...FAIL_THE_BATCH].includes(code) ? code : [code, code, code]);
  });

test('one bad row fails alone, also with a code that blames the handler', async () => {
  for (const code of ['invalid-input', 'batch-contract', 'model-config', 'handler-failed'] as const) {
    const { outcome, sizes } = await run((rows) => {
      if (rows.includes(1)) throw new TabServeError(code, 'no');
      return rows.map((row) => `answer ${String(row)}`);
    });
    expect(outcome).toEqual(['answer 0', code, 'answer 2']);
    expect(sizes).toEqual([3, 1, 1, 1]);
  }
});

test('a model that quantizes at run time gets one row at a time, unless its handler runs each row alone', async () => {
  const answer = (rows: readonly unknown[]): unknown[] => rows.map((row) => `${String(row)} of ${rows.length}`);
  const quantizes = { quantizesAtRunTime: true };
  expect(await run(answer, quantizes)).toEqual({ outcome: ['0 of 1', '1 of 1', '2 of 1'], sizes: [1, 1, 1] });
  expect((await run(answer, { ...quantizes, runsRowsAlone: true })).sizes).toEqual([3]);
  const failing = (code: ErrorCode, bad: readonly number[]) => (rows: readonly unknown[]) => {
    if (bad.includes(rows[0] as number)) throw new TabServeError(code, 'no');
    return answer(rows);
  };
  expect((await run(failing('model-config', [1]), quantizes)).outcome).toEqual(['0 of 1', 'model-config', '2 of 1']);
  expect(await run(failing('model-config', [0, 1, 2]), quantizes)).toEqual({
    outcome: 'model-config',
    sizes: [1, 1, 1],
  });
  expect(await run(failing('device-lost', [1]), quantizes)).toEqual({ outcome: 'device-lost', sizes: [1, 1] });
});

test('two rows that share one result object get an object each', async () => {
  const shared = { label: 'cat' };
  const { outcome } = await run((rows) => rows.map(() => shared));
  expect(outcome).toEqual([shared, shared, shared]);
  expect(new Set(outcome as object[]).size).toBe(3);
});

test('a place of the list that the handler has not set is undefined', async () => {
  const { outcome } = await run(() => {
    const results = Array<unknown>(3);
    results[1] = 'answer';
    return results;
  });
  expect(outcome).toStrictEqual([undefined, 'answer', undefined]);
});

test('a handler that returns more or fewer results than rows', async () => {
  expect(await run(() => [])).toEqual({ outcome: 'batch-contract', sizes: [3, 1, 1, 1] });
});

test.describe('states of sequences', () => {
  /** Runs rows of sequences; the handler gets the context. */
  async function runStates(
    handle: (rows: readonly unknown[], context: Context) => unknown[],
    sequenceIds: readonly (string | undefined)[] = ['x', 'y', 'z'],
    states: readonly unknown[] = sequenceIds.map((id) => id && `old ${id}`),
  ): Promise<Pick<Awaited<ReturnType<typeof runBatch>>, 'rows' | 'states'>> {
    const handler = { handle: async (rows: readonly unknown[], context: Context) => handle(rows, context) };
    const environment = { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {} } as never;
    const { signal } = new AbortController();
    const runner = { handler: handler as unknown as Handler, environment, metrics: new Recorder(), signal };
    const rows = [0, 1, 2];
    const more = { ids: ['a', 'b', 'c'], params: [{}, {}, {}], sequenceIds, states };
    return await runBatch({ request: 'predict', rows, ...more }, runner);
  }

  function setAll(rows: readonly unknown[], context: Context): unknown[] {
    return rows.map((row, index) => {
      context.setState(index, `new ${context.sequenceId(index)}`);
      return [row, context.sequenceId(index), context.state(index)];
    });
  }

  test('each row gets its own, and what the handler sets goes back', async () => {
    const { rows, states } = await runStates(setAll);
    expect(rows.map((row) => row.ok && row.value)).toEqual([
      [0, 'x', 'old x'],
      [1, 'y', 'old y'],
      [2, 'z', 'old z'],
    ]);
    expect(states).toEqual(['new x', 'new y', 'new z']);
  });

  test('a row of no sequence has none, and a state that is not set stays as it was', async () => {
    expect((await runStates(setAll, ['x', undefined, 'z'])).states).toEqual(['new x', undefined, 'new z']);
    expect((await runStates((rows) => [...rows])).states).toEqual([undefined, undefined, undefined]);
  });

  test('a row that fails keeps its state, and the others’ are set by their run alone', async () => {
    const failed = await runStates((rows, context) => {
      const results = setAll(rows, context);
      if (rows.includes(1)) throw new TabServeError('invalid-input', 'no');
      return results;
    });
    expect(failed.rows.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(failed.states).toEqual(['new x', undefined, 'new z']);
    const returned = await runStates((rows, context) =>
      setAll(rows, context).map((row, index) => (index === 1 ? new PredictionError('invalid-input', 'no') : row)),
    );
    expect(returned.states).toEqual(['new x', undefined, 'new z']);
  });

  test('rows that run again get the states as they were, whatever the batch has done to them', async () => {
    const add = (rows: readonly unknown[], context: Context): unknown[] =>
      rows.map((row, index) => {
        if (row === 2) throw new TabServeError('invalid-input', 'no');
        const state = context.state(index) as { sum: number };
        state.sum += 1;
        context.setState(index, state);
        return state.sum;
      });
    const { rows, states } = await runStates(add, ['x', 'y', 'z'], [{ sum: 10 }, { sum: 20 }, { sum: 30 }]);
    expect(rows.map((row) => row.ok && row.value)).toEqual([11, 21, false]);
    expect(states).toEqual([{ sum: 11 }, { sum: 21 }, undefined]);
  });

  test('the state is no part of the result, and a result that cannot be cloned leaves the state as it was', async () => {
    const both = { sums: Float32Array.of(1) };
    const shared = await runStates((rows, context) => rows.map((_, index) => (context.setState(index, both), both)));
    // As the page gets it.
    const { rows, states } = structuredClone(shared);
    for (const row of rows) (row as { value: typeof both }).value.sums[0] = 100;
    expect(states).toEqual([both, both, both]);
    const result = { not: () => {} };
    const failing = await runStates((given, context) => {
      setAll(given, context);
      return [0, result, result];
    });
    expect(failing.rows[2]!.ok).toBe(false);
    expect(failing.states![2]).toBe(undefined);
  });

  test('a state that cannot be cloned fails its row, and no other', async () => {
    const { rows, states } = await runStates((given, context) => {
      setAll(given, context);
      context.setState(1, () => {});
      return [...given];
    });
    const { port1, port2 } = new MessageChannel();
    const received = new Promise<{ value: { value: { rows: { ok: boolean }[]; states: unknown[] } } }>((resolve) =>
      port2.addEventListener('message', ({ data }) => resolve(data as never)),
    );
    port2.start();
    cloneSafe(port1).postMessage({ value: { ok: true, value: { rows, states } } });
    const { value } = (await received).value;
    expect(value.rows.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(value.states).toEqual(['new x', undefined, 'new z']);
    port1.close();
  });
});

test('a heartbeat of a handler reaches the host with the context of its batch', async () => {
  const beats: unknown[] = [];
  const environment = {
    modelDir: '',
    manifest: { model: { modelName: 'm' } },
    config: {},
    onHeartbeat: (context: Context) => void beats.push(context.metrics),
  } as never;
  const metrics = new Recorder();
  const handler = { handle: async (rows: readonly unknown[], context: Context) => (context.heartbeat(), rows) };
  const request = { id: 'b', request: 'predict', rows: [0], ids: ['a'], params: [{}] } as const;
  const { signal } = new AbortController();
  await runBatch(request, { handler: handler as unknown as Handler, environment, metrics, signal });
  expect(beats).toEqual([metrics]);
});

test('infer: the model runs on the rows as they are, and no stage of the handler', async () => {
  const ran: unknown[] = [];
  const outputs = { y: { dtype: 'float32', dims: [1], data: new Float32Array([2]) } } as const;
  const model = { run: async (feeds: unknown) => (ran.push(feeds), outputs) };
  const infer = async (handler: object, rows: readonly unknown[]): Promise<unknown> => {
    const environment = { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {} } as never;
    const metrics = new Recorder();
    const runner = { handler: handler as Handler, environment, metrics, signal: new AbortController().signal };
    const request = { id: 'b', request: 'infer', rows, ids: ['a'], params: [{}] } as const;
    const { rows: answers, transferables } = await runBatch(request, runner);
    return { answers, transferables, timings: Object.keys(metrics.timings) };
  };
  const feeds = { x: { dtype: 'float32', dims: [1], data: new Float32Array([1]) } };
  const handle = (): never => {
    throw new Error('no stage runs');
  };
  expect(await infer({ model, handle }, [feeds])).toEqual({
    answers: [{ ok: true, value: outputs }],
    transferables: [outputs.y.data.buffer],
    timings: ['inference'],
  });
  expect(ran).toEqual([feeds]);
  class Reader {
    handle = handle;
  }
  await expect(infer(new Reader(), [feeds])).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringMatching(/^Reader has no model of its own/) as unknown,
  });
  for (const bad of [null, 'text', { x: [1, 2] }, { x: null }])
    await expect(infer({ model }, [bad])).rejects.toMatchObject({ code: 'invalid-input', stage: 'inference' });
});
