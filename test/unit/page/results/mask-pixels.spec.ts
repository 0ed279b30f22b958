import { expect, test } from '@playwright/test';
import { maskPixels } from '../../../readme/mask-pixels.ts';

test('a mask as bytes: a run may go on in the next row', () => {
  expect(maskPixels({ width: 3, height: 2, runs: Uint32Array.of(0, 1, 2, 2, 5, 1) })).toEqual(
    Uint8Array.of(1, 0, 1, 1, 0, 1),
  );
});
