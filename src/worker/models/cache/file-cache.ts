import type { CacheName, Validators } from '../../../contract/downloads.js';
import { isError, TabServeError } from '../../../contract/errors.js';
import { idOf, type CachedFile } from '../../../shared/cache/cache-entries.js';
import { strongEtag } from '../download/version.js';
import { isImmutable, keyOf, mayDiffer, validatorsFor, type FileRequest } from './file-request.js';
import { hasSameBytes } from '../read-blob.js';
import { takeFileLock, withFileLock, type OnBytes } from './file-lock.js';
import { lockOf, StoredFiles, type StoredFilesOptions } from './stored-files.js';
import { VersionsInUse } from './versions-in-use.js';
import { STORES } from '../../../shared/cache/stores.js';
import { browserClock } from '../../../shared/clock.js';

/** A file that the server has sent, after its size and hash were checked. */
export interface DownloadedFile extends Validators {
  readonly blob: Blob;
  /** Whether it may be cached for another visit. @default true */
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
  /**
   * Called with the copy in the cache, before the server is asked whether it still has this version. Not called for a
   * private file.
   */
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
  /** Called with the file as soon as it is there, before it is stored. */
  readonly deliver: (blob: Blob | undefined) => void;
}

/**
 * Files of models and engines, cached for the next visit. The cache never makes a load fail: a store that throws, hangs
 * or is full is reported once, and from then on files are only downloaded.
 */
export class FileCache {
  readonly #options: StoredFilesOptions;
  readonly #stored: StoredFiles;
  readonly #storing = new Set<Promise<unknown>>();
  readonly #versions = new VersionsInUse();
  #usesCopies = false;

  constructor(options: StoredFilesOptions) {
    this.#options = options;
    this.#stored = new StoredFiles(options);
  }

  /**
   * Returns a file from the cache, or downloads and stores it. One tab downloads it for all that want it. A downloaded
   * file is returned at once, and stored meanwhile: see `stored`.
   * @returns undefined if the server has no such file
   * @throws what `download` throws, except that a stored file is returned if the server cannot be reached; `network`
   *   if such a copy may not fit another file in use; `aborted`
   */
  get(request: FileRequest, download: Download, options: GetOptions = {}): Promise<Blob | undefined> {
    return new Promise((resolve, reject) => {
      const storing = this.#get(request, download, options, resolve)
        .then(resolve, reject)
        .finally(() => this.#storing.delete(storing));
      this.#storing.add(storing);
    });
  }

  /**
   * Waits until every file that was asked for is stored, or cannot be. Records only then which files were used, because
   * that would delay the files before.
   */
  async stored(): Promise<void> {
    await Promise.all(this.#storing);
    await this.#stored.touch();
  }

  async #get(
    request: FileRequest,
    download: Download,
    { signal, onBytes = () => {}, onCopy }: GetOptions,
    deliver: Turn['deliver'],
  ): Promise<Blob | undefined> {
    const key = keyOf(request);
    const { locks, clock } = this.#options;
    const taken =
      locks &&
      idOf(key)
        .then((id) => takeFileLock(lockOf(id), locks))
        .catch(() => undefined);
    const giveBack = (): void => void taken?.then((release) => release?.());
    const turn = { request, download, onBytes, onCopy, signal, deliver };
    try {
      const found = await this.#stored.find(key, signal);
      // While it holds the lock, nobody deletes what it writes. A tab that finds the file does not wait for the lock.
      if (found) return await this.#use(found, { ...turn, isLocked: taken?.then(Boolean) });
      if (this.#stored.isDown) {
        giveBack();
        return fileOf(await download(undefined, onBytes))?.blob;
      }
      const work = async (onBytes: OnBytes, lock: 'free' | 'waited' | undefined): Promise<Blob | undefined> => {
        const own = { ...turn, onBytes, isLocked: lock !== undefined };
        // A tab that had the lock may have stored it meanwhile.
        if (lock !== 'free') this.#stored.expectFiles();
        const found = lock === 'free' ? undefined : await this.#stored.find(key, signal);
        return found ? await this.#use(found, own) : await this.#store(await download(undefined, onBytes), own);
      };
      return await withFileLock(lockOf(await idOf(key)), work, { locks, clock, signal, onBytes, taken });
    } finally {
      giveBack();
    }
  }

  /** Returns the cached file if the server still has this version of it; otherwise, what the server has. */
  async #use(copy: CachedFile, turn: Turn): Promise<Blob | undefined> {
    const { entry, blob } = copy;
    const { request, download, onBytes, onCopy, signal } = turn;
    let isCurrent = false;
    if (!isImmutable(request) || blob === undefined) {
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
          const sent = await this.#store(answer, turn, isTold ? undefined : copy);
          // The server allowed caching the former version, but not this one.
          if (fileOf(answer)?.isStorable === false) await this.#stored.delete(entry, signal);
          return sent;
        }
        this.#add(request, entry.visit);
      } catch (error) {
        // The server has begun to send another version: the copy would not fit the archive's other files.
        if (request.isPrivate || isReplaced || !isUnreachable(error)) throw error;
        if (mayDiffer(request)) {
          const last = await this.#stored.lastVisit(entry, signal);
          // The file is retried as often as one without a copy, because the server may be reachable now.
          if (!this.#versions.add(entry.visit, last)) return await this.#downloadInstead(turn);
        }
        if (!this.#usesCopies) this.#options.warn(`Cached files are used: ${error.message}`);
        this.#usesCopies = true;
      }
    }
    this.#stored.hit(entry, isCurrent && mayDiffer(request));
    if (blob) onBytes(blob.size, blob.size);
    return blob;
  }

