import { STORES, type StoreName } from '../shared/cache/stores.js';
import { browserClock } from '../shared/clock.js';
import { deleteFiles, filesOf, findFiles, limited, orElse } from './cached-files.js';
import { absoluteUrl } from './url.js';

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
   * Deletes the files of the model that this URL was passed to `load` for; of a file's URL, this file; of a URL that ends in a slash, every file below it; without a URL, every
   * file. The URL is relative to the page, and its query makes no difference. A client that serves a model keeps its files. Returns the number of files.
   * @throws `model-config` if it is no URL; `timeout` if a store does not answer for 10 seconds, or if another tab keeps a file busy for so long: the message names the file, and
   *   the others are deleted
   */
  async delete(url?: string | URL): Promise<number> {
    const isMeant = url === undefined ? () => true : filesOf(absoluteUrl(url, 'url'));
    const doomed = (await findFiles(STORES)).filter(isMeant);
    await deleteFiles(STORES, doomed, browserClock);
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
