import { expect, test } from '@playwright/test';
import {
  compareLabels,
  compareOutputs,
  findNonFinite,
  GOLDEN_TOLERANCES,
} from '../../../../src/worker/host/compare-outputs.ts';
import type { ExpectedTensor, Tensor } from '../../../../src/contract/tensors.ts';

const f32 = (data: readonly number[], dims: readonly number[] = [data.length]): Tensor => ({
  dtype: 'float32',
  dims,
  data: Float32Array.from(data),
});
const compare = (got: Tensor, expected: ExpectedTensor) => compareOutputs({ y: got }, { y: expected });

test('float32: a thousandth of the largest, and 1e-4', () => {
  const right = f32([0, 100, -200]);
  expect(compare(f32([0.2, 100, -200]), right)).toEqual({ wrong: undefined, error: expect.closeTo(0.2, 5) });
  expect(compare(f32([0, 100, -200.25]), right)).toEqual({
    wrong: expect.stringContaining('off by 0.250 at 2 (-200.25 for -200), allowed is 0.200'),
    error: 0.25,
  });
  expect(compare(f32([0.00009]), f32([0])).wrong).toBeUndefined();
  expect(compare(f32([0.00011]), f32([0])).wrong).toBeDefined();
  // Of several that are equally far off, the first one is named.
  expect(compare(f32([1, 101, -200]), right).wrong).toContain('off by 1.00 at 0');
});

test('float16 by value, with a tolerance of its own', () => {
  const f16 = (...data: number[]): Tensor => ({
    dtype: 'float16',
    dims: [data.length],
    data: Uint16Array.from(data),
  });
  // 0x3c00 is 1, 0x3c01 the next number, 0x3c20 is 1.03125, 0x7e00 and 0x7e01 are both not a number.
  expect(compare(f16(0x3c01, 0x7e01), f16(0x3c00, 0x7e00))).toEqual({ wrong: undefined, error: 2 ** -10 });
  expect(compare(f16(0x3c20), f16(0x3c00))).toMatchObject({
    wrong: expect.stringContaining('off by'),
    error: 0.03125,
  });
  expect(compare(f16(0x8000), f16(0x0000)).wrong).toBeUndefined();
});

test('float64 as float32', () => {
  expect(GOLDEN_TOLERANCES.float64).toEqual(GOLDEN_TOLERANCES.float32);
  expect(
    compare(
      { dtype: 'float64', dims: [1], data: Float64Array.of(1.002) },
      { dtype: 'float64', dims: [1], data: Float64Array.of(1) },
    ).wrong,
  ).toBeDefined();
});

for (const [dtype, right, off] of [
  ['int32', Int32Array.of(5, 7), Int32Array.of(5, 8)],
  ['uint8', Uint8Array.of(5, 7), Uint8Array.of(5, 8)],
  ['bool', Uint8Array.of(1, 0), Uint8Array.of(1, 1)],
  ['int64', BigInt64Array.of(5n, 2n ** 60n), BigInt64Array.of(5n, 2n ** 60n + 1n)],
  ['string', ['tab', 'serve'], ['tab', 'Serve']],
] as const) {
  test(`${dtype}: equal, or wrong`, () => {
    const tensor = (data: typeof right | typeof off): Tensor => ({ dtype, dims: [2], data }) as Tensor;
    expect(compare(tensor(right), tensor(right))).toEqual({ wrong: undefined, error: 0 });
    expect(compare(tensor(off), tensor(right)).wrong).toContain(
      `is ${String(off[1])} at 1, expected ${String(right[1])}`,
    );
  });
}

test('infinite and NaN values must be at the expected positions', () => {
  const right = f32([NaN, Infinity, -Infinity, 1]);
  expect(compare(f32([NaN, Infinity, -Infinity, 1]), right)).toEqual({ wrong: undefined, error: 0 });
  for (const wrong of [
    [0, Infinity, -Infinity, 1],
    [NaN, -Infinity, -Infinity, 1],
    [NaN, 3e38, -Infinity, 1],
    [NaN, Infinity, -Infinity, NaN],
    [NaN, Infinity, -Infinity, Infinity],
  ])
    expect(compare(f32(wrong), right)).toEqual({
      wrong: expect.stringContaining('off by Infinity'),
      error: Infinity,
    });
  // An infinity does not widen what is allowed of the others.
  expect(compare(f32([NaN, Infinity, -Infinity, 1.01]), right).wrong).toContain('off by 0.0100 at 3');
});

