import { expect, test } from '@playwright/test';
import { deleteFiles, filesOf, findFiles, type Found } from '../../../../src/page/client/cache.ts';
import { CacheEntries } from '../../../../src/shared/cache/cache-entries.ts';
import type { BlobStore } from '../../../../src/shared/cache/blob-store.ts';
import { memoryStore } from '../../../memory-store.ts';
import { FakeClock, settle } from '../../support/fake-clock.ts';

const HUB = 'https://huggingface.co/org/name';
const URLS = [
  'https://example.org/m/MAR-INF/MANIFEST.json',
  'https://example.org/m/m.onnx',
  'https://example.org/m/m.onnx?token=1',
  'https://example.org/m2/m.onnx',
  'https://example.org/o/models%2Fdigits.mar?alt=media',
  'https://example.org//m/m.onnx',
  `${HUB}/resolve/main/config.json`,
  `${HUB}/resolve/v1/config.json`,
];
const found = (url: string): Found => ({
  store: 'opfs',
  entry: { key: url, url, bytes: 1, content: 'x', storedAt: 0, visit: 0, usedAt: 0 },
});

for (const [wanted, expected] of [
  ['https://example.org/m', [0, 1, 2]],
  ['https://example.org/m/', [0, 1, 2]],
  ['https://example.org/m/?x=1', [0, 1, 2]],
  ['https://example.org/m?x=1#y', [0, 1, 2]],
  ['https://example.org/m/m.onnx', [1, 2]],
  ['https://example.org/m/m.onnx?token=2', [1, 2]],
  ['https://example.org/m/MAR-INF/MANIFEST.json', [0]],
  ['https://example.org//m', [5]],
  ['https://example.org/o/models%2Fdigits.mar?alt=media&token=9', [4]],
  [HUB, [6]],
  [`${HUB}/tree/v1`, [7]],
  [`${HUB}/`, [6, 7]],
  ['https://example.org/', [0, 1, 2, 3, 4, 5]],
  ['https://example.org/model', []],
] as const)
  test(`the files of ${wanted}: what was loaded from it, with any query`, () => {
    const isMeant = filesOf(wanted);
    expect(URLS.filter((url) => isMeant(found(url)))).toEqual(expected.map((at) => URLS[at]));
  });

test('a URL below which nothing can lie is an error', () => {
  expect(() => filesOf('blob:https://example.org/1')).toThrow(
    expect.objectContaining({ code: 'model-config', message: expect.stringMatching(/^url: /) }),
  );
});

/**
 * Stores with three files; the content of the second one is locked until `unlock` is called, as OPFS locks a file that
 * is being written.
 */
async function lockedStores() {
  const store = memoryStore();
  let isLocked = true;
  const names: string[] = [];
  for (const url of ['https://a.example/1', 'https://a.example/2', 'https://a.example/3']) {
    await new CacheEntries(store).save(`url ${url}`, url, new Blob(['x']));
    names.push((await store.names()).find((name) => !name.endsWith('.json') && !names.includes(name))!);
  }
  const opfs: BlobStore = {
    ...store,
    async delete(name) {
      if (isLocked && name.split('.')[0] === names[1]!.split('.')[0])
        throw new DOMException('The file is locked.', 'NoModificationAllowedError');
      await store.delete(name);
    },
  };
  return { stores: { opfs, 'cache-api': memoryStore() }, store, unlock: () => (isLocked = false) };
}

test('a file that another tab is writing is deleted when that is done; the others are deleted at once', async () => {
  const { stores, store, unlock } = await lockedStores();
  const clock = new FakeClock();
  const deleted = deleteFiles(stores, await findFiles(stores), clock);
  await expect.poll(() => store.names()).toHaveLength(2);
  await clock.advance(5000);
  unlock();
  for (let turn = 0; turn < 20; turn++) await settle();
  await clock.advance(250);
  await deleted;
  expect(await store.names()).toEqual([]);
});

test('the content of a file is deleted although its entry is in use', async () => {
  const store = memoryStore();
  const entries = new CacheEntries({
    ...store,
    async delete(name) {
      if (name.endsWith('.json')) throw new DOMException('The file is locked.', 'NoModificationAllowedError');
      await store.delete(name);
    },
  });
  await entries.save('url a', 'a', new Blob(['secret']));
  await expect(entries.delete((await entries.find('url a'))!)).rejects.toThrow('The file is locked.');
  expect(await store.names()).toEqual([expect.stringMatching(/\.json$/)]);
});

test('a file that stays locked is named by a typed error, and the others are deleted', async () => {
  const { stores, store } = await lockedStores();
  const clock = new FakeClock();
  const failed = deleteFiles(stores, await findFiles(stores), clock).catch((error: unknown) => error);
  const state = { isDone: false };
  void failed.then(() => (state.isDone = true));
  while (!state.isDone) {
    await clock.advance(250);
    for (let turn = 0; turn < 5; turn++) await settle();
  }
  expect(await failed).toMatchObject({
    code: 'timeout',
    message: expect.stringMatching(
      /^https:\/\/a\.example\/2 could not be deleted.*within 10000 ms: The file is locked\./,
    ),
    cause: { name: 'NoModificationAllowedError' },
  });
  expect(clock.now()).toBeGreaterThanOrEqual(10_000);
  expect(await store.names()).toHaveLength(2);
});
