/** Headers that a page may read although the server does not expose them. */
const SAFELISTED: ReadonlySet<string> = new Set([
  'cache-control',
  'content-language',
  'content-length',
  'content-type',
  'expires',
  'last-modified',
  'pragma',
]);

/** A test may replace the global one by the made-up hub's. */
const realFetch = globalThis.fetch;

interface HubFetchOptions {
  /** Of the made-up hub on this machine. */
  readonly port: number;
  /** The origins that it is. */
  readonly origins: readonly string[];
  /** The page's origin: then redirects, headers and preflights are as in a browser. Without it, as in Node. */
  readonly page?: string | undefined;
}

/** Returns a `fetch` that reaches a made-up hub at the real one's addresses. */
export function hubFetch({ port, origins, page }: HubFetchOptions): typeof globalThis.fetch {
  const send = async (url: URL, init: RequestInit, headers: Headers, method = 'GET'): Promise<Response> => {
    if (!origins.includes(url.origin)) throw new TypeError(`nothing answers at ${url.origin}`);
    const sent = new Headers(headers);
    sent.set('x-made-up-origin', url.origin);
    const local = new URL(url.pathname + url.search, `http://127.0.0.1:${port}`);
    return await realFetch(local, { method, headers: sent, redirect: 'manual', signal: init.signal ?? null });
  };
  const fetch = async (input: URL | string | Request, init: RequestInit = {}): Promise<Response> => {
    let url = new URL(input instanceof Request ? input.url : input);
    const headers = new Headers(init.headers);
    for (;;) {
      // Firefox and Safari ask for permission for any range, Chromium for some.
      if (page !== undefined && [...headers.keys()].length > 0) {
        const names = [...headers.keys()].join(',');
        const allowed = await send(
          url,
          init,
          new Headers({ origin: page, 'access-control-request-headers': names }),
          'OPTIONS',
        );
        if (!allowed.ok) throw new TypeError('Response to preflight request does not have HTTP ok status');
      }
      const response = await send(url, init, headers);
      const location = response.headers.get('location');
      if (location === null) return shown(response, url, page);
      void response.body?.cancel();
      if (init.redirect === 'manual' && page !== undefined)
        return Object.defineProperties(new Response(null), { type: { value: 'opaqueredirect' }, status: { value: 0 } });
      if (init.redirect === 'manual') return shown(response, url, page);
      const target = new URL(location, url);
      if (target.origin !== url.origin) headers.delete('authorization');
      url = target;
    }
  };
  return fetch as typeof globalThis.fetch;
}

/** Returns a response as a page or Node sees it. */
function shown(response: Response, { href }: URL, page: string | undefined): Response {
  if (page === undefined) return Object.defineProperty(response, 'url', { value: href });
  const exposed = (response.headers.get('access-control-expose-headers') ?? '').toLowerCase().split(',');
  const headers = [...response.headers].filter(([name]) => SAFELISTED.has(name) || exposed.includes(name));
  const { status, statusText, body } = response;
  const seen = new Response(body, { status, statusText, headers });
  return Object.defineProperties(seen, { url: { value: href }, type: { value: 'cors' } });
}
