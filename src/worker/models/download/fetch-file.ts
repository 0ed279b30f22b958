import type { FilePhase, FileProgress, Integrity } from '../../../contract/archive.js';
import { browserClock } from '../../../shared/clock.js';
import type { Clock } from '../../../shared/clock.js';
import { isPrivate, type RequestPolicy } from '../../../shared/request-policy.js';
import type { Download, FileCache, OnCopy } from '../cache/file-cache.js';
import { checkFile, rememberHash } from '../integrity.js';
import { downloadFile } from './download-file.js';
import type { Concurrency } from './concurrency.js';

export interface FetchOptions extends RequestPolicy {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Called at least once a second while a retry is waited for. */
  readonly onHeartbeat?: (() => void) | undefined;
  /** Downloads that have begun, by URL. All requests for the same file share one download. */
  readonly downloads?: Map<string, Promise<Blob | undefined>>;
  /** The size and hash that files must have, by their path, in addition to what the archive says. */
  readonly integrity?: Readonly<Record<string, Integrity>> | undefined;
  /** The paths of files that were found. */
  readonly found?: Set<string>;
  /** The maximum number of bytes that the file may have. */
  readonly maxBytes?: number;
  /** The URL to download the file from, if that is not the one by which it is cached: that of a commit. */
  readonly from?: URL | undefined;
  /** Names the file's content. A copy of this version is used, and the server is not asked. */
  readonly version?: string | undefined;
  /** How many downloads run at once. */
  readonly limit?: Concurrency;
  /**
   * Called with what an earlier visit has stored of the file, before the server is asked whether it still has it:
   * undefined if it had no such file. Not called for a private file.
   */
  readonly onCopy?: OnCopy | undefined;
  /** Undefined if nothing is cached for the next visit. */
  readonly cache?: FileCache | undefined;
  /** @default the browser's */
  readonly clock?: Clock;
  /** @default `Math.random` */
  readonly random?: () => number;
}

/**
 * Reads a file from the cache or downloads it, or joins a download of it that runs already.
 * @param expected given for a file that must be there: its progress is reported from the start, with its size where
 *   that is known
 * @returns undefined if there is no such file
 * @throws what `downloadFile` throws
 */
export function fetchFile(
  url: URL,
  file: string,
  options: FetchOptions,
  expected?: Integrity,
): Promise<Blob | undefined> {
  const { downloads, onProgress } = options;
  const begun = downloads?.get(url.href);
  if (begun && expected?.sha256 === undefined) return begun;
  if (expected && !begun) onProgress?.({ file, loaded: 0, total: expected.bytes, phase: 'download' });
  const fetch = (): Promise<Blob | undefined> => fetchOne(url, file, options, expected);
  const running = begun ? checked(begun, file, expected!, fetch) : fetch();
  downloads?.set(url.href, running);
  // A download that begins early may fail before anyone asks for its file. It has been retried, so a later call gets
  // its failure.
  running.catch(() => {});
  return running;
}

/**
 * Returns what was downloaded before its hash was known. If that is another version, the file is fetched again, by its
 * hash.
 */
async function checked(
  begun: Promise<Blob | undefined>,
  file: string,
  expected: Integrity,
  fetchAgain: () => Promise<Blob | undefined>,
): Promise<Blob | undefined> {
  const blob = await begun;
  if (!blob) return undefined;
  try {
    await checkFile(blob, expected, file);
    return blob;
  } catch {
    return await fetchAgain();
  }
}

async function fetchOne(
  url: URL,
  file: string,
  options: FetchOptions,
  expected: Integrity | undefined,
): Promise<Blob | undefined> {
  const {
    limit = (work) => work(),
    onProgress,
    clock = browserClock,
    random = Math.random,
    cache,
    signal,
    onCopy,
    from = url,
    version,
  } = options;
  const report = (loaded: number, total: number | undefined, phase: FilePhase = 'download'): void =>
    onProgress?.({ file, loaded, total, phase });
  const download: Download = (validators, onBytes) =>
    limit(
      () =>
        downloadFile(from, {
          ...options,
          clock,
          random,
          expected,
          validators,
          onProgress: (loaded, total, phase) => (phase === 'download' ? onBytes : report)(loaded, total, phase),
        }),
      signal,
    );
  const request = { url: url.href, sha256: expected?.sha256, version, isPrivate: isPrivate(options) };
  const blob = cache
    ? await cache.get(request, download, { signal, onBytes: report, onCopy })
    : blobOf(await download(undefined, report));
  // It was compared when it was downloaded; the cache finds it by its hash.
  if (blob && expected?.sha256 !== undefined) rememberHash(blob, expected.sha256);
  return blob;
}

function blobOf(answer: Awaited<ReturnType<Download>>): Blob | undefined {
  return answer === 'not-modified' ? undefined : answer?.blob;
}
