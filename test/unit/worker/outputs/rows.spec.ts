import { expect, test } from '@playwright/test';
import type { Tensor } from '../../../../src/contract/tensors.ts';
import { rowPart } from '../../../../src/worker/outputs/rows.ts';

const output = (...dims: readonly number[]): Tensor => {
  const size = dims.reduce((product, side) => product * side, 1);
  return { dtype: 'float32', dims, data: Float32Array.from({ length: size }, (_, at) => at) };
};

test('what an output holds for a row; that of one row may lack the batch axis', () => {
  expect(rowPart('y', output(2, 3), 1, 2)).toEqual({ dtype: 'float32', dims: [3], data: Float32Array.of(3, 4, 5) });
  expect(rowPart('y', output(1, 3), 0, 1).dims).toEqual([3]);
  expect(rowPart('y', output(2, 3), 0, 1).dims).toEqual([2, 3]);
  expect(() => rowPart('y', output(3), 0, 2)).toThrow(/the first axis must have the size 2/);
});
