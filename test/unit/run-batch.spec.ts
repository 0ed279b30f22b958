// A batch in the worker: which failures are tried again row by row, and which fail the batch. The lists of codes are written out here on purpose.
import { expect, test } from '@playwright/test';
import { ERROR_CODES, TabServeError, type ErrorCode } from '../../src/contract/errors.ts';
import { runBatch } from '../../src/worker/run-batch.ts';
import type { Handler } from '../../src/contract/handler.ts';
import { Recorder } from '../../src/worker/recorder.ts';

/** No row can have caused these: the rows are not tried alone. */
const NOT_RETRIED = ['worker-lost', 'device-lost', 'out-of-memory', 'aborted', 'not-initialized', 'disposed'];
/** If every row fails alone with one of these, the batch fails. */
const FAIL_THE_BATCH = ['batch-contract', 'model-config'];

/** Runs three rows. Returns the outcomes, and the sizes of the batches that the handler got. */
async function run(handle: (rows: readonly unknown[]) => unknown[]): Promise<{ outcome: unknown; sizes: number[] }> {
  const sizes: number[] = [];
  const handler = {
    handle(rows: readonly unknown[]) {
      sizes.push(rows.length);
      return Promise.resolve().then(() => handle(rows));
    },
  } as unknown as Handler;
  const environment = { modelDir: '', manifest: { model: { modelName: 'm' } }, config: {} } as never;
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

test('two rows that share one result object get an object each', async () => {
  const shared = { label: 'cat' };
  const { outcome } = await run((rows) => rows.map(() => shared));
  expect(outcome).toEqual([shared, shared, shared]);
  expect(new Set(outcome as object[]).size).toBe(3);
});

test('a handler that returns more or fewer results than rows', async () => {
  expect(await run(() => [])).toEqual({ outcome: 'batch-contract', sizes: [3, 1, 1, 1] });
});
