import type { Validators } from '../../contract/downloads.js';
import { describeThrown, isError, messageOf, TabServeError } from '../../contract/errors.js';
import type { BlobStore } from '../../shared/cache/blob-store.js';
import { CacheEntries, idOf, type CachedFile } from '../../shared/cache/cache-entries.js';
import type { Clock } from '../../shared/clock.js';
import { withinLimit } from '../../shared/limit.js';
import { withFileLock, type OnBytes } from './file-lock.js';
import { limitFor, makeRoom } from './make-room.js';

/** How long the store may take to look for a file. */
const LOOK_MS = 5000;
/** How long the store may take to write a file: this, and a second for every four megabytes. */
const WRITE_MS = 10_000;
const WRITE_BYTES_PER_MS = 4000;
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

/** Which file is wanted. */
export interface FileRequest {
  readonly url: string;
  /** The file's SHA-256. Such a file is found by it, at any URL, and the server is not asked. */
  readonly sha256?: string | undefined;
  /** The version of a file that never changes, such as an engine's. It is found by URL and version, and the server is not asked. */
  readonly version?: string | undefined;
  /**
   * Whether the request has headers or credentials of the app's. The server is then asked at every use, with those of the moment, whether they may have the file,
   * and whether it is the same; a server that cannot be reached is not replaced by the cache.
   */
  readonly isPrivate?: boolean;
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

export interface GetOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the progress of the download, also if another tab makes it. */
  readonly onBytes?: OnBytes | undefined;
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
  #isDown = false;
  #isSwept = false;
  #isOffline = false;

  constructor(options: FileCacheOptions) {
    this.#options = options;
    this.#entries = new CacheEntries(options.store);
  }

  /**
   * Returns a file from the cache, or downloads and stores it. One tab downloads it for all that want it.
   * @returns undefined if the server has no such file
   * @throws what `download` throws, except that a file at hand is returned if the server cannot be reached; `aborted`
   */
  async get(
    request: FileRequest,
    download: Download,
    { signal, onBytes = () => {} }: GetOptions = {},
  ): Promise<Blob | undefined> {
    const key = keyOf(request);
    this.#used.add(key);
    const found = await this.#find(key, signal);
    if (found) return await this.#use(found, request, download, onBytes, signal);
    if (this.#isDown) return fileOf(await download(undefined, onBytes))?.blob;
    const work = async (onBytes: OnBytes): Promise<Blob | undefined> => {
      // Another tab may have stored it meanwhile.
      const found = await this.#find(key, signal);
      return found
        ? await this.#use(found, request, download, onBytes, signal)
        : await this.#store(request, await download(undefined, onBytes), signal);
    };
    const { locks, clock } = this.#options;
    return await withFileLock(lockOf(await idOf(key)), work, { locks, clock, signal, onBytes });
  }

  async #find(key: string, signal: AbortSignal | undefined): Promise<CachedFile | undefined> {
    return await this.#ask('Cached files cannot be read', LOOK_MS, signal, () => this.#entries.find(key));
  }

  /** Returns the cached file if the server still has this version of it; otherwise, what the server has. */
  async #use(
    { entry, blob }: CachedFile,
    request: FileRequest,
    download: Download,
    onBytes: OnBytes,
    signal: AbortSignal | undefined,
  ): Promise<Blob | undefined> {
    const { etag, lastModified } = entry;
    let isCurrent = isImmutable(request) && blob !== undefined;
    if (!isCurrent) {
      try {
        const answer = await download({ etag, lastModified }, onBytes);
        isCurrent = answer === 'not-modified';
        if (!isCurrent) return await this.#store(request, answer, signal);
      } catch (error) {
        if (request.isPrivate || !isUnreachable(error)) throw error;
        if (!this.#isOffline) this.#options.warn(`Cached files are used: ${error.message}`);
        this.#isOffline = true;
      }
    }
    if (Date.now() - entry.usedAt > TOUCH_MS)
      await this.#ask('Cached files cannot be written', LOOK_MS, signal, () => this.#entries.touch(entry));
    if (blob) onBytes(blob.size, blob.size);
    return blob;
  }

  async #store(request: FileRequest, answer: Answer, signal: AbortSignal | undefined): Promise<Blob | undefined> {
    const file = fileOf(answer);
    // Without an ETag, a private file could never be used again.
    const isUseful = request.isPrivate ? file?.etag !== undefined : file !== undefined || !isImmutable(request);
    if (isUseful && file?.isStorable !== false) {
      const bytes = file?.blob.size ?? 0;
      const milliseconds = WRITE_MS + bytes / WRITE_BYTES_PER_MS;
      await this.#ask('Files cannot be cached', milliseconds, signal, async () => {
        const limit = await limitFor(bytes, this.#options.estimate);
        const hasRoom = limit === undefined || (await this.#makeRoom(bytes, limit));
        if (hasRoom && (await this.#save(request, file))) return await this.#sweep();
        this.#options.warn(
          `${request.url} is not cached, and will be downloaded again at the next visit: there is no room for its ${bytes} bytes.`,
        );
      });
    }
    return file?.blob;
  }

  /** Stores a file. If the quota does not allow it, deletes others and tries again. Returns whether it is stored. */
  async #save(request: FileRequest, file: DownloadedFile | undefined): Promise<boolean> {
    for (let hasMadeRoom = false; ; hasMadeRoom = true) {
      try {
        await this.#entries.save(keyOf(request), request.url, file?.blob, file);
        return true;
      } catch (error) {
        if (!isQuotaError(error)) throw error;
        const total = (await this.#entries.list()).reduce((sum, { bytes }) => sum + bytes, 0);
        if (hasMadeRoom || !(await this.#makeRoom(file?.blob.size ?? 0, total))) return false;
      }
    }
  }

  async #makeRoom(bytes: number, limit: number): Promise<boolean> {
    return await makeRoom(this.#entries, bytes, limit, ({ key }) => this.#used.has(key));
  }

  /** Deletes, once, what crashes have left. The lock of a file shows that nobody is writing it. */
  async #sweep(): Promise<void> {
    const { locks } = this.#options;
    if (this.#isSwept || !locks) return;
    this.#isSwept = true;
    await this.#entries.sweep((id) => locks.request(lockOf(id), { ifAvailable: true }, (lock) => lock !== null));
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
      if (!this.#isDown) this.#options.warn(`${failure}: ${isError(error) ? messageOf(error) : describeThrown(error)}`);
      this.#isDown = true;
      return undefined;
    }
  }
}

function keyOf({ url, sha256, version, isPrivate }: FileRequest): string {
  if (isPrivate) return `private ${sha256?.toLowerCase() ?? ''} ${url}`;
  if (sha256 !== undefined) return `sha256 ${sha256.toLowerCase()}`;
  return version === undefined ? `url ${url}` : `version ${version} ${url}`;
}

function lockOf(id: string): string {
  return `tabserve/file/${id}`;
}

function isImmutable({ sha256, version, isPrivate }: FileRequest): boolean {
  return !isPrivate && (sha256 !== undefined || version !== undefined);
}

function fileOf(answer: Answer): DownloadedFile | undefined {
  return answer === 'not-modified' ? undefined : answer;
}

/** Returns whether a download has failed without an answer of the server's: then there is a cause. */
function isUnreachable(error: unknown): error is TabServeError {
  return isError(error) && error instanceof TabServeError && error.code === 'network' && error.cause !== undefined;
}

function isQuotaError(error: unknown): boolean {
  return isError(error) && error.name === 'QuotaExceededError';
}
