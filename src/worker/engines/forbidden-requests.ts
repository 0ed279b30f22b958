import { TabServeError } from '../../contract/errors.js';

/** A page or a worker: where a policy's violations are announced. */
type Scope = Pick<typeof globalThis, 'fetch' | 'addEventListener'>;

/**
 * Returns `fetch`, which refuses at once to repeat a request that the Content-Security-Policy has forbidden. The
 * browser reports that by an event only; the request itself fails as if the server could not be reached, and would be
 * retried.
 * @throws `network` for such a request, naming the remedy; what `fetch` rejects with
 */
export function fetchUnlessForbidden(scope: Scope): typeof fetch {
  const forbidden = new Set<string>();
  // Node.js has no such event, and its global object is no event target.
  scope.addEventListener?.('securitypolicyviolation', ({ disposition, blockedURI }) => {
    if (disposition === 'enforce') forbidden.add(blockedURI);
  });
  return async (input, init) => {
    const { href, origin } = new URL(input instanceof Request ? input.url : input);
    if (forbidden.has(href))
      throw new TabServeError(
        'network',
        `${href}: the Content-Security-Policy forbids this request, or the redirect of it. Add ${origin}, and the origin that it redirects to, to connect-src.`,
      );
    return await scope.fetch(input, init);
  };
}
