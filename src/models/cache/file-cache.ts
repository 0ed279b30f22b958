import type { Validators } from '../../contract/downloads.js';
import { isError, messageOf, TabServeError } from '../../contract/errors.js';
import type { BlobStore } from '../../shared/cache/blob-store.js';
import { CacheEntries, idOf, totalOf, type CacheEntry, type CachedFile } from '../../shared/cache/cache-entries.js';
import type { Clock } from '../../shared/clock.js';
import { withinLimit } from '../../shared/limit.js';
import { strongEtag } from '../download/version.js';
import { isImmutable, keyOf, mayDiffer, validatorsFor, type FileRequest } from './file-request.js';
import { takeFileLock, withFileLock, type OnBytes } from './file-lock.js';
import { limitFor, makeRoom } from './make-room.js';

/** How long the store may take to look for a file, and to read it: this, and a second for every four megabytes. */
const LOOK_MS = 5000;
/** How long the store may take to write a file: this, and a second for every four megabytes. */
const WRITE_MS = 10_000;
const BYTES_PER_MS = 4000;
/** The time of the last use is written at most this often. */
const TOUCH_MS = 3_600_000;

export interface FileCacheOptions {
  readonly store: BlobStore;
  readonly clock: Clock;
  readonly locks: Pick<LockManager, 'request'> | undefined;
  /** Returns the origin's quota. */
  readonly estimate: () => Promise<StorageEstimate>;
  /** Called when files cannot be cached, or a cached file is used because the server cannot be reached. */
  readonly warn: (message: string) => void;
}

/** A file as the server has sent it, after its size and hash were checked. */
export interface DownloadedFile extends Validators {
  readonly blob: Blob;
  /** Whether it may be kept for another visit. @default true */
  readonly isStorable?: boolean;
}

/** `not-modified` if the server still has the version of the copy in the cache; undefined if it has no such file. */
type Answer = DownloadedFile | 'not-modified' | undefined;

/**
 * Downloads a file.
 * @param validators of what is cached; undefined if nothing is
 * @throws `network` with a cause if the server did not answer, without one if its answer was an error
 */
export type Download = (validators: Validators | undefined, onBytes: OnBytes) => Promise<Answer>;

/** Called with the copy of a file; undefined if the server had no such file. */
export type OnCopy = (copy: Blob | undefined) => void;

export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the download, also if another tab makes it. */
  readonly onBytes?: OnBytes | undefined;
  /** Called with the copy in the cache, before the server is asked whether it still has this version. Not called for a private file. */
  readonly onCopy?: OnCopy | undefined;
}

/** One use of a file. */
interface Turn {
  readonly request: FileRequest;
  readonly download: Download;
  readonly onBytes: OnBytes;
  readonly onCopy: OnCopy | undefined;
  readonly signal: AbortSignal | undefined;
  /** Whether this tab holds the file's lock, so that no other tab writes it. */
  readonly isLocked: boolean | Promise<boolean> | undefined;
  /** Takes the file as soon as it is there, before it is stored. */
  readonly deliver: (blob: Blob | undefined) => void;
}

/**
 * Files of models and engines, kept for the next visit. The cache never makes a load fail: a store that throws, hangs or is full is reported once, and from then on
 * files are only downloaded.
 */
export class FileCache {
  readonly #options: FileCacheOptions;
  readonly #entries: CacheEntries;
  /** Keys of the files that were asked for: they make no room for one another. */
  readonly #used = new Set<string>();
  readonly #storing = new Set<Promise<unknown>>();
  /** Files whose use is recorded later. */
  readonly #hits: CacheEntry[] = [];
  /** Whether there was no cache before this one: then no file is waited for, until one is stored. */
  #isNew: Promise<boolean> | undefined;
  #isDown = false;
  #isSwept = false;
  /** Whether a copy is used although the server did not say that it still has this version. Then nothing new is: it may not fit the copy. */
  #usesCopies = false;
  /** Whether the server has sent another version of a file, or one that there was no copy of. Then no copy is used without its word. */
  #isNewer = false;

  constructor(options: FileCacheOptions) {
    this.#options = options;
    this.#entries = new CacheEntries(options.store);
  }

