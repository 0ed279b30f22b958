import { expect, test } from '@playwright/test';
import { NativeCalls } from '../../../../src/server/node/native-calls.ts';
import { settle } from '../../support/fake-clock.ts';

/** Both sides, on the same memory. */
function sides() {
  const parent = new NativeCalls();
  return { parent, thread: new NativeCalls(parent.state) };
}

test('a thread makes its calls, one after the other, and gets what they return or throw', async () => {
  const { thread } = sides();
  expect(await thread.run(async () => 1)).toBe(1);
  await expect(
    thread.run(() => Promise.reject(new Error('no'))),
    'a failure',
  ).rejects.toThrow('no');
  expect(await thread.run(async () => 2)).toBe(2);
});

test('a thread that makes no call may be ended at once, and makes none any more', async () => {
  const { parent, thread } = sides();
  expect([parent.end(), parent.end()]).toEqual([false, false]);
  let calls = 0;
  void thread.run(async () => calls++);
  await settle();
  expect(calls).toBe(0);
  parent.endNow();
});

test('a thread in a call ends itself after it, however often it is asked to', async () => {
  const { exit } = process;
  let exits = 0;
  process.exit = (() => exits++) as never;
  try {
    const { parent, thread } = sides();
    let finish!: () => void;
    const running = thread.run(() => new Promise<void>((resolve) => (finish = resolve)));
    expect([parent.end(), parent.end(), exits]).toEqual([true, true, 0]);
    finish();
    await running;
    expect([parent.end(), exits]).toEqual([false, 1]);
  } finally {
    process.exit = exit;
  }
});
