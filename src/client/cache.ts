import { isError, TabServeError } from '../contract/errors.js';
import { CacheEntries, type CacheEntry } from '../shared/cache/cache-entries.js';
import { STORES, type StoreName } from '../shared/cache/stores.js';
import { withinLimit } from '../shared/limit.js';
import { absoluteUrl } from './url.js';

/** How long the page waits for a store, in milliseconds. */
const STORE_MS = 10_000;

/** A file of a model or an engine that this origin has cached. */
export interface CachedFileInfo {
  /** Where it was downloaded from. */
  readonly url: string;
  readonly bytes: number;
  readonly store: StoreName;
  readonly storedAt: Date;
  /** When it was last used, to within an hour. */
  readonly usedAt: Date;
}

/** What the cached files take up. */
export interface CacheEstimate {
  readonly files: number;
  /** The sizes of the files, together. */
  readonly bytes: number;
  /** What this origin may store, in bytes, as the browser tells; undefined if it does not. */
  readonly quota: number | undefined;
}

/** The files of models and engines that this origin has cached, in whichever store. Where the browser allows no store, there are none. */
export const cache = {
  /** Lists the files, the least recently used first. @throws `timeout` if a store does not answer for 10 seconds */
  async list(): Promise<CachedFileInfo[]> {
    const files = (await findAll()).filter(({ entry }) => entry.content !== null);
    return files
      .map(({ store, entry: { url, bytes, storedAt, usedAt } }) => ({
        url,
        bytes,
        store,
        storedAt: new Date(storedAt),
        usedAt: new Date(usedAt),
      }))
      .toSorted((a, b) => a.usedAt.valueOf() - b.usedAt.valueOf());
  },

  /**
   * Deletes the file of a URL, relative to the page; of a URL that ends in a slash, every file below it; without one, every file. A client that serves a model keeps its files.
   * Returns the number of files.
   * @throws `model-config` if it is no URL; `timeout` if a store does not answer for 10 seconds
   */
  async delete(url?: string | URL): Promise<number> {
    const wanted = url === undefined ? undefined : absoluteUrl(url, 'url');
    const doomed = (await findAll()).filter(({ entry }) => wanted === undefined || isAt(entry.url, wanted));
    await Promise.all(doomed.map(({ store, entry }) => limited(() => new CacheEntries(STORES[store]).delete(entry))));
    return doomed.filter(({ entry }) => entry.content !== null).length;
  },

  /** Counts the files, and adds up their sizes. @throws `timeout` if a store does not answer for 10 seconds */
  async estimate(): Promise<CacheEstimate> {
    const files = await cache.list();
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const { quota } = await limited(() => navigator.storage.estimate()).catch(orElse<StorageEstimate>({}));
    return { files: files.length, bytes, quota };
  },
} as const;

interface Found {
  readonly store: StoreName;
  readonly entry: CacheEntry;
}

async function findAll(): Promise<Found[]> {
  const found = (Object.keys(STORES) as StoreName[]).map(async (store) => {
    const entries = await limited(() => new CacheEntries(STORES[store]).list()).catch(orElse([]));
    return entries.map((entry) => ({ store, entry }));
  });
  return (await Promise.all(found)).flat();
}

function limited<T>(work: () => Promise<T>): Promise<T> {
  return withinLimit('The cache', work, { milliseconds: STORE_MS });
}

/** Returns a handler that replaces the failure of a store that is not there or not allowed. */
function orElse<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (isError(error) && error instanceof TabServeError) throw error;
    return value;
  };
}

function isAt(url: string, wanted: string): boolean {
  return url === wanted || (wanted.endsWith('/') && url.startsWith(wanted));
}
