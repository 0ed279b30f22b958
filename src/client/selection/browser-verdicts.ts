import { withinLimit } from '../../shared/limit.js';
import type { Verdict, VerdictStore } from './verdicts.js';

const DATABASE = 'tabserve';
const STORE = 'verdicts';

/** How long `clearVerdicts` waits for the database. */
const CLEAR_MS = 5000;

/** Stores verdicts in the browser's IndexedDB, for this origin. */
export const browserVerdicts: VerdictStore = {
  get: async (key) => (await request('readonly', (store) => store.get(key))) as Verdict | undefined,
  set: async (key, verdict) => void (await request('readwrite', (store) => store.put(verdict, key))),
  clear: async () => void (await request('readwrite', (store) => store.clear())),
};

/**
 * Deletes all verdicts in IndexedDB: the next visit compares and measures again.
 * @throws `timeout` if the database is blocked for 5 seconds; a DOMException if there is none
 */
export async function clearVerdicts(): Promise<void> {
  await withinLimit('IndexedDB', () => browserVerdicts.clear(), { milliseconds: CLEAR_MS });
}

async function request(mode: IDBTransactionMode, make: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const database = await openDatabase();
  try {
    return await settled(make(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(DATABASE, 1);
    opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
    opening.onblocked = () => reject(new Error('Another tab blocks the IndexedDB database "tabserve".'));
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      // Otherwise this page would block whoever deletes or upgrades the database.
      database.onversionchange = () => database.close();
      resolve(database);
    };
  });
}

function settled(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
    // A connection that was closed in between aborts its transactions.
    request.transaction!.onabort = () =>
      reject(request.transaction?.error ?? new Error('The transaction was aborted.'));
  });
}
