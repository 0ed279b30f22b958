import type { Integrity } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';

type Blobs = Readonly<Record<string, Blob>>;

/**
 * Compares files with the size and hash that they must have; those in `known` were compared before.
 * @throws `model-format` naming the file
 */
export async function checkIntegrity(
  files: Blobs,
  integrity: Readonly<Record<string, Integrity>>,
  known: Blobs = {},
): Promise<void> {
  const unknown = Object.entries(integrity).filter(([path]) => Object.hasOwn(files, path) && !Object.hasOwn(known, path)); // prettier-ignore
  await Promise.all(unknown.map(([path, expected]) => checkFile(files[path]!, expected, path)));
}

/**
 * Compares a file with the size and hash that it must have.
 * Where the browser has no Web Crypto (an insecure context), only its size is compared.
 * @throws `model-format` naming the file
 */
export async function checkFile(file: Blob, { bytes, sha256 }: Integrity, name: string): Promise<void> {
  if (bytes !== undefined && file.size !== bytes)
    throw new TabServeError(
      'model-format',
      `${name} has ${file.size} bytes, expected ${bytes}: incomplete, or another version.`,
    );
  if (sha256 === undefined || !globalThis.crypto?.subtle) return;
  const found = await hashOf([file]);
  if (found !== sha256.toLowerCase())
    throw new TabServeError(
      'model-format',
      `${name} has the SHA-256 ${found}, expected ${sha256}: damaged, or another version.`,
    );
}

/** Returns the SHA-256 of the files' bytes, one file after the other, in hexadecimal. */
export async function hashOf(files: readonly Blob[]): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await new Blob([...files]).arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
