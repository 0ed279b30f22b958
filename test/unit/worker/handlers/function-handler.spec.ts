// A function in place of a class, as TorchServe takes one: `handle(data, context)`.
import { expect, test } from '@playwright/test';
import { createTestHandler, functionHandler } from 'tabserve/worker';
import { Largest } from '../../../readme/largest.worker.ts';

test('a function answers a batch, a row that it fails fails alone, and the class has its name', async () => {
  expect(Largest.name).toBe('largest');
  const handler = await createTestHandler(Largest, {
    inputs: [{ name: 'x', dtype: 'float32', dims: [1, 'n'] }],
    outputs: ({ x }) => ({ y: [[...(x!.data as Float32Array)].map((value) => value * 2)] }),
  });
  expect(await handler.predict([1, 5, 3])).toBe(10);
  expect(await handler.handle([{ data: [1] }, { body: [4, 2] }])).toEqual([2, 8]);

  const failing = functionHandler((data: readonly unknown[], context) => {
    context.fail(1, new Error('no numbers'));
    return data;
  });
  const [first, second] = await (await createTestHandler(failing, { outputs: { y: [[1]] } })).handle([1, 2]);
  expect(first).toBe(1);
  expect(second).toMatchObject({ name: 'PredictionError', message: expect.stringContaining('no numbers') });
});

test('a function that returns another number of results is refused', async () => {
  const none = functionHandler((): number[] => []);
  const handler = await createTestHandler(none, { outputs: { y: [[1]] } });
  await expect(handler.handle([[1], [2]])).rejects.toMatchObject({ code: 'batch-contract' });
});
