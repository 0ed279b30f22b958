import type { BlobStore } from '../../../src/shared/cache/blob-store.js';
import { memoryStore } from '../../memory-store.js';
import { opfsStore } from '../../../src/shared/cache/opfs-store.js';
import { STORES as OWN } from '../../../src/shared/cache/stores.js';
import { failuresOf } from './store-contract.js';

/** The stores under test. `opfs-sync` is the file system of a browser without `createWritable`, in a worker. */
export const STORES = {
  'cache-api': () => OWN['cache-api'],
  opfs: () => OWN.opfs,
  'opfs-sync': () => {
    Reflect.deleteProperty(FileSystemFileHandle.prototype, 'createWritable');
    return opfsStore('tabserve');
  },
  memory: () => memoryStore(),
} as const satisfies Record<string, () => BlobStore>;

export type StoreName = keyof typeof STORES;

export async function testStore(name: StoreName): Promise<Record<string, string>> {
  return await failuresOf(STORES[name]());
}
