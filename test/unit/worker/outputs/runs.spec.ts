import { expect, test } from '@playwright/test';
import { runMask } from '../../../../src/worker/outputs/runs.ts';

/** Reads a picture of a mask: `#` is in it. */
function mask(...lines: readonly string[]): ReturnType<typeof runMask> {
  return runMask(lines[0]!.length, lines.length, (index) => lines.join('')[index] === '#');
}

test('a mask as runs of pixels, with the smallest box around them', () => {
  expect(mask('.....', '.##..', '.#.#.', '.....')).toEqual({
    mask: { width: 5, height: 4, runs: Uint32Array.of(6, 2, 11, 1, 13, 1) },
    box: { xmin: 1, ymin: 1, xmax: 4, ymax: 3 },
  });
  // A run may go on in the next line.
  expect(mask('.##', '##.')).toEqual({
    mask: { width: 3, height: 2, runs: Uint32Array.of(1, 4) },
    box: { xmin: 0, ymin: 0, xmax: 3, ymax: 2 },
  });
  expect(mask('...')).toBeUndefined();
});