  /**
   * Returns a file from the cache, or downloads and stores it. One tab downloads it for all that want it. What is downloaded is returned at once, and stored
   * meanwhile: see `stored`.
   * @returns undefined if the server has no such file
   * @throws what `download` throws, except that a file at hand is returned if the server cannot be reached; `network` for a file that is new where others are such
   *   copies; `aborted`
   */
  get(request: FileRequest, download: Download, options: GetOptions = {}): Promise<Blob | undefined> {
    return new Promise((resolve, reject) => {
      const storing = this.#get(request, download, options, resolve)
        .then(resolve, reject)
        .finally(() => this.#storing.delete(storing));
      this.#storing.add(storing);
    });
  }

  /** Waits until every file that was asked for is stored, or cannot be. Then records which files were used: while they are waited for, that would hold them up. */
  async stored(): Promise<void> {
    await Promise.all(this.#storing);
    const touch = (entry: CacheEntry): Promise<void> => this.#entries.touch(entry, TOUCH_MS);
    await Promise.all(
      this.#hits.splice(0).map((entry) => this.#ask('Files cannot be cached', LOOK_MS, undefined, () => touch(entry))), // prettier-ignore
    );
  }

  async #get(
    request: FileRequest,
    download: Download,
    { signal, onBytes = () => {}, onCopy }: GetOptions,
    deliver: Turn['deliver'],
  ): Promise<Blob | undefined> {
    const key = keyOf(request);
    this.#used.add(key);
    const { locks, clock } = this.#options;
    const taken =
      locks &&
      idOf(key)
        .then((id) => takeFileLock(lockOf(id), locks))
        .catch(() => undefined);
    const giveBack = (): void => void taken?.then((release) => release?.());
    const turn = { request, download, onBytes, onCopy, signal, deliver };
    try {
      const found = await this.#find(key, signal);
      // While it holds the lock, nobody deletes what it writes. No tab that finds the file waits for the lock.
      if (found) return await this.#use(found, { ...turn, isLocked: taken?.then(Boolean) });
      if (this.#isDown) {
        giveBack();
        return fileOf(await download(undefined, onBytes))?.blob;
      }
      const work = async (onBytes: OnBytes, lock: 'free' | 'waited' | undefined): Promise<Blob | undefined> => {
        const own = { ...turn, onBytes, isLocked: lock !== undefined };
        // A tab that had the lock may have stored it meanwhile.
        if (lock !== 'free') this.#isNew = Promise.resolve(false);
        const found = lock === 'free' ? undefined : await this.#find(key, signal);
        return found ? await this.#use(found, own) : await this.#store(await download(undefined, onBytes), own);
      };
      return await withFileLock(lockOf(await idOf(key)), work, { locks, clock, signal, onBytes, taken });
    } finally {
      giveBack();
    }
  }

  async #find(key: string, signal: AbortSignal | undefined): Promise<CachedFile | undefined> {
    const failure = 'Cached files cannot be read';
    const look = async (): Promise<CachedFile | undefined> => {
      const entry = await this.#ask(failure, LOOK_MS, signal, () => this.#entries.find(key));
      if (!entry) return undefined;
      return await this.#ask(failure, LOOK_MS + entry.bytes / BYTES_PER_MS, signal, () => this.#entries.open(entry));
    };
    const looking = look();
    // Where there was no cache, that is known before each file was looked for in vain.
    this.#isNew ??= this.#options.store.isNew().catch(() => false);
    return await Promise.race([looking, this.#isNew.then((isNew) => (isNew ? undefined : looking))]);
  }

  /** Returns the cached file if the server still has this version of it; otherwise, what the server has. */
  async #use({ entry, blob }: CachedFile, turn: Turn): Promise<Blob | undefined> {
    const { request, download, onBytes, onCopy } = turn;
    let isCurrent = isImmutable(request) && blob !== undefined;
    if (!isCurrent) {
      const known = validatorsFor(request, entry);
      if (!request.isPrivate) onCopy?.(blob);
      // Without validators, what the server sends may be the copy's version.
      const isTold = blob === undefined || known?.etag !== undefined || known?.lastModified !== undefined;
      let isReplaced = false;
      const onNewBytes: OnBytes = (loaded, total) => {
        isReplaced = isTold;
        onBytes(loaded, total);
      };
      try {
        const answer = await download(known, onNewBytes);
        // A file that was missing, and still is, need not be stored again.
        isCurrent = answer === 'not-modified' || (!answer && !blob);
        if (!isCurrent) {
          const sent = await this.#store(answer, turn, isTold);
          // The server had allowed to keep the former version, and does so no more.
          if (fileOf(answer)?.isStorable === false)
            await this.#ask('Files cannot be cached', WRITE_MS, turn.signal, () => this.#entries.delete(entry));
          return sent;
        }
      } catch (error) {
        // The server has begun to send another version: the copy would not fit the archive's other files.
        if (request.isPrivate || isReplaced || !isUnreachable(error)) throw error;
        // The server can be reached, and has other versions: this file is tried as often as one without a copy.
        if (this.#isNewer) return await this.#store(await download(undefined, onBytes), turn);
        if (!this.#usesCopies) this.#options.warn(`Cached files are used: ${error.message}`);
        this.#usesCopies = true;
      }
    }
    if (Date.now() - entry.usedAt > TOUCH_MS) this.#hits.push(entry);
    if (blob) onBytes(blob.size, blob.size);
    return blob;
  }

  /**
   * Returns a file that the server has sent, and stores it.
   * @param isNew whether it is another version than the copy's, or there is none
   * @throws `network` if it is new, and a copy of another file is in use that it may not fit
   */
  async #store(answer: Answer, turn: Turn, isNew = true): Promise<Blob | undefined> {
    const { request, signal, deliver } = turn;
    const file = fileOf(answer);
    if (isNew && mayDiffer(request)) {
      if (this.#usesCopies)
        throw new TabServeError(
          'network',
          `${request.url} is new on the server, and may not fit cached files in use. Load the model again.`,
        );
      this.#isNewer = true;
    }
    deliver(file?.blob);
    // Without a strong ETag, a private file could never be used again.
    const isUseful = request.isPrivate ? file && strongEtag(file) : file !== undefined || !isImmutable(request);
    if (isUseful && file?.isStorable !== false) {
      const bytes = file?.blob.size ?? 0;
      const milliseconds = WRITE_MS + bytes / BYTES_PER_MS;
      await this.#ask('Files cannot be cached', milliseconds, signal, async () => {
        const limit = await limitFor(bytes, this.#options.estimate);
        const hasRoom = limit === undefined || (await this.#makeRoom(bytes, limit, request));
        if (hasRoom && (await this.#save(file, turn))) {
          if (!this.#isSwept) await this.#sweep(turn);
          return;
        }
        this.#options.warn(
          `${request.url} is not cached, and will be downloaded again: there is no room for its ${bytes} bytes.`,
        );
      });
    }
    return file?.blob;
  }

  /** Stores a file. If the quota does not allow it, deletes what crashes have left, and then other files. Returns whether it is stored. */
  async #save(file: DownloadedFile | undefined, turn: Turn): Promise<boolean> {
    const { request } = turn;
    const remedies = [
      () => this.#sweep(turn),
      async () => await this.#makeRoom(file?.blob.size ?? 0, totalOf(await this.#entries.list()), request),
    ];
    for (;;) {
      try {
        this.#isNew = Promise.resolve(false);
        await this.#entries.save(keyOf(request), request.url, file?.blob, file);
        return true;
      } catch (error) {
        // Another tab is writing the file's entry: in the file system of some browsers, one at a time may.
        if (isNamed(error, 'NoModificationAllowedError')) return true;
        if (!isNamed(error, 'QuotaExceededError')) throw error;
        let hasRoom = false;
        while (!hasRoom && remedies.length > 0) hasRoom = await remedies.shift()!();
        if (!hasRoom) return false;
      }
    }
  }

  /** Deletes other files, and the version that is to be replaced: the server has it no more. */
  async #makeRoom(bytes: number, limit: number, request: FileRequest): Promise<boolean> {
    const own = keyOf(request);
    return await makeRoom(this.#entries, bytes, limit, ({ key }) => key !== own && this.#used.has(key));
  }

  /** Deletes what crashes have left. The lock of a file shows that nobody is writing it. Returns whether there was any. */
  async #sweep({ request, isLocked }: Turn): Promise<boolean> {
    const { locks } = this.#options;
    if (!locks) return false;
    this.#isSwept = true;
    const own = (await isLocked) ? await idOf(keyOf(request)) : undefined;
    return await this.#entries.sweep(
      async (id) => id === own || (await locks.request(lockOf(id), { ifAvailable: true }, (lock) => lock !== null)),
    );
  }

  /** Asks the store. If it fails or does not answer in time, that is reported, and it is not asked again. @throws `aborted` */
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
      // Calls that are under way at once all fail for the same reason; one report will do.
      if (!this.#isDown) this.#options.warn(`${failure}: ${messageOf(error)}`);
      this.#isDown = true;
      return undefined;
    }
  }
}

function lockOf(id: string): string {
  return `tabserve/file/${id}`;
}

function fileOf(answer: Answer): DownloadedFile | undefined {
  return answer === 'not-modified' ? undefined : answer;
}

/** Returns whether a download has failed without an answer of the server's: then there is a cause. */
function isUnreachable(error: unknown): error is TabServeError {
  return isError(error) && error instanceof TabServeError && error.code === 'network' && error.cause !== undefined;
}

function isNamed(error: unknown, name: string): boolean {
  return isError(error) && error.name === name;
}
