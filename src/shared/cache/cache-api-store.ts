import type { BlobStore } from './blob-store.js';

const CACHE = 'tabserve';
/** The Cache API takes only URLs as keys. No server has these: `.invalid` is reserved. */
const BASE = 'https://tabserve.invalid/';

/** Stores blobs with the Cache API, in this origin's cache `tabserve`. */
export const cacheApiStore: BlobStore = {
  async read(name) {
    const response = await (await open()).match(BASE + name);
    return await response?.blob();
  },
  async write(name, blob) {
    await (await open()).put(BASE + name, new Response(blob));
  },
  async delete(name) {
    await (await open()).delete(BASE + name);
  },
  async names() {
    return (await (await open()).keys()).map(({ url }) => url.slice(BASE.length));
  },
};

/** Opens the cache at each call: an app may have deleted it in between. */
async function open(): Promise<Cache> {
  if (!globalThis.caches)
    throw new Error('there is no Cache API here: it needs a secure context (https, or localhost)');
  return await caches.open(CACHE);
}
