import { expect, test } from '@playwright/test';
import { watchRelease } from '../../../src/shared/lock-release.ts';
import { ShareWorld } from '../support/share-world.ts';

/** Watches a lock of another tab. Returns how to release it, and whether its release was reported. */
async function watch(visible: boolean): Promise<{ release: () => Promise<void>; isReported: () => boolean }> {
  const { locks } = new ShareWorld();
  const others = visible ? locks : new ShareWorld().locks;
  let release = (): void => {};
  void others.of('other').request('life', () => new Promise<void>((resolve) => (release = resolve)));
  await settled();
  let isReported = false;
  void watchRelease(locks.of('page'), 'life', () => (isReported = true), new AbortController().signal);
  await settled();
  return { release: async () => (release(), await settled()), isReported: () => isReported };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('the release of a lock is reported when it happens', async () => {
  const { release, isReported } = await watch(true);
  expect(isReported()).toBe(false);
  await release();
  expect(isReported()).toBe(true);
});

test('a lock that this page is not shown says nothing about its holder', async () => {
  const { release, isReported } = await watch(false);
  expect(isReported()).toBe(false);
  await release();
  expect(isReported()).toBe(false);
});

test('an abort ends the wait', async () => {
  const { locks } = new ShareWorld();
  void locks.of('other').request('life', () => new Promise<void>(() => {}));
  await settled();
  const stop = new AbortController();
  let isReported = false;
  const isHeld = await watchRelease(locks.of('page'), 'life', () => (isReported = true), stop.signal);
  expect([isHeld, locks.waiting]).toEqual([true, 1]);
  stop.abort(new Error('enough'));
  await settled();
  expect(isReported).toBe(false);
  expect(locks.waiting).toBe(0);
});
