import { expect, test } from '@playwright/test';
import { CoreBudget } from '../../../../src/page/workers/budget.ts';

test('cores are reserved up to the last one, and released once, however often the release is called', () => {
  const cores = new CoreBudget(4);
  const release = cores.reserve(3, { must: false })!;
  expect(cores.reserve(2, { must: false })).toBeUndefined();
  expect(cores.reserve(1, { must: false })).toBeDefined();
  release();
  release();
  // Three are free, and not six.
  expect(cores.reserve(4, { must: false })).toBeUndefined();
  const again = cores.reserve(3, { must: false });
  expect(again).toBeDefined();
  // Whoever must have cores gets more than there are, and they count.
  cores.reserve(2, { must: true });
  again!();
  expect(cores.reserve(2, { must: false })).toBeUndefined();
  expect(cores.reserve(1, { must: false })).toBeDefined();
});
