import type { Clock } from '../../shared/clock.js';

/** A page, as a service worker sees it. */
interface Page {
  readonly url: string;
  postMessage(message: unknown, transfer: Transferable[]): void;
}

/** What a service worker needs of the browser. */
export interface Environment {
  readonly clients: {
    matchAll(options: { readonly type: 'window'; readonly includeUncontrolled: true }): Promise<readonly Page[]>;
    claim(): Promise<void>;
  };
  readonly locks: Pick<LockManager, 'query' | 'request'>;
  readonly fetch: (request: Request, init: { readonly signal: AbortSignal }) => Promise<Response>;
  /** Keeps the service worker alive. */
  readonly waitUntil: (work: Promise<unknown>) => void;
  readonly clock: Clock;
  /** The scope of the service worker's registration. */
  readonly scope: string;
}

/**
 * The part of a service worker's global scope that is used. TypeScript has no declarations of it beside those of pages.
 */
export interface ServiceWorkerScope {
  readonly clients: Environment['clients'];
  readonly registration: { readonly scope: string };
  addEventListener(type: 'fetch', listener: (event: FetchEventLike) => void): void;
  addEventListener(type: 'message', listener: (event: MessageEventLike) => void): void;
}

interface FetchEventLike {
  readonly request: Request;
  respondWith(response: Promise<Response>): void;
  waitUntil(work: Promise<unknown>): void;
}

interface MessageEventLike {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  waitUntil(work: Promise<unknown>): void;
}
