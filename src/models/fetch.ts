import type { FileProgress, Integrity } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { bodySize, countBytes } from '../shared/count-bytes.js';

export interface FetchOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: FileProgress) => void) | undefined;
  /** Downloads that have begun, by URL. Whoever asks for the same file gets the same download. */
  readonly downloads?: Map<string, Promise<Blob | undefined>>;
}

/**
 * Downloads a file.
 * @param expected given for a file that must be there: its progress is told from the start, with its size where that is known
 * @returns undefined if there is none: the server says 404 or 410, or answers a page of HTML, as development servers do for a missing file
 * @throws `network` for any other failure; `aborted`
 */
export function fetchFile(
  url: URL,
  file: string,
  options: FetchOptions,
  expected?: Integrity,
): Promise<Blob | undefined> {
  const { downloads, onProgress } = options;
  const begun = downloads?.get(url.href);
  if (begun) return begun;
  if (expected) onProgress?.({ file, loaded: 0, total: expected.bytes });
  const running = download(url, file, options, expected?.bytes);
  downloads?.set(url.href, running);
  // A failed download is tried again when the file is asked for again.
  running.catch(() => downloads?.delete(url.href));
  return running;
}

async function download(
  url: URL,
  file: string,
  { fetch, signal, onProgress }: FetchOptions,
  bytes: number | undefined,
): Promise<Blob | undefined> {
  try {
    const response = await fetch(url, { signal: signal ?? null });
    const type = response.headers.get('content-type') ?? '';
    if (response.status === 404 || response.status === 410 || (response.ok && /^text\/html\b/i.test(type))) {
      void response.body?.cancel().catch(() => {});
      return undefined;
    }
    if (!response.ok)
      throw new TabServeError(
        'network',
        `${url.href}: the server answered ${response.status} ${response.statusText}`.trim(),
      );
    return await readBody(response, file, bytes ?? bodySize(response), onProgress);
  } catch (cause) {
    if (signal?.aborted)
      throw new TabServeError('aborted', `The download of ${url.href} was aborted.`, { cause: signal.reason });
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError(
      'network',
      `${url.href} could not be downloaded: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

async function readBody(
  response: Response,
  file: string,
  total: number | undefined,
  onProgress: FetchOptions['onProgress'],
): Promise<Blob> {
  if (!response.body || !onProgress) return await response.blob();
  onProgress({ file, loaded: 0, total });
  const counted = countBytes(response.body, (loaded) => onProgress({ file, loaded, total }));
  const blob = await new Response(counted).blob();
  onProgress({ file, loaded: blob.size, total: blob.size });
  return blob;
}
