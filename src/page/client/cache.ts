import { STORES, type StoreName } from '../../shared/cache/stores.js';
import { browserClock, type Clock } from '../../shared/clock.js';
import { absoluteUrl } from '../options/values.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { BlobStore } from '../../shared/cache/blob-store.js';
import { CacheEntries, settleAll, type CacheEntry } from '../../shared/cache/cache-entries.js';
import { withinLimit } from '../../shared/limit.js';
import { readModelUrl } from '../../shared/model-url.js';

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

/** The number and size of the cached files. */
export interface CacheEstimate {
  readonly files: number;
  /** The total size of the files. */
  readonly bytes: number;
  /** How many bytes this origin may store; undefined if the browser does not say. */
  readonly quota: number | undefined;
}

/**
 * The files of models and engines that this origin has cached, in whichever store. Where the browser allows no store,
 * there are none.
 */
export const cache = {
  /** Lists the files, least recently used first. @throws `timeout` if a store does not answer for 10 seconds */
  async list(): Promise<CachedFileInfo[]> {
    const files = (await findFiles(STORES)).filter(({ entry }) => entry.content !== null);
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
   * Deletes the files of the model that this URL was passed to `load` for; of a file's URL, this file; of a URL that
   * ends in a slash, every file below it; without a URL, every file. The URL is relative to the page, and its query
   * makes no difference. A client that serves a model keeps its files. Returns the number of files.
   * @throws `model-config` if it is no URL; `timeout` if a store does not answer for 10 seconds, or if another tab
   *   keeps a file busy for so long: the message names the file, and the others are deleted
   */
  async delete(url?: string | URL): Promise<number> {
    const isMeant = url === undefined ? () => true : filesOf(absoluteUrl(url, 'url'));
    const files = (await findFiles(STORES)).filter(isMeant);
    await deleteFiles(STORES, files, browserClock);
    return files.filter(({ entry }) => entry.content !== null).length;
  },

  /** Counts the files, and adds up their sizes. @throws `timeout` if a store does not answer for 10 seconds */
  async estimate(): Promise<CacheEstimate> {
    const files = await cache.list();
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    const { quota } = await limited(() => navigator.storage.estimate()).catch(orElse<StorageEstimate>({}));
    return { files: files.length, bytes, quota };
  },
} as const;

/** How long the page waits for a store, in milliseconds. */
const STORE_MS = 10_000;
/** How long it waits before it tries again to delete a file that is in use. */
const RETRY_MS = 250;

export type Stores = Readonly<Record<StoreName, BlobStore>>;

/** A file, or the knowledge that a server has none, in one of the stores. */
export interface Found {
  readonly store: StoreName;
  readonly entry: CacheEntry;
}

/**
 * Returns what all stores have. A store that is not there, or not allowed, has nothing.
 * @throws `timeout` if a store does not answer
 */
export async function findFiles(stores: Stores): Promise<Found[]> {
  const found = (Object.keys(stores) as StoreName[]).map(async (store) => {
    const entries = await limited(() => new CacheEntries(stores[store]).list()).catch(orElse<CacheEntry[]>([]));
    return entries.map((entry) => ({ store, entry }));
  });
  return (await Promise.all(found)).flat();
}

/**
 * Deletes files. A file that cannot be deleted, since another tab is just writing it, is tried again for 10 seconds;
 * the others are deleted at once.
 * @throws `timeout` that names a file that could not be deleted
 */
export async function deleteFiles(stores: Stores, files: readonly Found[], clock: Clock): Promise<void> {
  await settleAll(files.map((file) => deleteFile(stores, file, clock)));
}

async function deleteFile(stores: Stores, { store, entry }: Found, clock: Clock): Promise<void> {
  const until = clock.now() + STORE_MS;
  for (;;) {
    try {
      return await limited(() => new CacheEntries(stores[store]).delete(entry));
    } catch (cause) {
      if (clock.now() >= until)
        throw new TabServeError(
          'timeout',
          `${entry.url} could not be deleted from the cache within ${STORE_MS} ms: ${messageOf(cause)} Close the other tabs of this page, and delete it again.`,
          { cause },
        );
      await new Promise<void>((resolve) => clock.schedule(resolve, RETRY_MS));
    }
  }
}

/**
 * Returns a function that tells which files are meant by a URL that the app passes: the file that was downloaded from
 * it, those below it, and those of the model that `load` finds there. A query makes no difference: it may hold a token
 * of the moment.
 * @param wanted absolute
 * @throws `model-config` if no files can be there
 */
export function filesOf(wanted: string): (file: Found) => boolean {
  const [given, model] = [wanted, readModelUrl(wanted, 'url').url.href].map(withoutQuery) as [string, string];
  return ({ entry }) => {
    const url = withoutQuery(entry.url);
    return url === given || isBelow(url, given) || isBelow(url, model);
  };
}

function isBelow(url: string, folder: string): boolean {
  return folder.endsWith('/') && url.startsWith(folder);
}

function withoutQuery(href: string): string {
  if (!URL.canParse(href)) return href;
  const url = new URL(href);
  url.search = url.hash = '';
  return url.href;
}

/** Waits for a store. @throws `timeout`; what `work` throws */
export function limited<T>(work: () => Promise<T>): Promise<T> {
  return withinLimit('The cache', work, { milliseconds: STORE_MS });
}

/** Returns a handler that replaces the failure of a store that is not there or not allowed. */
export function orElse<T>(value: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof TabServeError) throw error;
    return value;
  };
}
