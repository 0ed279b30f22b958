import { expect, test } from '@playwright/test';
import type { BlobStore } from '../../../../src/shared/cache/blob-store.ts';
import { CacheEntries } from '../../../../src/shared/cache/cache-entries.ts';
import { withSecond } from '../../../../src/shared/cache/second-store.ts';
import { failuresOf } from '../../../browser/cache/store-contract.ts';
import { memoryStore } from '../../../memory-store.ts';

const absent = (): Promise<never> => Promise.reject(new Error('there is no file system here'));
const ABSENT: BlobStore = { read: absent, write: absent, delete: absent, names: absent, isNew: absent };

/** Chromium's Cache API, which refuses large blobs. */
function refusing(most: number, name = 'UnknownError'): BlobStore {
  const store = memoryStore();
  return {
    ...store,
    write: async (path, blob) => {
      if (blob.size > most) throw new DOMException('Unexpected internal error.', name);
      await store.write(path, blob);
    },
  };
}

test('what the first store refuses is in the second, and is found, listed and deleted there', async () => {
  const [first, second] = [refusing(1000), memoryStore()];
  const store = withSecond(first, second);
  const entries = new CacheEntries(store);
  const url = 'https://example.org/model.onnx';
  await entries.save('large', url, new Blob(['x'.repeat(5000)]));
  expect(await first.names()).toEqual([expect.stringMatching(/\.json$/)]);
  expect(await second.names()).toHaveLength(1);
  const entry = (await entries.find('large'))!;
  expect((await entries.open(entry))!.blob!.size).toBe(5000);
  expect(await store.isNew()).toBe(false);
  expect(await entries.sweep(async () => true), 'it is nothing that a crash has left').toBe(false);
  await entries.delete(entry);
  expect([await first.names(), await second.names()]).toEqual([[], []]);
});

test('it does what every store must do, whatever the first one refuses, and without a second one', async () => {
  for (const store of [withSecond(refusing(0), memoryStore()), withSecond(memoryStore(), ABSENT)])
    expect(await failuresOf(store)).toEqual({});
});

test('a full disk is no refusal; without a second store, the refusal is the error', async () => {
  const second = memoryStore();
  const blob = new Blob(['some bytes']);
  await expect(withSecond(refusing(0, 'QuotaExceededError'), second).write('a', blob)).rejects.toMatchObject({
    name: 'QuotaExceededError',
  });
  expect(await second.names()).toEqual([]);
  await expect(withSecond(refusing(0), ABSENT).write('a', blob)).rejects.toMatchObject({
    message: 'Unexpected internal error.',
  });
});
