/** What was found out about a candidate at an earlier visit: whether it runs and computes right, and how fast it is. */
export interface Verdict {
  /** Config, adapter and browser that it holds for. Where one of them is another, the verdict is void. */
  readonly surroundings: string;
  /** The model's hash and the engine's version that it holds for; undefined where the candidate could not be opened. */
  readonly build?: string | undefined;
  /** Whether its answers were held against the reference. */
  readonly compared?: boolean | undefined;
  /** Why its answers are not to be trusted; undefined if they equal the reference's, or were not compared. */
  readonly wrong?: string | undefined;
  /** Milliseconds of a run, the median. */
  readonly median?: number | undefined;
  /** Why it did not run, or not in time, when it was last to be measured, and at how many visits that was so. */
  readonly failed?: { readonly reason: string; readonly visits: number } | undefined;
}

/** Where verdicts are kept. A store that fails costs time, nothing else. */
export interface VerdictStore {
  get(key: string): Promise<Verdict | undefined>;
  set(key: string, verdict: Verdict): Promise<void>;
  clear(): Promise<void>;
}

const DATABASE = 'tabserve';
const STORE = 'verdicts';

/** Keeps verdicts in the browser's IndexedDB, for this origin. */
export const browserVerdicts: VerdictStore = {
  get: async (key) => (await request('readonly', (store) => store.get(key))) as Verdict | undefined,
  set: async (key, verdict) => void (await request('readwrite', (store) => store.put(verdict, key))),
  clear: async () => void (await request('readwrite', (store) => store.clear())),
};

/** Forgets all verdicts: the next visit compares and measures anew. */
export async function clearVerdicts(): Promise<void> {
  await browserVerdicts.clear();
}

async function request(mode: IDBTransactionMode, make: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => void opening.result.createObjectStore(STORE);
  const database = (await settled(opening)) as IDBDatabase;
  try {
    return await settled(make(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function settled(request: IDBRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
