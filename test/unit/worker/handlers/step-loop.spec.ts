// Rows of several requests that take each step together, and leave where their own criterion says.
import { expect, test } from '@playwright/test';
import { createTestHandler, StepLoop, TabServeError } from 'tabserve/worker';
import { Forecaster } from '../../../readme/forecast.worker.ts';

const { signal } = new AbortController();

/** A loop that counts down by one, and the states that each step got. */
function countdown(check: (states: readonly number[]) => void = () => {}) {
  const steps: (readonly number[])[] = [];
  const loop = new StepLoop((states: readonly number[]) => {
    steps.push(states);
    check(states);
    return states.map((state) => state - 1);
  });
  const until = async (start: number, end: number, ends = signal): Promise<number[]> => {
    const seen: number[] = [];
    for await (const state of loop.run(start, ends)) {
      seen.push(state);
      if (state === end) break;
    }
    return seen;
  };
  return { steps, loop, until };
}

test('rows share each step, and each leaves where its own criterion says', async () => {
  const { steps, until } = countdown();
  expect(await Promise.all([until(13, 10), until(23, 22), until(35, 30)])).toEqual([
    [12, 11, 10],
    [22],
    [34, 33, 32, 31, 30],
  ]);
  expect(steps.flat()).toHaveLength(3 + 1 + 5);
  expect(steps.length).toBeLessThan(3 + 1 + 5);
});

test('a row joins those that are under way', async () => {
  const { steps, loop, until } = countdown();
  let joined: Promise<number[]> | undefined;
  for await (const state of loop.run(10, signal)) {
    if (state === 8) joined = until(100, 98);
    if (state === 2) break;
  }
  expect(await joined).toEqual([99, 98]);
  expect(steps.filter(({ length }) => length === 2)).not.toEqual([]);
});

test('a row that a step cannot take fails alone', async () => {
  const { until } = countdown((states) => {
    if (states.includes(20)) throw new RangeError('20');
  });
  const [good, bad] = await Promise.allSettled([until(5, 1), until(22, 1)]);
  expect(good).toEqual({ status: 'fulfilled', value: [4, 3, 2, 1] });
  expect(bad).toMatchObject({ status: 'rejected', reason: { name: 'RangeError', message: '20' } });
});

test('a lost device ends all rows, and no row is tried alone', async () => {
  const { steps, until } = countdown((states) => {
    if (states.length > 1) throw new TabServeError('device-lost', 'It was lost.');
  });
  const settled = await Promise.allSettled([until(5, 1), until(15, 1), until(25, 1)]);
  const lost = settled.filter((one) => one.status === 'rejected');
  expect(lost.length).toBeGreaterThan(1);
  expect(lost).toEqual(
    lost.map(() => ({ status: 'rejected', reason: expect.objectContaining({ code: 'device-lost' }) })),
  );
  // The row that asked first may have run alone before the others were there.
  expect(steps.filter(({ length }) => length > 1)).toHaveLength(1);
});

test('an aborted row leaves, and the others go on', async () => {
  const abort = new AbortController();
  const { loop, until } = countdown();
  const other = until(9, 0);
  const states: number[] = [];
  const aborted = (async () => {
    for await (const state of loop.run(100, abort.signal)) {
      states.push(state);
      abort.abort();
    }
  })();
  await expect(aborted).rejects.toMatchObject({ code: 'aborted' });
  expect(states).toEqual([99]);
  expect(await other).toHaveLength(9);
});

test('a step that returns another number of states is refused', async () => {
  const loop = new StepLoop<number>(() => []);
  await expect(loop.run(1, signal).next()).rejects.toMatchObject({ code: 'batch-contract' });
});

test('a step that returns too many states for several rows is refused: no row is tried alone', async () => {
  const steps: number[] = [];
  const loop = new StepLoop<number>((states) => {
    steps.push(states.length);
    return states.length > 1 ? [...states, 0] : states;
  });
  const settled = await Promise.allSettled([1, 2, 3].map((state) => takeTwo(loop.run(state, signal))));
  expect(settled.map((one) => (one.status === 'rejected' ? one.reason.code : one.value))).toContain('batch-contract');
  expect(steps.filter((length) => length > 1)).toHaveLength(1);
});

async function takeTwo(states: AsyncIterator<number>): Promise<string> {
  await states.next();
  await states.next();
  return 'two';
}

test('an abort that a step throws for one row ends only that row', async () => {
  const { until } = countdown((states) => {
    if (states.includes(20)) throw new TabServeError('aborted', 'The call was aborted.');
  });
  const [good, bad] = await Promise.allSettled([until(5, 1), until(22, 1)]);
  expect(good).toEqual({ status: 'fulfilled', value: [4, 3, 2, 1] });
  expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'aborted' } });
});

test('a handler of one’s own: requests at the same time share the runs of the model', async () => {
  // Of Fibonacci's kind: the next value is the sum of the last two.
  const handler = await createTestHandler(Forecaster, {
    inputs: [{ name: 'x', dtype: 'float32', dims: ['rows', 2] }],
    outputs: ({ x }) => {
      const data = [...(x!.data as Float32Array)];
      return { y: Array.from({ length: data.length / 2 }, (_, row) => [data[row * 2]! + data[row * 2 + 1]!]) };
    },
  });
  const answers = await Promise.all([
    handler.predict([1, 1], { params: { steps: 6 } }),
    handler.predict([5, -6]),
    handler.predict([2, 1], { params: { steps: 4 } }),
  ]);
  expect(answers).toEqual([[2, 3, 5, 8, 13, 21], [-1], [3, 4, 7, 11]]);
  expect(handler.runs.length).toBeLessThan(6 + 1 + 4);
  expect(await handler.stream([1, 1], { params: { steps: 3 } })).toEqual([2, 3, 5, [2, 3, 5]]);
});
