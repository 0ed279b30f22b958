/** The cache of files with the Cache API, on this origin. */
export const CACHE = 'tabserve';

/** The Cache API takes only URLs as keys. No server has these: `.invalid` is reserved. */
export const BASE = 'https://tabserve.invalid/';

/**
 * Makes a dummy request to the cache, so that the browser has opened it when a worker reads it. Opening it takes tens
 * of milliseconds, once.
 */
export async function wakeCache(): Promise<void> {
  try {
    await globalThis.caches?.match(BASE, { cacheName: CACHE });
  } catch {
    // The worker reports why there is no cache.
  }
}
