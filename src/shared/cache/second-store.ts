import { isError } from '../../contract/errors.js';
import type { BlobStore } from './blob-store.js';

/**
 * Returns a store that writes what it refuses to a second one: Chromium's Cache API refuses some blobs of hundreds of
 * megabytes ("Unexpected internal error"), which the file system takes. A full disk is full for both.
 */
export function withSecond(first: BlobStore, second: BlobStore): BlobStore {
  return {
    read: async (name) => (await first.read(name)) ?? (await unlessAbsent(() => second.read(name), undefined)),
    async write(name, blob) {
      try {
        await first.write(name, blob);
      } catch (refusal) {
        if (isError(refusal) && refusal.name === 'QuotaExceededError') throw refusal;
        await first.delete(name).catch(() => {});
        await second.write(name, blob).catch((error: unknown) => {
          throw isError(error) && error.name === 'QuotaExceededError' ? error : refusal;
        });
      }
    },
    async delete(name) {
      await first.delete(name);
      await unlessAbsent(() => second.delete(name), undefined);
    },
    async names() {
      return [...new Set([...(await first.names()), ...(await unlessAbsent(() => second.names(), []))])];
    },
    isNew: async () => (await first.isNew()) && (await unlessAbsent(() => second.isNew(), true)),
  };
}

/** Returns what a store answers; a browser may have the first store only, and then the second has nothing. */
async function unlessAbsent<T>(ask: () => Promise<T>, nothing: T): Promise<T> {
  return await ask().catch(() => nothing);
}
