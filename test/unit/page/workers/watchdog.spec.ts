import { expect, test } from '@playwright/test';
import { Watchdog } from '../../../../src/page/workers/watchdog.ts';
import type { Clock } from '../../../../src/shared/clock.ts';
import { FakeClock } from '../../support/fake-clock.ts';

function watching(timeout: number, clock: Clock): { readonly watchdog: Watchdog; readonly silent: number[] } {
  const silent: number[] = [];
  return { watchdog: new Watchdog(timeout, (seconds) => silent.push(seconds), clock), silent };
}

/** A page that is busy: timers run late, in their order, together with what arrived meanwhile. */
class BusyClock implements Clock {
  time = 0;
  tasks: (() => void)[] = [];
  now(): number {
    return this.time;
  }
  schedule(task: () => void): () => void {
    this.tasks.push(task);
    return () => void (this.tasks = this.tasks.filter((other) => other !== task));
  }
  runNext(): void {
    this.tasks.shift()?.();
  }
}

test('a worker without a heartbeat is ended after its timeout; an idle one is not', async () => {
  const clock = new FakeClock();
  const { watchdog, silent } = watching(10, clock);
  await clock.advance(60_000);
  const call = watchdog.watch('a');
  await clock.advance(9000);
  watchdog.beat('a');
  await clock.advance(9999);
  expect(silent).toEqual([]);
  watchdog.forget(call);
  await clock.advance(60_000);
  expect(silent).toEqual([]);
  watchdog.watch('b');
  await clock.advance(10_000);
  expect(silent).toEqual([10]);
});

test('a worker that waits for the page is not watched, and has its whole time again when it no longer does', async () => {
  const clock = new FakeClock();
  const { watchdog, silent } = watching(10, clock);
  watchdog.watch('stream');
  watchdog.setPaused('stream', true);
  await clock.advance(60_000);
  expect(silent).toEqual([]);
  expect(clock.pending).toBe(0);
  // A heartbeat of another call does not concern it.
  watchdog.forget(watchdog.watch('other'));
  await clock.advance(60_000);
  expect(silent).toEqual([]);
  watchdog.setPaused('stream', false);
  await clock.advance(9999);
  expect(silent).toEqual([]);
  await clock.advance(1);
  expect(silent).toEqual([10]);
  // Another call of the same worker is watched all the while.
  const two = watching(10, clock);
  two.watchdog.watch('stream');
  two.watchdog.setPaused('stream', true);
  two.watchdog.watch('other');
  await clock.advance(10_000);
  expect(two.silent).toEqual([10]);
});

test('a heartbeat that waits behind a late timer counts', () => {
  const clock = new BusyClock();
  const { watchdog, silent } = watching(1, clock);
  watchdog.watch('a');
  // The page was busy for 1.5 s. The timer is due since 0.5 s; the heartbeat of 1.2 s is the next task.
  clock.time = 1500;
  clock.runNext();
  watchdog.beat('a');
  clock.runNext();
  expect(silent).toEqual([]);
  clock.time = 2500;
  clock.runNext();
  clock.runNext();
  expect(silent).toEqual([1]);
});

test('a page that was asleep gives the worker its whole time again, once', () => {
  const clock = new BusyClock();
  const { watchdog, silent } = watching(10, clock);
  watchdog.watch('a');
  clock.time = 600_000;
  clock.runNext();
  expect(silent).toEqual([]);
  clock.time = 610_000;
  clock.runNext();
  clock.runNext();
  expect(silent).toEqual([10]);
});

for (const [late, isAsleep] of [
  [1999, false],
  [2001, true],
] as const)
  test(`a timer that fires ${late} ms late means ${isAsleep ? 'that the page was asleep' : 'that the page was busy'}`, () => {
    const clock = new BusyClock();
    const { watchdog, silent } = watching(10, clock);
    watchdog.watch('a');
    clock.time = 10_000 + late;
    clock.runNext();
    clock.runNext();
    expect(silent).toEqual(isAsleep ? [] : [10]);
  });

test('in a background tab, where every timer is late, a worker gets its whole time again once only', () => {
  const clock = new BusyClock();
  const { watchdog, silent } = watching(10, clock);
  watchdog.watch('a');
  clock.time = 60_000;
  clock.runNext();
  clock.time = 120_000;
  clock.runNext();
  clock.runNext();
  expect(silent).toEqual([10]);
});

test('a heartbeat counts for its call and the later ones, which wait for it, and for no earlier one', async () => {
  const clock = new FakeClock();
  const { watchdog, silent } = watching(10, clock);
  watchdog.watch('first');
  watchdog.watch('second');
  await clock.advance(6000);
  watchdog.beat('second');
  await clock.advance(4000);
  expect(silent).toEqual([10]);
});
