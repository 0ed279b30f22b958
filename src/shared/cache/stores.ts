import type { CacheName } from '../../contract/downloads.js';
import type { BlobStore } from './blob-store.js';
import { cacheApiStore } from './cache-api-store.js';
import { opfsStore } from './opfs-store.js';
import { withSecond } from './second-store.js';

/** A store that caches blobs for the next visit. */
export type StoreName = Exclude<CacheName, 'none'>;

/** The stores that cache blobs for the next visit. */
export const STORES: Readonly<Record<StoreName, BlobStore>> = {
  'cache-api': withSecond(cacheApiStore, opfsStore('tabserve-refused')),
  opfs: opfsStore('tabserve'),
};
