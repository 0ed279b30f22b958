import { expect, test } from '@playwright/test';
import { BufferedBodies } from '../../../../../src/server/node/http/buffered-bodies.ts';

test('BufferedBodies: the oldest body is evicted when all hold too much; one alone never is', () => {
  const bodies = new BufferedBodies(100);
  const evicted: string[] = [];
  const begin = (name: string): ReturnType<BufferedBodies['begin']> =>
    bodies.begin(({ status, code }) => evicted.push(`${name} ${status} ${code}`));
  const first = begin('first');
  first.add(150);
  expect(evicted).toEqual([]);
  first.end();
  const second = begin('second');
  const third = begin('third');
  second.add(60);
  third.add(40);
  expect(evicted, 'as much as the limit').toEqual([]);
  third.add(1);
  expect(evicted).toEqual(['second 503 queue-full']);
  // What an evicted body still gets, and its end, count no more.
  second.add(1000);
  second.end();
  const fourth = begin('fourth');
  fourth.add(59);
  expect(evicted).toHaveLength(1);
  fourth.add(1);
  expect(evicted).toEqual(['second 503 queue-full', 'third 503 queue-full']);
});
