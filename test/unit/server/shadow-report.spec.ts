import { expect, test } from '@playwright/test';
import { ShadowStatistics } from '../../../src/server/shadow-report.ts';

const answer = (label: string): object => [{ label, score: 0.9 }];

test('pairs of labels are counted, the most frequent first; of different ones, the first hundred', () => {
  const statistics = new ShadowStatistics();
  for (let at = 0; at < 150; at++) statistics.compare(answer('cat'), answer(`dog ${at}`));
  for (let at = 0; at < 3; at++) statistics.compare(answer('cat'), answer('dog 99'));
  statistics.compare(answer('cat'), answer('dog 100'));
  statistics.compare(answer('cat'), answer('cat'));
  const { compared, disagreed, labels } = statistics.report('animals', '2.0');
  expect({ compared, disagreed }).toEqual({ compared: 155, disagreed: 154 });
  expect(labels).toHaveLength(100);
  expect(labels[0]).toEqual({ default: 'cat', shadow: 'dog 99', count: 4 });
  expect(labels.slice(1).every(({ count }) => count === 1)).toBe(true);
});
