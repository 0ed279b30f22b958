import type { BlobStore } from '../../../shared/cache/blob-store.js';
import { CacheEntries, idOf, totalOf, type CacheEntry, type CachedFile } from '../../../shared/cache/cache-entries.js';
import type { Clock } from '../../../shared/clock.js';
import { isError, messageOf } from '../../../contract/errors.js';
import { withinLimit } from '../../../shared/limit.js';
import { keyOf, type FileRequest } from './file-request.js';
import type { DownloadedFile } from './file-cache.js';

/** How long the store may take to look for a file, and to read it: this, and a second for every four megabytes. */
const LOOK_MS = 5000;
/** How long the store may take to write a file: this, and a second for every four megabytes. */
const WRITE_MS = 10_000;
const BYTES_PER_MS = 4000;
/** The time of the last use is written at most this often. */
const TOUCH_MS = 3_600_000;
/** The part of the origin's quota that cached files may take up; the rest is the app's. */
const QUOTA_SHARE = 0.5;
/** The limit where the browser does not tell the quota. */
const DEFAULT_MAX_BYTES = 2 ** 31;

export interface StoredFilesOptions {
  readonly store: BlobStore;
  readonly clock: Clock;
  readonly locks: Pick<LockManager, 'request'> | undefined;
  /** When the visit began, in milliseconds since 1970: its workers download an archive's files together. */
  readonly visit: number;
  /** Returns the origin's quota. */
  readonly estimate: () => Promise<StorageEstimate>;
  /** Called when files cannot be cached, or a cached file is used because the server cannot be reached. */
  readonly warn: (message: string) => void;
}

/**
 * The store of a file cache: it finds and writes files, each within a time limit, and makes room for them. A store that
 * throws, hangs or is full is reported once, and from then on it is not asked any more.
 */
export class StoredFiles {
  readonly #options: StoredFilesOptions;
  readonly #entries: CacheEntries;
  /** Keys of the files that were asked for. They are not deleted to make room for one another. */
  readonly #used = new Set<string>();
  /** Files whose use is recorded later. */
  readonly #hits: { readonly entry: CacheEntry; readonly visit: number | undefined }[] = [];
  /** Whether there was no cache before this one: then no file is looked for until one is stored. */
  #isNew: Promise<boolean> | undefined;
  #isDown = false;
  #isSwept = false;

  constructor(options: StoredFilesOptions) {
    this.#options = options;
    this.#entries = new CacheEntries(options.store);
  }

  /** Whether the store has failed. */
  get isDown(): boolean {
    return this.#isDown;
  }

  /** Looks for each file from now on, because another tab may have stored it. */
  expectFiles(): void {
    this.#isNew = Promise.resolve(false);
  }

