import type { BlobStore } from '../src/shared/cache/blob-store.js';

/** Returns an empty store, whose blobs live as long as it does. */
export function memoryStore(): BlobStore {
  const blobs = new Map<string, Blob>();
  return {
    read: async (name) => blobs.get(name),
    write: async (name, blob) => void blobs.set(name, blob),
    delete: async (name) => void blobs.delete(name),
    isNew: async () => blobs.size === 0,
    names: async () => [...blobs.keys()],
  };
}
