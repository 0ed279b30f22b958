/** How files are downloaded: what the app sets, as data that crosses to the worker. */
import type { Integrity } from './archive.js';

/**
 * Where files are cached for the next visit: with the Cache API, in the origin private file system, or nowhere. A
 * client keeps the files of its model in any case, for as long as it lives.
 */
export const CACHES = ['cache-api', 'opfs', 'none'] as const;

/** The name of a cache. */
export type CacheName = (typeof CACHES)[number];

/** What tells one version of a file from another, as its server has sent it. */
export interface Validators {
  readonly etag?: string | undefined;
  readonly lastModified?: string | undefined;
}

/** What a request for a file of the model carries. It goes to the model's own origin only. */
export interface DownloadRequest {
  /** Headers, such as `{ Authorization: 'Bearer …' }` of a private model. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether cookies are sent: never, to the page's own origin, or to the model's origin too. @default 'same-origin' */
  readonly credentials?: 'omit' | 'same-origin' | 'include';
}

/** How the files of the model and of the engine are downloaded. */
export interface DownloadSettings {
  readonly request?: DownloadRequest;
  /** Origins that a redirect may lead to, in addition to the model's own; undefined if the app names none. */
  readonly allowedOrigins?: readonly string[];
  /**
   * The size and hash that files must have, by their path in the archive. They apply in addition to those of
   * `tabserve.json`.
   */
  readonly integrity?: Readonly<Record<string, Integrity>>;
  /** @default 'cache-api' */
  readonly cache?: CacheName;
  /**
   * When the model began to be opened, in milliseconds since 1970. All workers that are tried use its files together.
   * @default when the worker opens its cache
   */
  readonly visit?: number;
}
