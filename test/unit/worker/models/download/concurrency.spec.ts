import { expect, test } from '@playwright/test';
import { limitConcurrency } from '../../../../../src/worker/models/download/concurrency.ts';
import { settle } from '../../../support/fake-clock.ts';

test('the given number of pieces of work run at once and no more, in their order', async () => {
  const limit = limitConcurrency(2);
  const events: string[] = [];
  const finish: (() => void)[] = [];
  const work = (name: string, signal?: AbortSignal): Promise<void> =>
    limit(async () => {
      events.push(name);
      await new Promise<void>((resolve) => finish.push(resolve));
    }, signal);
  const all = ['a', 'b', 'c', 'd'].map((name) => work(name));
  const abort = new AbortController();
  const dropped = work('dropped', abort.signal);
  all.push(work('e'));
  await settle();
  expect(events).toEqual(['a', 'b']);
  abort.abort();
  await expect(dropped).rejects.toMatchObject({ code: 'aborted' });
  for (const running of [
    ['a', 'b', 'c'],
    ['a', 'b', 'c', 'd'],
    ['a', 'b', 'c', 'd', 'e'],
  ]) {
    finish.shift()!();
    await settle();
    expect(events).toEqual(running);
  }
  for (const end of finish) end();
  await Promise.all(all);
  // All places are free again.
  finish.length = 0;
  const later = [work('f'), work('g'), work('h')];
  await settle();
  expect(events.slice(5)).toEqual(['f', 'g']);
  finish.shift()!();
  await settle();
  for (const end of finish) end();
  await Promise.all(later);
});
