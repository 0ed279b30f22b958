import type { Progress } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';

export interface FetchOptions {
  readonly fetch: typeof fetch;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
}

/**
 * Downloads a file.
 * @returns undefined if there is none: the server says 404 or 410, or answers a page of HTML, as development servers do for a missing file
 * @throws `network` for any other failure; `aborted`
 */
export async function fetchFile(
  url: URL,
  file: string,
  { fetch, signal, onProgress }: FetchOptions,
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
    return await readBody(response, file, onProgress);
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

async function readBody(response: Response, file: string, onProgress: FetchOptions['onProgress']): Promise<Blob> {
  if (!response.body || !onProgress) return await response.blob();
  // The length of a compressed body says nothing of the bytes that come out of it.
  const length = response.headers.has('content-encoding') ? null : response.headers.get('content-length');
  const total = length === null ? undefined : Number(length);
  let loaded = 0;
  const counter = new TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>>({
    transform(chunk, controller) {
      loaded += chunk.byteLength;
      onProgress({ file, loaded, total });
      controller.enqueue(chunk);
    },
  });
  onProgress({ file, loaded, total });
  const blob = await new Response(response.body.pipeThrough(counter)).blob();
  onProgress({ file, loaded: blob.size, total: blob.size });
  return blob;
}
