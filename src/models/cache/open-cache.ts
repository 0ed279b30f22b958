import type { CacheName } from '../../contract/downloads.js';
import { STORES } from '../../shared/cache/stores.js';
import { browserClock } from '../../shared/clock.js';
import { FileCache, type FileCacheOptions } from './file-cache.js';

/** Returns the cache of that name, on this origin; undefined for `none`. */
export function openCache(name: CacheName, warn: FileCacheOptions['warn']): FileCache | undefined {
  if (name === 'none') return undefined;
  return new FileCache({
    store: STORES[name],
    clock: browserClock,
    locks: globalThis.navigator?.locks,
    estimate: async () => (await globalThis.navigator?.storage?.estimate?.()) ?? {},
    warn,
  });
}
