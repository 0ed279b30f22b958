import type { Validators } from '../../../contract/downloads.js';

/** The version of a file in a response, as far as its headers tell. */
export interface Version extends Validators {
  /** The file's size, if the body is the file itself and not a compressed form of it. */
  readonly size: number | undefined;
  /** Whether the rest can be asked for if the connection breaks. */
  readonly resumable: boolean;
}

/** Reads a response's version. Another origin's headers are visible only where its server exposes them. */
export function versionOf(response: Response): Version {
  const { headers } = response;
  const validators = validatorsOf(response);
  const encoded = headers.has('content-encoding');
  // Another origin hides a compression. Then only the size of the rest shows that the bytes so far were the file's own.
  const size = bodySize(response);
  const resumable =
    !encoded &&
    headers.get('accept-ranges') !== 'none' &&
    rangeValidator(validators) !== undefined &&
    (size !== undefined || showsHeaders(response));
  return { ...validators, size, resumable };
}

/** Returns what names a response's version. */
export function validatorsOf({ headers }: Response): Validators {
  const etag = headers.get('etag') ?? undefined;
  const lastModified = headers.get('last-modified') ?? undefined;
  return { ...(etag !== undefined && { etag }), ...(lastModified !== undefined && { lastModified }) };
}

/** Returns what `If-Range` may name: a strong ETag or a date. */
export function rangeValidator(validators: Validators): string | undefined {
  return strongEtag(validators) ?? validators.lastModified;
}

/** Returns an ETag that names the bytes. A weak one does not promise the same bytes. */
export function strongEtag({ etag }: Validators): string | undefined {
  return etag?.startsWith('W/') ? undefined : etag;
}

/**
 * Returns whether a 206 response continues a file of this version after `offset` bytes. A header that is missing does
 * not contradict that, but its validator must agree.
 */
export function continues(response: Response, version: Version, offset: number): boolean {
  const validators = validatorsOf(response);
  if (rangeValidator(validators) !== rangeValidator(version)) return false;
  const length = bodySize(response);
  const range = response.headers.get('content-range');
  if (range === null) return length !== undefined && version.size !== undefined && offset + length === version.size;
  const [, first, last, size] = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(range.trim()) ?? [];
  if (Number(first) !== offset) return false;
  // Without either size, nothing tells whether the range extends to the end.
  const end = size === '*' ? version.size : Number(size);
  return Number(last) + 1 === end && (version.size ?? end) === end;
}

/** Returns whether all headers of a response can be read, as those of the page's own origin can. */
export function showsHeaders({ type }: Response): boolean {
  return type !== 'cors';
}

/**
 * Returns the size of a response's body; undefined if its headers do not say. The length of a compressed body is not
 * the size of its contents.
 */
function bodySize({ headers }: Response): number | undefined {
  const length = headers.has('content-encoding') ? null : headers.get('content-length');
  return length === null ? undefined : Number(length);
}