  /** Downloads a file whose copy may not fit other files in use. @throws `network` */
  async #downloadInstead(turn: Turn): Promise<Blob | undefined> {
    const { request, download, onBytes } = turn;
    try {
      return await this.#store(await download(undefined, onBytes), turn);
    } catch (cause) {
      if (!isUnreachable(cause)) throw cause;
      throw new TabServeError(
        'network',
        `${request.url} cannot be downloaded, and its cached copy may be of another version than the archive's other files: no visit has seen them together. Load the model again when the server can be reached.`,
        { cause },
      );
    }
  }

  /**
   * Returns a file that the server has sent, and stores it.
   * @param copy what it may be the version of; undefined if it is another version, or there is no copy
   * @throws `network` if it is new, and a copy of another file is in use that it may not fit
   */
  async #store(answer: Answer, turn: Turn, copy?: CachedFile): Promise<Blob | undefined> {
    const { request, signal, deliver, isLocked } = turn;
    const file = fileOf(answer);
    if (!copy) this.#add(request, this.#options.visit);
    deliver(file?.blob);
    // Without a strong ETag, a private file could never be used again.
    const isUseful = request.isPrivate ? file && strongEtag(file) : file !== undefined || !isImmutable(request);
    if (!isUseful || file?.isStorable === false) return file?.blob;
    if (copy && file && (await isCopy(file, copy))) this.#stored.hit(copy.entry, true);
    else await this.#stored.save(request, file, isLocked, signal);
    return file?.blob;
  }

  /**
   * Adds a file that the server has now to those in use.
   * @param since when the visit began that has downloaded this version
   * @throws `network` if a copy of another file is in use that it may not fit
   */
  #add(request: FileRequest, since: number): void {
    if (!mayDiffer(request) || this.#versions.add(since, Infinity)) return;
    throw new TabServeError(
      'network',
      `${request.url} is new on the server, and may not fit cached files in use. Load the model again.`,
    );
  }
}

/** Returns whether the server has sent what the copy has, and nothing that would tell it from a later version. */
async function isCopy({ blob, etag, lastModified }: DownloadedFile, copy: CachedFile): Promise<boolean> {
  if (etag !== undefined || lastModified !== undefined || !copy.blob) return false;
  // A copy that cannot be read is replaced.
  return await hasSameBytes(blob, copy.blob).catch(() => false);
}

function fileOf(answer: Answer): DownloadedFile | undefined {
  return answer === 'not-modified' ? undefined : answer;
}

/** Returns whether a download has failed without an answer of the server's: then there is a cause. */
function isUnreachable(error: unknown): error is TabServeError {
  return isError(error) && error instanceof TabServeError && error.code === 'network' && error.cause !== undefined;
}

/** Returns the cache of that name, on this origin, for a visit; undefined for `none`. */
export function openCache(name: CacheName, visit: number, warn: StoredFilesOptions['warn']): FileCache | undefined {
  if (name === 'none') return undefined;
  return new FileCache({
    store: STORES[name],
    clock: browserClock,
    visit,
    locks: globalThis.navigator?.locks,
    estimate: async () => (await globalThis.navigator?.storage?.estimate?.()) ?? {},
    warn,
  });
}
