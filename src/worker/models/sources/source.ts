import type { Integrity } from '../../../contract/archive.js';
import { shorten } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import type { OnCopy } from '../cache/file-cache.js';
import { textOf, whileReading } from '../read-blob.js';

/** Where an archive's files are read from: a folder on a server, or local files. Nothing else knows which. */
export interface Source {
  /** The archive's URL, or the name of the visitor's file. */
  readonly url: string;
  /**
   * Reads a file by its path in the archive.
   * @param expected given for a file that must be there: its progress is reported from the start, with its size where
   *   that is known
   * @param maxBytes a download ends with an error when more has arrived; by default, a text has the limit of texts
   * @param onCopy called with what an earlier visit has stored, before the server is asked: see `FetchOptions`
   * @returns undefined if there is no such file
   * @throws `model-format` if the path leads out of the archive; `network`, `aborted`
   */
  read(path: string, expected?: Integrity, maxBytes?: number, onCopy?: OnCopy): Promise<Blob | undefined>;
  /**
   * Returns whether there is such a file. It may begin to read it; the next `read` waits for it.
   * @throws what `read` throws
   */
  has(path: string): Promise<boolean>;
  /**
   * Begins to read a file that will be needed; the next `read` waits for it and reports its failure. Missing where
   * reading early gains nothing.
   * @param expected undefined for a file that may not be there
   * @param maxBytes as for `read`
   */
  readonly begin?: ((path: string, expected: Integrity | undefined, maxBytes?: number) => void) | undefined;
  /** Begins to read files that may turn out not to be needed. Missing where that gains nothing. */
  readonly speculate?: (() => SpeculativeReads) | undefined;
  /** Every path; missing where the files cannot be listed, as on a server. */
  readonly paths?: readonly string[] | undefined;
  /** Returns the error for a file that must be there and is not. */
  missing(path: string): TabServeError;
}

/** Files that begin to be read before it is certain that they will be. */
export interface SpeculativeReads {
  /** See `Source.begin`. */
  readonly begin: NonNullable<Source['begin']>;
  /**
   * Keeps what was begun, because the files will be needed: the next `read` of each waits for it. Reports their
   * progress from now on.
   */
  keep(): void;
  /** Aborts the reads, because the files are not needed. */
  drop(): void;
}

type Integrities = Readonly<Record<string, Integrity>>;

/**
 * Reads a file that must be there.
 * @throws `model-not-found`, `model-format` for a pointer of Git LFS, and what `read` throws
 */
export async function readRequired(
  source: Source,
  path: string,
  integrity: Integrities,
  maxBytes?: number,
): Promise<Blob> {
  const blob = await source.read(path, expectedOf(path, integrity), maxBytes);
  if (!blob) throw source.missing(path);
  await refusePointer(blob, path);
  return blob;
}

/** Returns what is known in advance about a file that must be there. */
export function expectedOf(path: string, integrity: Integrities): Integrity {
  return knownOf(path, integrity) ?? {};
}

/**
 * Returns what is known in advance about a file, by its path or by the path in NFC, which local files have; undefined
 * if nothing is.
 */
export function knownOf(path: string, integrity: Integrities): Integrity | undefined {
  const known = [path, path.normalize()].find((one) => Object.hasOwn(integrity, one));
  return known === undefined ? undefined : integrity[known];
}

/** The maximum number of bytes of a pointer (git-lfs/docs/spec.md). */
const MAX_POINTER_BYTES = 1024;

/**
 * Refuses the pointer that Git has instead of a large file until Git LFS has downloaded the file. @throws
 * `model-format`
 */
export async function refusePointer(file: Blob, path: string): Promise<void> {
  if (
    file.size > MAX_POINTER_BYTES ||
    !(await whileReading(path, () => textOf(file))).startsWith('version https://git-lfs.')
  )
    return;
  throw new TabServeError(
    'model-format',
    `${shorten(path)} is a pointer of Git LFS, not the file itself. Run "git lfs pull" in the repository that it comes from, and publish the file again.`,
  );
}

/** The maximum number of paths that an error lists. */
const MAX_LISTED = 20;

/** Returns the error for a file that is not among the local ones. */
export function missingFrom(url: string, path: string, paths: readonly string[]): TabServeError {
  const more = paths.length > MAX_LISTED ? `, and ${paths.length - MAX_LISTED} more` : '';
  const listed = paths
    .slice(0, MAX_LISTED)
    .map((one) => shorten(one))
    .join(', ');
  return new TabServeError(
    'model-not-found',
    `${url} has no file "${shorten(path)}"; it has ${listed || 'none'}${more}.`,
  );
}
