/**
 * Which origins a download may reach, and what it sends them.
 *
 * A redirect may lead within a file's own origin, to origins that the app names, and from the Hub to its own servers.
 * Where there is no page, as in Node, each redirect is checked before it is followed. A browser does not tell where a
 * redirect leads before it has followed it. So, from strict to less strict:
 *
 * - A file of the page's own origin, with no other origin allowed, is requested in the mode `same-origin`: the browser
 *   refuses to follow a redirect to another origin.
 * - A file of another origin, with no origin named by the app, is requested with `redirect: 'manual'`: the browser
 *   follows no redirect.
 * - If the app names origins, or the Hub, the browser follows, and the response is dropped unread if it has come from another
 *   origin than those. Only then a request may have reached an origin that nobody has named; it carried no header of
 *   the app, and no Referer. `Authorization` may stay, since browsers remove it at a redirect to another origin; a
 *   request with any other header of the app is first made with `redirect: 'manual'`.
 */
import type { DownloadRequest } from '../contract/downloads.js';
import { TabServeError } from '../contract/errors.js';
import { isHub, isHubServer } from './hub.js';

export interface RequestPolicy extends DownloadRequest {
  /** Origins that a redirect may lead to, in addition to the file's own; undefined if the app names none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The page's origin; undefined outside of a browser. */
  readonly pageOrigin?: string | undefined;
}

/** Returns whether a request has credentials or headers of a single user. */
export function isPrivate({ headers = {}, credentials }: DownloadRequest): boolean {
  return credentials === 'include' || Object.keys(headers).length > 0;
}

/** What a request carries in addition to what the app has set. */
export interface RequestExtras {
  /** Headers of ours, such as `Range`. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly cache?: RequestCache;
  readonly signal?: AbortSignal | undefined;
  /** @default GET */
  readonly method?: 'HEAD';
}

/** As many as browsers follow. */
const MAX_REDIRECTS = 20;

/** The only header that browsers remove at a redirect to another origin. */
const REMOVED_BY_BROWSER = 'authorization';

/**
 * Requests a file as the policy allows it.
 * @throws `unsupported` for a redirect to an origin that is not allowed; what `fetch` rejects with
 */
export async function requestFile(
  fetch: typeof globalThis.fetch,
  url: URL,
  policy: RequestPolicy,
  extra: RequestExtras = {},
): Promise<Response> {
  const { headers = {}, credentials = 'same-origin', allowedOrigins, pageOrigin } = policy;
  const init = (own: Readonly<Record<string, string>>, more: RequestInit): RequestInit => ({
    referrerPolicy: 'no-referrer',
    credentials,
    headers: { ...own, ...extra.headers },
    cache: extra.cache ?? 'default',
    ...(extra.method && { method: extra.method }),
    signal: extra.signal ?? null,
    ...more,
  });
  const isOwn = url.origin === pageOrigin;
  if (isOwn && leadsNowhere(url, allowedOrigins)) {
    try {
      return await fetch(url, init(headers, { mode: 'same-origin' }));
    } catch (cause) {
      if (!extra.signal?.aborted && (await isRedirected(fetch, url, init(headers, { redirect: 'manual' }))))
        throw refused(url, 'own');
      throw cause;
    }
  }
  const isAllowed = (origin: string): boolean =>
    origin === url.origin || allowedOrigins?.includes(origin) === true || (isHub(url) && isHubServer(origin));
  if (pageOrigin === undefined) return await followed(fetch, url, isAllowed, init, headers);
  const allowed = Object.entries(headers).filter(([name]) => name.toLowerCase() === REMOVED_BY_BROWSER);
  const mayFollow = isHub(url) || (allowedOrigins !== undefined && allowedOrigins.length > 0);
  if (!mayFollow || allowed.length < Object.keys(headers).length) {
    const response = await fetch(url, init(headers, { redirect: 'manual' }));
    if (!isRedirect(response)) return response;
    discard(response);
    if (!mayFollow) throw refused(url, response.headers.get('location') ?? 'hidden');
  }
  const response = await fetch(url, init(Object.fromEntries(allowed), { redirect: 'follow' }));
  const { origin } = new URL(response.url || url);
  if (isAllowed(origin)) return response;
  discard(response);
  throw refused(url, origin);
}

/** Follows redirects one by one. Headers of the app stay within the file's own origin, until a redirect leaves it. */
async function followed(
  fetch: typeof globalThis.fetch,
  url: URL,
  isAllowed: (origin: string) => boolean,
  init: (headers: Readonly<Record<string, string>>, more: RequestInit) => RequestInit,
  headers: Readonly<Record<string, string>>,
): Promise<Response> {
  let [at, own] = [url, headers];
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    const response = await fetch(at, init(own, { redirect: 'manual' }));
    const location = isRedirect(response) ? response.headers.get('location') : null;
    if (location === null) return response;
    discard(response);
    at = new URL(location, at);
    if (!isAllowed(at.origin)) throw refused(url, at.origin);
    if (at.origin !== url.origin) own = {};
  }
  throw new TabServeError('network', `${url.href} is redirected more than ${MAX_REDIRECTS} times.`);
}

/** Returns whether a file of the page's own origin may only be redirected within it. */
function leadsNowhere(url: URL, allowedOrigins: readonly string[] = []): boolean {
  return allowedOrigins.every((origin) => origin === url.origin);
}

/** Finds out whether a redirect was why a request has failed: the browser does not say. */
async function isRedirected(fetch: typeof globalThis.fetch, url: URL, init: RequestInit): Promise<boolean> {
  try {
    const response = await fetch(url, init);
    discard(response);
    return isRedirect(response);
  } catch {
    return false;
  }
}

/**
 * Returns whether a response is a redirect. A browser hides a redirect that it was told not to follow; Node shows it.
 */
export function isRedirect({ type, status }: Response): boolean {
  return type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(status);
}

/** Ends a response whose body nobody reads. */
export function discard({ body }: Response): void {
  void body?.cancel().catch(() => {});
}

/**
 * Returns the error for a redirect that was not followed, or that led where it must not.
 * @param target `own`: the browser does not tell, and the file is of the page's own origin; `hidden`: the browser
 *   does not tell
 */
function refused({ href, origin }: URL, target: string): TabServeError {
  const isTold = target !== 'own' && target !== 'hidden';
  const where = isTold ? ` to ${target}` : ', and the browser does not tell where to';
  const advice =
    target === 'hidden'
      ? ` If you do not know it, name "${origin}" there: then the browser follows, and the error names the origin.`
      : '';
  return new TabServeError(
    'unsupported',
    `${href} is redirected${where}. A redirect may lead only to origins that the option "allowedOrigins" names: name the target's origin there, or pass the URL of the target.${advice}`,
  );
}
