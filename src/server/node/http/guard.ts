import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** Who may ask a server. */
export interface GuardOptions {
  /** Host names by which requests may name the server, beside IP addresses and `localhost`. */
  readonly hosts: readonly string[];
  /** Origins of web pages that may send requests and read the answers; `*` for all. */
  readonly origins: readonly string[];
}

/** Whether a request may be answered. */
export type Access =
  | {
      readonly allowed: true;
      /** Headers of the answer. */
      readonly headers: Readonly<Record<string, string>>;
    }
  | { readonly allowed: false; readonly why: string };

/**
 * Decides whether a request may be answered. A web page of another origin must not drive a server that its visitor
 * runs:
 *
 * - The header `Host` must name an IP address, `localhost` or one of `hosts`: a page whose own host name was made to
 *   lead to this machine (DNS rebinding) has another one there. Every browser sends the header; a client of HTTP/1.0
 *   need not.
 * - A request with an `Origin` other than the server's own, or that the browser marks as one of another site
 *   (`Sec-Fetch-Site`), is refused, whether or not it would be preflighted.
 */
export function guard(headers: IncomingHttpHeaders, { hosts, origins }: GuardOptions): Access {
  const { host, origin } = headers;
  if (host !== undefined && !isKnown(hostName(host), hosts))
    return refused(
      `Host is ${JSON.stringify(host.slice(0, 100))}. Allow this name: --allowed-host, or \`hosts\` of nodeListener.`,
    );
  const isOwn = origin === undefined ? isFromHere(headers) : host !== undefined && origin === `http://${host}`;
  if (isOwn) return { allowed: true, headers: {} };
  if (origin === undefined) return refused('A web page of another origin has sent the request, without its origin.');
  if (origin === 'null' && !origins.includes('*'))
    return refused(
      'A web page without an origin may not ask this server: one that was opened as a file, or is in a sandboxed frame. Serve the page over http, and allow its origin: --cors, or `origins` of nodeListener.',
    );
  if (!origins.includes('*') && !origins.includes(origin))
    return refused(
      `Web pages of ${origin.slice(0, 100)} may not ask this server. Allow them: --cors ${origin.slice(0, 100)}, or \`origins\` of nodeListener.`,
    );
  return {
    allowed: true,
    headers: {
      'access-control-allow-origin': origin,
      'access-control-expose-headers': '*',
      vary: 'Origin',
    },
  };
}

/** Returns the headers of the answer to a preflight request of an origin that is allowed. */
export function preflightHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'access-control-allow-methods': 'GET, POST, PUT, DELETE, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'content-type',
    'access-control-allow-private-network': 'true',
    'access-control-max-age': '600',
  };
}

function isKnown(name: string | undefined, hosts: readonly string[]): boolean {
  return name !== undefined && (isIP(name) > 0 || name === 'localhost' || hosts.includes(name));
}

/** Returns whether no web page, or one of the server's own, has sent a request. */
function isFromHere(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin' || site === 'none';
}

/** Returns the name in a header `Host`, without port and brackets; undefined if it is none. */
export function hostName(host: string): string | undefined {
  const [, bracketed, plain] = /^(?:\[([\da-f:.]+)\]|([^:[\]/?#@\s]+))(?::\d+)?$/i.exec(host) ?? [];
  return (bracketed ?? plain)?.toLowerCase();
}

/**
 * Returns an origin as browsers send it, or `*`; undefined if a text is none. Pages of apps and extensions have schemes
 * of their own, such as `app://obsidian.md`, `tauri://localhost` and `chrome-extension://ID`. Their origin is opaque by
 * the URL standard, and yet browsers send it.
 */
export function originOf(text: string): string | undefined {
  if (text === '*') return text;
  if (!URL.canParse(text)) return undefined;
  const { origin, protocol, host, href } = new URL(text);
  const sent = origin === 'null' ? `${protocol}//${host}` : origin;
  return host !== '' && href.replace(/\/$/, '') === sent ? sent : undefined;
}

function refused(why: string): Access {
  return { allowed: false, why };
}
