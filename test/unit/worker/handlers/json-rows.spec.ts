import { expect, test } from '@playwright/test';
import type { TensorInfo, Tensors } from '../../../../src/contract/tensors.ts';
import { BaseHandler, createTestHandler, type TestHandlerOptions } from '../../../../src/worker.ts';

/** A handler whose model's only output is the number of its rows; `runs` are its inputs. */
const open = async (inputs: readonly TensorInfo[], more: Partial<TestHandlerOptions> = {}) =>
  await createTestHandler(BaseHandler, {
    inputs,
    outputs: (feeds: Tensors) => ({ n: Array.from({ length: Object.values(feeds)[0]!.dims[0]! }, (_, at) => [at]) }),
    ...more,
  });

const MATRIX = [{ name: 'x', dtype: 'float32', dims: ['batch', 2, 2] }] as const;
const TABLE = [
  { name: 'age', dtype: 'int64', dims: [null, 1] },
  { name: 'job', dtype: 'string', dims: [null, 1] },
  { name: 'weight', dtype: 'float32', dims: ['rows', 1] },
] as const;

test('lists in lists are tensors of the dtype that the model takes, with and without the batch axis', async () => {
  const handler = await open(MATRIX);
  await handler.handle([
    [
      [1, 2],
      [3, 4],
    ],
    {
      x: [
        [
          [5, 6],
          [7, 8],
        ],
      ],
    },
    { data: new Float32Array(4), dims: [2, 2] },
  ] as never);
  expect(handler.runs).toEqual([
    { x: { dtype: 'float32', dims: [3, 2, 2], data: Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0) } },
  ]);
  const half = await open([{ name: 'x', dtype: 'float16', dims: [null, 3] }]);
  await half.handle([[1, -2, 0.5]]);
  // IEEE 754: 1 is 0x3c00, −2 is 0xc000, a half is 0x3800.
  expect(half.runs[0]!['x']!.data).toEqual(Uint16Array.of(0x3c00, 0xc000, 0x3800));
  const bits = await open([{ name: 'x', dtype: 'bool', dims: [null, 2] }]);
  await bits.handle([[true, 0]] as never);
  expect(bits.runs[0]!['x']!.data).toEqual(Uint8Array.of(1, 0));
});

test('the row of a table: a column for each input', async () => {
  const handler = await open(TABLE);
  await handler.handle([
    { age: 41, job: 'nurse', weight: 60.5 },
    { age: [17], job: ['pupil'], weight: [[58]] },
  ] as never);
  expect(handler.runs).toEqual([
    {
      age: { dtype: 'int64', dims: [2, 1], data: BigInt64Array.of(41n, 17n) },
      job: { dtype: 'string', dims: [2, 1], data: ['nurse', 'pupil'] },
      weight: { dtype: 'float32', dims: [2, 1], data: Float32Array.of(60.5, 58) },
    },
  ]);
});

test('what does not fit fails alone, and says where', async () => {
  const matrix = await open(MATRIX);
  const table = await open(TABLE);
  for (const [handler, row, message] of [
    [matrix, [[1, 2], [3]], /"x" is float32 \[2, 2\] in a row, .* does not fit: a list of dim 1 has 1 elements/],
    [
      matrix,
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      /dim 1 has 3 elements, expected 2/,
    ],
    [
      matrix,
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      /its element 0 is "a", which is no FP32/,
    ],
    [
      matrix,
      {
        y: [
          [1, 2],
          [3, 4],
        ],
      },
      /has no input "y"\. The model's inputs are "x"\./,
    ],
    [table, { age: 41, job: 'nurse' }, /The row has no "weight"\. The model's inputs are "age", "job", "weight"\./],
    [table, { age: 41.5, job: 'nurse', weight: 1 }, /"age" is int64 \[1\] in a row, .* its element 0 is 41\.5/],
    [table, { age: 41, job: 7, weight: 1 }, /its element 0 is 7, which is no BYTES/],
    [table, { age: [1, 2], job: 'a', weight: 1 }, /dim 0 has 2 elements, expected 1/],
  ] as const)
    await expect(handler.handle([row] as never), JSON.stringify(row)).rejects.toMatchObject({
      code: 'invalid-input',
      message: expect.stringMatching(message),
    });
});
