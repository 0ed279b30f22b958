import type { Validators } from '../../../contract/downloads.js';
import { strongEtag } from '../download/version.js';

/** Which file is wanted. */
export interface FileRequest {
  readonly url: string;
  /** The file's SHA-256. Such a file is found by it, at any URL, and the server is not asked. */
  readonly sha256?: string | undefined;
  /**
   * The version of a file that never changes, such as an engine's. It is found by URL and version, and the server is
   * not asked.
   */
  readonly version?: string | undefined;
  /** Whether the copy in the cache was found to be damaged: it is downloaded again, and replaced. */
  readonly isDamaged?: boolean | undefined;
  /**
   * Whether the request has headers or credentials of the app's. The server is then asked at every use, with those of
   * the moment, whether they may have the file, and whether it is the same, by its strong ETag alone: another user's
   * file may have the same date. A server that cannot be reached is not replaced by the cache.
   */
  readonly isPrivate?: boolean;
}

/** Returns the key by which a file is found. */
export function keyOf({ url, sha256, version, isPrivate }: FileRequest): string {
  if (isPrivate) return `private ${sha256?.toLowerCase() ?? ''} ${url}`;
  if (sha256 !== undefined) return `sha256 ${sha256.toLowerCase()}`;
  return version === undefined ? `url ${url}` : `version ${version} ${url}`;
}

/** Returns whether a file that is found is the one that is wanted, whatever the server has now. */
export function isImmutable(request: FileRequest): boolean {
  return !request.isPrivate && !request.isDamaged && !mayDiffer(request);
}

/**
 * Returns whether the server may have another version of the file at the same URL: neither its hash nor its version is
 * known.
 */
export function mayDiffer({ sha256, version }: FileRequest): boolean {
  return sha256 === undefined && version === undefined;
}

/** Returns what tells whether the cached file is still the server's. */
export function validatorsFor({ isPrivate }: FileRequest, { etag, lastModified }: Validators): Validators | undefined {
  if (!isPrivate) return { etag, lastModified };
  const strong = strongEtag({ etag });
  return strong === undefined ? undefined : { etag: strong };
}
