import type { BlobStore } from './blob-store.js';
import { BASE, CACHE } from './cache-name.js';

/** Stores blobs with the Cache API, in this origin's cache `tabserve`. */
export const cacheApiStore: BlobStore = {
  /**
   * Creates no cache where there is none, because that would delay the first request of a first visit by tens of
   * milliseconds.
   */
  async read(name) {
    const response = await storage().match(BASE + name, { cacheName: CACHE });
    return await response?.blob();
  },
  async write(name, blob) {
    await (await open()).put(BASE + name, new Response(blob));
  },
  async delete(name) {
    await (await open()).delete(BASE + name);
  },
  async isNew() {
    return !(await storage().has(CACHE));
  },
  async names() {
    return (await (await open()).keys()).map(({ url }) => url.slice(BASE.length));
  },
};

/** Opens the cache at each call: an app may have deleted it in between. */
async function open(): Promise<Cache> {
  return await storage().open(CACHE);
}

/** @throws if the browser has no Cache API here */
function storage(): CacheStorage {
  const caches = cachesOfOrigin();
  if (!caches) throw new Error('there is no Cache API here: it needs a secure context (https, or localhost)');
  return caches;
}

/**
 * Returns the origin's caches; undefined if the context is not secure.
 * @throws if the origin is opaque: browsers refuse the property, each for a reason in its own words
 */
function cachesOfOrigin(): CacheStorage | undefined {
  try {
    return globalThis.caches;
  } catch (cause) {
    throw new Error('a frame or worker with an opaque origin has no storage', { cause });
  }
}