test('a sample: only the sampled positions are compared, and differences are reported by their position in the whole tensor', () => {
  const sample: ExpectedTensor = { dtype: 'float32', dims: [2, 3], data: Float32Array.of(0, 2, 4), stride: 2 };
  expect(compare(f32([0, 9, 2, 9, 4, 9], [2, 3]), sample).wrong).toBeUndefined();
  expect(compare(f32([0, 9, 2, 9, 5, 9], [2, 3]), sample).wrong).toContain('at 4 (5 for 4)');
  expect(
    compare(
      { dtype: 'int32', dims: [4], data: Int32Array.of(1, 2, 3, 4) },
      { dtype: 'int32', dims: [4], data: Int32Array.of(1, 4), stride: 2 },
    ).wrong,
  ).toContain('is 3 at 2');
});

test('labels: the place of the largest number in each row, and not the numbers', () => {
  const rows = (...data: number[]): Tensor => ({ dtype: 'float32', dims: [2, 3], data: Float32Array.from(data) });
  const expected = { y: rows(1, 2, 3, 9, 8, 7), n: { dtype: 'int32', dims: [1], data: Int32Array.of(4) } } as const;
  const { n } = expected;
  expect(compareLabels({ y: rows(0, 0, 1, 5, 0, 0), n }, expected)).toEqual({ wrong: undefined, error: 8 });
  expect(compareLabels({ y: rows(1, 2, 3, 8, 9, 7), n }, expected).wrong).toBe(
    'output "y" has its best label at 1 in row 1, expected 0',
  );
  expect(compareLabels({ y: rows(1, 2, 3, 9, NaN, 7), n }, expected).wrong).toContain('is off by Infinity');
  expect(compareLabels({ y: expected.y, n: { ...n, data: Int32Array.of(5) } }, expected).wrong).toContain('is 5 at 0');
  expect(compareLabels({ n }, expected).wrong).toContain('is missing');
  const one = { dtype: 'float32', dims: [3, 1], data: new Float32Array(3) } as const;
  expect(compareLabels({ y: one }, { y: one }).wrong).toMatch(/shows no labels.*one number a row/);
  const sample = { ...one, dims: [3, 100], stride: 100 };
  expect(compareLabels({ y: { ...one, dims: [3, 100], data: new Float32Array(300) } }, { y: sample }).wrong).toMatch(
    /shows no labels.*only a sample/,
  );
});

test('names, dtypes and dims', () => {
  expect(compareOutputs({}, { y: f32([1]) })).toEqual({ wrong: 'output "y" is missing', error: Infinity });
  expect(compare(f32([1, 2], [1, 2]), f32([1, 2], [2, 1])).wrong).toContain('float32 [1, 2], expected float32 [2, 1]');
  expect(compare({ dtype: 'int32', dims: [1], data: Int32Array.of(1) }, f32([1])).wrong).toContain(
    'int32 [1], expected float32 [1]',
  );
  expect(compareOutputs({ y: f32([1]), more: f32([2]) }, { y: f32([1]) })).toEqual({ wrong: undefined, error: 0 });
});

test('the first number that is not finite', () => {
  expect(findNonFinite({ a: f32([1, 2]), b: f32([1, -Infinity]) })).toBe('output "b" is -Infinity at 1');
  expect(findNonFinite({ h: { dtype: 'float16', dims: [1], data: Uint16Array.of(0x7e00) } })).toBe(
    'output "h" is NaN at 0',
  );
  expect(
    findNonFinite({
      i: { dtype: 'int32', dims: [1], data: Int32Array.of(0x7f800000) },
      s: { dtype: 'string', dims: [1], data: ['NaN'] },
    }),
  ).toBeUndefined();
});
