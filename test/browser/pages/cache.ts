/** Tests the stores of the cache on a page, as `window.testStore`, and in a worker, as `window.testStoreInWorker`. */
import { CacheEntries } from '../../../src/shared/cache/cache-entries.js';
import { STORES, testStore, type StoreName } from '../cache/stores.js';

async function testStoreInWorker(name: StoreName): Promise<Record<string, string>> {
  const worker = new Worker(new URL('../cache/stores.worker.ts', import.meta.url), { type: 'module' });
  try {
    return await new Promise((resolve, reject) => {
      worker.addEventListener('message', ({ data }) => resolve(data as Record<string, string>));
      worker.addEventListener('error', ({ message }) => reject(new Error(message)));
      worker.postMessage(name);
    });
  } finally {
    worker.terminate();
  }
}

const cacheTest = { CacheEntries, STORES, testStore, testStoreInWorker };
Object.assign(window, { cacheTest });

declare global {
  interface Window {
    cacheTest: typeof cacheTest;
  }
}
