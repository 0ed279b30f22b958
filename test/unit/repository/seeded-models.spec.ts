import { gzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import { fill } from '../../models/tasks/fill.ts';

// What NumPy has: `draw("w", (2, 3), 7, 0.5196)` of test/models/tasks/make/seeded.py, and its `.T`.
const SEEDED = { seed: 35190517, dims: [2, 3], scale: 0.5196 };
const ROWS = 'fa53c7bd8850333ee20ede3e4deb6b3e77cb763dbf29d73d';
const COLUMNS = 'fa53c7bd4deb6b3e8850333e77cb763de20ede3ebf29d73d';

test('weights of a seed are those of Python, where the file has zeros', () => {
  const stored = gzipSync(Buffer.from(`abc${'\0'.repeat(24)}${'\0'.repeat(24)}z`));
  const model = fill(stored, [
    { at: 3, ...SEEDED },
    { at: 27, ...SEEDED, transposed: true },
  ]);
  const hex = (text: string): string => Buffer.from(text).toString('hex');
  expect(Buffer.from(model).toString('hex')).toBe(hex('abc') + ROWS + COLUMNS + hex('z'));
});
