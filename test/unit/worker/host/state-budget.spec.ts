// What the handlers of a worker keep between requests: one budget, and who frees what.
import { expect, test } from '@playwright/test';
import type { KeptValues } from '../../../../src/contract/kept-values.ts';
import { IDLE_MS, StateBudget } from '../../../../src/worker/host/state-budget.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function world(maxBytes: number) {
  const clock = new FakeClock();
  const budget = new StateBudget(maxBytes, clock);
  const freed: unknown[] = [];
  const keep = (values: KeptValues, key: unknown, bytes: number): boolean =>
    values.set(key, `value of ${String(key)}`, { bytes, free: () => void freed.push(key) });
  return { clock, budget, freed, keep };
}

test('the least recently used value goes first, whichever handler has left it', () => {
  const { budget, freed, keep } = world(10);
  const [one, other] = [budget.values(), budget.values()];
  keep(one, 'a', 4);
  keep(other, 'b', 4);
  expect(one.get('a')).toBe('value of a');
  keep(other, 'c', 5);
  expect(freed).toEqual(['b']);
  expect([one.has('a'), other.has('b'), other.has('c')]).toEqual([true, false, true]);
  expect(other.get('b')).toBeUndefined();
  // Asking whether it is there is no use.
  expect(one.has('a')).toBe(true);
  keep(one, 'd', 5);
  expect(freed).toEqual(['b', 'a']);
});

test('each handler has keys of its own, and a new value frees the one that it replaces', () => {
  const { budget, freed, keep } = world(100);
  const [one, other] = [budget.values(), budget.values()];
  keep(one, 'key', 40);
  keep(other, 'key', 40);
  expect(freed).toEqual([]);
  keep(one, 'key', 60);
  expect(freed).toEqual(['key']);
  expect([one.has('key'), other.has('key')]).toEqual([true, true]);
  one.delete('key');
  one.delete('key');
  expect(freed).toEqual(['key', 'key']);
  expect(one.get('key')).toBeUndefined();
  // What was deleted takes no room.
  keep(one, 'large', 60);
  expect(other.has('key')).toBe(true);
});

test('a value that alone is too large is freed at once, and frees nothing else; with 0, nothing is kept', () => {
  const { budget, freed, keep } = world(10);
  const values = budget.values();
  keep(values, 'a', 10);
  keep(values, 'b', 11);
  expect(freed).toEqual(['b']);
  expect(values.get('a')).toBe('value of a');
  // It replaces the earlier value of its key all the same.
  keep(values, 'a', 11);
  expect(freed).toEqual(['b', 'a', 'a']);
  expect(values.has('a')).toBe(false);
  const none = new StateBudget(0, new FakeClock()).values();
  none.set('a', 1, { bytes: 1 });
  expect(none.has('a')).toBe(false);
});

test('what nobody has used for five minutes is freed, and no timer is left', async () => {
  const { clock, budget, freed, keep } = world(100);
  const values = budget.values();
  keep(values, 'a', 1);
  await clock.advance(IDLE_MS / 2);
  keep(values, 'b', 1);
  await clock.advance(IDLE_MS / 2 - 1);
  values.get('b');
  expect(freed).toEqual([]);
  await clock.advance(1);
  expect(freed).toEqual(['a']);
  await clock.advance(IDLE_MS - 2);
  expect(freed).toEqual(['a']);
  await clock.advance(1);
  expect(freed).toEqual(['a', 'b']);
  expect(clock.pending).toBe(0);
});

test('the config sets the budget', () => {
  const values = StateBudget.of({ handler: { maxStateBytes: 3 } }).values();
  values.set('a', 1, { bytes: 3 });
  values.set('b', 1, { bytes: 4 });
  expect([values.has('a'), values.has('b')]).toEqual([true, false]);
  const usual = StateBudget.of({}).values();
  usual.set('a', 1, { bytes: 256 * 1024 * 1024 });
  usual.set('b', 1, { bytes: 256 * 1024 * 1024 + 1 });
  expect([usual.has('a'), usual.has('b')]).toEqual([true, false]);
});
