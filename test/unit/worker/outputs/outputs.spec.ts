import { expect, test } from '@playwright/test';
import { fromFloat16, toFloat16 } from '../../../../src/worker/tensors/float16.ts';
import { softmax, topK } from '../../../../src/worker/outputs/scores.ts';
import { concat, from as tensor, row, slice, stack } from '../../../../src/worker/tensors/tensors.ts';

/** Where two arrays begin to differ; undefined if they do not. `toEqual` takes seconds for as many numbers. */
function difference(actual: ArrayLike<number>, expected: ArrayLike<number>): string | undefined {
  if (actual.length !== expected.length) return `${actual.length} elements instead of ${expected.length}`;
  for (let at = 0; at < expected.length; at++)
    if (!Object.is(actual[at], expected[at])) return `${actual[at]} instead of ${expected[at]} at ${at}`;
  return undefined;
}

test('float16: every bit pattern survives, and rounding is to the nearest, ties to even', () => {
  const all = Uint16Array.from({ length: 65536 }, (_, bits) => bits).filter(
    (bits) => (bits & 0x7c00) !== 0x7c00 || (bits & 0x3ff) === 0,
  );
  expect(difference(toFloat16(fromFloat16(all)) as Uint16Array, all)).toBeUndefined();
  // Reference: between two neighbors a number takes the nearer one, in the middle the even one.
  const lows = Uint16Array.from({ length: Math.ceil(0x7bff / 7) }, (_, index) => index * 7);
  const low = fromFloat16(lows) as Float32Array;
  const high = fromFloat16(lows.map((bits) => bits + 1)) as Float32Array;
  const rounded = (eighths: number): Uint16Array =>
    toFloat16(
      low.map((value, index) => (value + high[index]!) / 2 + ((high[index]! - value) * eighths) / 8),
    ) as Uint16Array;
  expect(difference(rounded(-1), lows)).toBeUndefined();
  expect(
    difference(
      rounded(0),
      lows.map((bits) => bits + (bits % 2)),
    ),
  ).toBeUndefined();
  expect(
    difference(
      rounded(1),
      lows.map((bits) => bits + 1),
    ),
  ).toBeUndefined();
  expect([...toFloat16(Float32Array.of(65519.99, 65520, 1e30, -1e30, 1e-30, -0))]).toEqual([
    0x7bff, 0x7c00, 0x7c00, 0xfc00, 0, 0x8000,
  ]);
  expect(fromFloat16(toFloat16(Float32Array.of(NaN)))[0]).toBeNaN();
});

test('softmax: large logits, equal logits, one logit', () => {
  expect([...softmax([1000, 1000])]).toEqual([0.5, 0.5]);
  expect([...softmax([-1000])]).toEqual([1]);
  expect(softmax([0, Math.log(3)])[1]).toBeCloseTo(0.75, 15);
});

test('top-k: falling, the lower index first among equals, no more than there are', () => {
  expect(topK(Float32Array.of(1, 3, 2, 3), 3).map(({ index }) => index)).toEqual([1, 3, 2]);
  expect(topK([1], 5)).toEqual([{ index: 0, score: 1 }]);
});

test('tensors: stacking, taking rows, joining', () => {
  const a = tensor({ data: Float32Array.of(1, 2), dims: [2] });
  const b = tensor({ data: Float32Array.of(3, 4), dims: [2] });
  const both = stack([a, b]);
  expect(both).toEqual({ dtype: 'float32', dims: [2, 2], data: Float32Array.of(1, 2, 3, 4) });
  expect(row(both, 1)).toEqual(b);
  expect(concat([both, slice(both, 0, 1)]).dims).toEqual([3, 2]);
  expect(stack([a]).data).toBe(a.data);
  expect(tensor({ data: new Uint8ClampedArray([1]), dims: [1] })).toMatchObject({ dtype: 'uint8' });
  expect(
    stack([
      { dtype: 'string', dims: [1], data: ['a'] },
      { dtype: 'string', dims: [1], data: ['b'] },
    ]).data,
  ).toEqual(['a', 'b']);
  expect(() => stack([a, tensor({ data: new Int32Array(2), dims: [2] })])).toThrow(
    expect.objectContaining({ code: 'invalid-input' }),
  );
  for (const wrong of [undefined, null, 7, [1, 2], {}, { data: new Float32Array(1), dims: 1 }])
    expect(() => tensor(wrong as never)).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: expect.stringContaining('Expected a tensor, { data, dims }, got'),
      }),
    );
  expect(() => tensor({ data: new Float32Array(3), dims: [2] })).toThrow(
    expect.objectContaining({ code: 'invalid-input' }),
  );
});
