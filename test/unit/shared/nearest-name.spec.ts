import { expect, test } from '@playwright/test';
import { nearestName } from '../../../src/shared/nearest-name.ts';

test('the nearest name: of equal ones the first, whatever the case; none that differs in more than a third', () => {
  expect(nearestName('topk', ['maxLength', 'topK'])).toBe('topK');
  expect(nearestName('tok', ['tox', 'toz'])).toBe('tox');
  expect(nearestName('toppK', ['tappK', 'topK'])).toBe('tappK');
  expect(nearestName('scoreTreshold', ['scoreThresholds', 'scoreThreshold'])).toBe('scoreThreshold');
  // Two neighboring letters that are swapped are one difference.
  expect(nearestName('lables', ['labels'])).toBe('labels');
  expect(nearestName('abc', ['abd', 'xyz'])).toBe('abd');
  expect(nearestName('abc', ['axy'])).toBeUndefined();
});
