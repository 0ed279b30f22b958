// The states of sequences that a worker keeps, and what they take of its budget.
import { expect, test } from '@playwright/test';
import { copyStates, keepStates, LOST_STATE, takeStates } from '../../../../src/worker/host/retained-states.ts';
import { StateBudget } from '../../../../src/worker/host/state-budget.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const MAX_BYTES = 1000;
const kept = () => new StateBudget(MAX_BYTES, new FakeClock()).values();

test('any state but undefined is kept, null and 0 too, and is taken once', () => {
  for (const state of [null, 0, '', false, { a: 1 }]) {
    const values = kept();
    keepStates([{ id: '1', nextKey: 'b' }, undefined], [state, undefined], values);
    const next = [{ id: '1', state: { keptKey: 'b' }, nextKey: 'c' }, undefined];
    expect(takeStates(next, values)).toEqual([state, undefined]);
    expect(takeStates(next, values)).toEqual([LOST_STATE, undefined]);
  }
});

test('a part of a large buffer takes all of it, once: so much is cloned', () => {
  const samples = new Float32Array(200);
  const [small, twice] = [{ end: samples.subarray(-4) }, [samples.subarray(-4), samples.subarray(0, 4)]];
  expect(structuredClone(small).end.buffer.byteLength).toBe(800);
  const values = kept();
  keepStates([{ id: '1', nextKey: 'a' }], [structuredClone(twice)], values);
  expect(values.has('a')).toBe(true);
  keepStates([{ id: '2', nextKey: 'b' }], [structuredClone(small)], values);
  expect([values.has('a'), values.has('b')]).toEqual([false, true]);
});

test('copies for a second run: what was lost stays lost', () => {
  const state = { sum: 1 };
  const copies = copyStates([state, LOST_STATE, undefined]);
  expect(copies).toEqual([{ sum: 1 }, LOST_STATE, undefined]);
  expect(copies[0]).not.toBe(state);
});
