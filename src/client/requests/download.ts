import { TabServeError } from '../../contract/errors.js';
import { shortenUrl } from './pictures.js';

/**
 * Downloads the image or audio file of a URL that the caller passed (`https:`, `data:` or `blob:`), with cookies for the page's own origin only.
 * The server's content type does not matter: the decoder looks at the bytes.
 * @throws `invalid-input`, naming the URL, and the status or the remedy, if it cannot be downloaded
 */
export async function downloadImage(url: string, signal?: AbortSignal): Promise<Blob> {
  try {
    const response = await fetch(url, signal ? { signal } : {});
    if (response.ok) return await response.blob();
    void response.body?.cancel();
    throw failed(url, `the server answered ${response.status} ${response.statusText}`.trim());
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw failed(url, reason(url), cause);
  }
}

function failed(url: string, why: string, cause?: unknown): TabServeError {
  return new TabServeError('invalid-input', `The file ${shortenUrl(url)} could not be downloaded: ${why}.`, { cause });
}

/** A browser does not tell a page why a request has failed. */
function reason(url: string): string {
  const { protocol, origin } = new URL(url);
  if (protocol === 'blob:') return 'this object URL has been revoked, or belongs to another origin';
  if (protocol === 'file:') return 'it is a file: pass its bytes as a Blob';
  const policy = "the page's Content-Security-Policy (connect-src) forbids the request";
  if (origin === globalThis.location?.origin) return `the server cannot be reached, or ${policy}`;
  return (
    `the server cannot be reached, or does not allow this page to read its files (CORS), or ${policy}. ` +
    "Let the server send Access-Control-Allow-Origin, serve the file from the page's own origin, or pass a Blob"
  );
}