  /** Returns a file, which stays while the model is being loaded. @throws `aborted` */
  async find(key: string, signal: AbortSignal | undefined): Promise<CachedFile | undefined> {
    this.#used.add(key);
    const failure = 'Cached files cannot be read';
    const look = async (): Promise<CachedFile | undefined> => {
      const entry = await this.#ask(failure, LOOK_MS, signal, () => this.#entries.find(key));
      if (!entry) return undefined;
      return await this.#ask(failure, LOOK_MS + entry.bytes / BYTES_PER_MS, signal, () => this.#entries.open(entry));
    };
    const looking = look();
    // If there was no cache, this shows it before each file was looked for in vain.
    this.#isNew ??= this.#options.store.isNew().catch(() => false);
    return await Promise.race([looking, this.#isNew.then((isNew) => (isNew ? undefined : looking))]);
  }

  /**
   * Records a use, when `touch` is called.
   * @param isCurrent whether the server has said in this visit that it still has this version
   */
  hit(entry: CacheEntry, isCurrent: boolean): void {
    const visit = isCurrent ? this.#options.visit : undefined;
    if (isCurrent || Date.now() - entry.usedAt > TOUCH_MS) this.#hits.push({ entry, visit });
  }

  /** Writes the recorded uses. */
  async touch(): Promise<void> {
    await Promise.all(
      this.#hits.splice(0).map(({ entry, visit }) =>
        this.#ask('Files cannot be cached', LOOK_MS, undefined, async () => {
          await this.#entries.touch(entry, TOUCH_MS, visit).catch(unlessBusy);
        }),
      ),
    );
  }

  /** Returns when the last visit began in which the server had this version of the file. @throws `aborted` */
  async lastVisit(entry: CacheEntry, signal: AbortSignal | undefined): Promise<number> {
    const asked = this.#ask('Cached files cannot be read', LOOK_MS, signal, () => this.#entries.lastVisit(entry));
    return (await asked) ?? entry.visit;
  }

  /** Deletes a file. @throws `aborted` */
  async delete(entry: CacheEntry, signal: AbortSignal | undefined): Promise<void> {
    await this.#ask('Files cannot be cached', WRITE_MS, signal, () => this.#entries.delete(entry));
  }

  /**
   * Stores a file, or that there is none, and makes room for it.
   * @param isLocked whether this tab holds the file's lock, so that no other tab writes it
   * @throws `aborted`
   */
  async save(
    request: FileRequest,
    file: DownloadedFile | undefined,
    isLocked: boolean | Promise<boolean> | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const bytes = file?.blob.size ?? 0;
    await this.#ask('Files cannot be cached', WRITE_MS + bytes / BYTES_PER_MS, signal, async () => {
      const limit = await limitFor(bytes, this.#options.estimate);
      const sweep = (): Promise<boolean> => this.#sweep(request, isLocked);
      const hasRoom = limit === undefined || (await this.#makeRoom(bytes, limit, request));
      if (hasRoom && (await this.#write(request, file, sweep))) {
        if (!this.#isSwept) await sweep();
        return;
      }
      this.#options.warn(
        `${request.url} is not cached, and will be downloaded again: there is no room for its ${bytes} bytes.`,
      );
    });
  }

  /**
   * Writes a file. If the quota does not allow it, deletes what crashes have left, and then other files. Returns
   * whether it is stored.
   */
  async #write(
    request: FileRequest,
    file: DownloadedFile | undefined,
    sweep: () => Promise<boolean>,
  ): Promise<boolean> {
    const remedies = [
      sweep,
      async () => await this.#makeRoom(file?.blob.size ?? 0, totalOf(await this.#entries.list()), request),
    ];
    for (;;) {
      try {
        this.expectFiles();
        await this.#entries.save(keyOf(request), request.url, file?.blob, file, this.#options.visit).catch(unlessBusy);
        return true;
      } catch (error) {
        if (!isNamed(error, 'QuotaExceededError')) throw error;
        let hasRoom = false;
        while (!hasRoom && remedies.length > 0) hasRoom = await remedies.shift()!();
        if (!hasRoom) return false;
      }
    }
  }

  /**
   * Deletes the least recently used files until this many bytes are free below the limit, and the version of the file
   * that is to be replaced, which the server no longer has. Files of the model that is being loaded stay.
   * @returns whether there is room now; if there cannot be, nothing is deleted
   */
  async #makeRoom(bytes: number, limit: number, request: FileRequest): Promise<boolean> {
    const own = keyOf(request);
    const all = await this.#entries.list();
    const doomed: CacheEntry[] = [];
    let excess = totalOf(all) + bytes - limit;
    for (const entry of all) {
      if (excess <= 0) break;
      if (entry.key !== own && this.#used.has(entry.key)) continue;
      doomed.push(entry);
      excess -= entry.bytes;
    }
    if (excess > 0) return false;
    for (const entry of doomed) await this.#entries.delete(entry);
    return true;
  }

  /**
   * Deletes what crashes have left. The lock of a file shows that nobody is writing it. Returns whether there was any.
   */
  async #sweep(request: FileRequest, isLocked: boolean | Promise<boolean> | undefined): Promise<boolean> {
    const { locks } = this.#options;
    if (!locks) return false;
    this.#isSwept = true;
    const own = (await isLocked) ? await idOf(keyOf(request)) : undefined;
    return await this.#entries.sweep(
      async (id) => id === own || (await locks.request(lockOf(id), { ifAvailable: true }, (lock) => lock !== null)),
    );
  }

  /**
   * Asks the store. If it fails or does not answer in time, that is reported, and it is not asked again.
   * @throws `aborted`
   */
  async #ask<T>(
    failure: string,
    milliseconds: number,
    signal: AbortSignal | undefined,
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    if (this.#isDown) return undefined;
    try {
      return await withinLimit('The cache', work, { milliseconds, clock: this.#options.clock, signal });
    } catch (error) {
      if (signal?.aborted) throw error;
      // Concurrent calls all fail for the same reason; one report is enough.
      if (!this.#isDown) this.#options.warn(`${failure}: ${messageOf(error)}`);
      this.#isDown = true;
      return undefined;
    }
  }
}

/** Returns the name of a file's lock. */
export function lockOf(id: string): string {
  return `tabserve/file/${id}`;
}

/**
 * Returns how many bytes the cached files may have together, after this many are added; undefined if the whole origin is
 * below that limit.
 */
async function limitFor(bytes: number, estimate: () => Promise<StorageEstimate>): Promise<number | undefined> {
  const { quota, usage = Infinity } = await estimate();
  const limit = quota === undefined ? DEFAULT_MAX_BYTES : Math.floor(quota * QUOTA_SHARE);
  return usage + bytes <= limit ? undefined : limit;
}

/**
 * Assumes that another tab is writing the same file: in the file system of some browsers, only one at a time may.
 * @throws any other error
 */
function unlessBusy(error: unknown): void {
  if (!isNamed(error, 'NoModificationAllowedError')) throw error;
}

function isNamed(error: unknown, name: string): boolean {
  return isError(error) && error.name === name;
}
