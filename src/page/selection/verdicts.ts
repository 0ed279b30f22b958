import { withinLimit } from '../../shared/limit.js';

/**
 * What an earlier visit found out about a candidate: whether it runs, whether it computes correctly, and how fast it
 * is.
 */
export interface Verdict {
  /** Config, adapter and browser that the verdict holds for. It does not apply in another environment. */
  readonly environment: string;
  /**
   * The model's hash and the engine's version that the verdict holds for; undefined if the candidate could not be
   * opened.
   */
  readonly build?: string | undefined;
  /** Whether its outputs were compared with the reference. */
  readonly compared?: boolean | undefined;
  /**
   * How its outputs differ from the reference's; undefined if they are equal within tolerance, or were not compared.
   */
  readonly wrong?: string | undefined;
  /** What runs on much larger inputs showed than those that it was proven on. */
  readonly larger?: LargerInputs | undefined;
  /** Median of a run, in milliseconds. */
  readonly median?: number | undefined;
  /** The precisions of the model that computed wrongly. */
  readonly excluded?: readonly ExcludedPrecision[] | undefined;
  /** Why it did not run, or not in time, when it was last measured, and at how many visits that happened. */
  readonly failed?: { readonly reason: string; readonly visits: number } | undefined;
}

/** What a comparison of runs on larger inputs with WASM has shown. */
export interface LargerInputs {
  /** How many numbers the largest inputs had that were compared, by the node of a workflow; `''` for the own model. */
  readonly sizes: Readonly<Record<string, number>>;
  /** How the outputs differed; undefined if they were equal within tolerance. */
  readonly wrong?: string | undefined;
}

/** A precision of the model that computed wrongly on a candidate, where the model is there in several. */
export interface ExcludedPrecision {
  /** The node of a workflow; `''` for the archive's own model. */
  readonly node: string;
  readonly precision: string;
  readonly reason: string;
  /**
   * What the archive said of the file and of the golden examples. If it says something else, the verdict does not
   * apply.
   */
  readonly file: string;
}

/**
 * Stores verdicts. A store that throws, returns anything else than a verdict, or does not answer within a second is
 * treated as empty, and the client's log says so.
 */
export interface VerdictStore {
  get(key: string): Promise<Verdict | undefined>;
  set(key: string, verdict: Verdict): Promise<void>;
  clear(): Promise<void>;
}

/** Returns whether a store's answer is a verdict: another version of the SDK, or anything else, may have written it. */
export function isVerdict(value: unknown): value is Verdict {
  if (!isRecord(value)) return false;
  const { environment, build, compared, wrong, larger, median, excluded, failed } = value;
  return (
    typeof environment === 'string' &&
    isOptional(build, (it) => typeof it === 'string') &&
    isOptional(compared, (it) => typeof it === 'boolean') &&
    isOptional(wrong, (it) => typeof it === 'string') &&
    isOptional(larger, isLargerInputs) &&
    isOptional(median, isAmount) &&
    isOptional(excluded, (it) => Array.isArray(it) && it.every(isExcluded)) &&
    isOptional(failed, (it) => isRecord(it) && typeof it['reason'] === 'string' && isAmount(it['visits']))
  );
}

function isLargerInputs(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value['sizes'])) return false;
  return Object.values(value['sizes']).every(isAmount) && isOptional(value['wrong'], (it) => typeof it === 'string');
}

function isExcluded(value: unknown): value is ExcludedPrecision {
  const keys = ['node', 'precision', 'reason', 'file'];
  return isRecord(value) && keys.every((key) => typeof value[key] === 'string');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isOptional(value: unknown, is: (value: unknown) => boolean): boolean {
  return value === undefined || is(value);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

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

/** Returns all verdicts in IndexedDB, by their keys. What has another form is left out. */
export async function listVerdicts(): Promise<Map<string, Verdict>> {
  const keys = (await request('readonly', (store) => store.getAllKeys())) as string[];
  const entries = await Promise.all(keys.map(async (key) => [key, await browserVerdicts.get(key)] as const));
  return new Map(entries.filter((entry): entry is readonly [string, Verdict] => isVerdict(entry[1])));
}

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
