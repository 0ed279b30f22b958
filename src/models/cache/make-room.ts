import { totalOf, type CacheEntries, type CacheEntry } from '../../shared/cache/cache-entries.js';

/** The part of the origin's quota that cached files may take up; the rest is the app's. */
const QUOTA_SHARE = 0.5;
/** The limit where the browser does not tell the quota. */
const DEFAULT_LIMIT = 2 ** 31;

/**
 * Returns how many bytes the cached files may have together, once so many are added; undefined if that is no question, because all that the origin stores is below it.
 * @param estimate `navigator.storage.estimate`
 */
export async function limitFor(bytes: number, estimate: () => Promise<StorageEstimate>): Promise<number | undefined> {
  const { quota, usage = Infinity } = await estimate();
  const limit = quota === undefined ? DEFAULT_LIMIT : Math.floor(quota * QUOTA_SHARE);
  return usage + bytes <= limit ? undefined : limit;
}

/**
 * Deletes the least recently used files until so many bytes are free below the limit.
 * @param isUsed returns whether a file belongs to the model that is being loaded, and must stay
 * @returns whether there is room now; if there cannot be, nothing is deleted
 */
export async function makeRoom(
  entries: CacheEntries,
  bytes: number,
  limit: number,
  isUsed: (entry: CacheEntry) => boolean,
): Promise<boolean> {
  const all = await entries.list();
  const doomed: CacheEntry[] = [];
  let excess = totalOf(all) + bytes - limit;
  for (const entry of all) {
    if (excess <= 0) break;
    if (isUsed(entry)) continue;
    doomed.push(entry);
    excess -= entry.bytes;
  }
  if (excess > 0) return false;
  for (const entry of doomed) await entries.delete(entry);
  return true;
}
