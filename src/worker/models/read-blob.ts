import { MAX_READ_AT_ONCE } from '../../shared/hash.js';
import { isError, TabServeError } from '../../contract/errors.js';

/** Files are compared in parts of this many bytes. */
const PART_BYTES = 2 ** 22;

/** The maximum number of bytes of a file that stays in the worker's memory too. */
const MAX_SMALL_BYTES = 2 ** 16;

/** The bytes of small files that have just arrived. */
const arrived = new WeakMap<Blob, Uint8Array>();

/**
 * Makes a Blob of bytes that have just arrived, whose text is read at once if it is small: the browser reads a Blob in
 * threads that are busy while an engine is compiled.
 */
export function blobOf(parts: readonly Uint8Array<ArrayBuffer>[]): Blob {
  const blob = new Blob([...parts]);
  if (parts.length === 1 && blob.size <= MAX_SMALL_BYTES) arrived.set(blob, parts[0]!);
  return blob;
}

/** Returns the text of a file, decoded as UTF-8. */
export async function textOf(file: Blob): Promise<string> {
  const bytes = arrived.get(file);
  return bytes ? new TextDecoder().decode(bytes) : await file.text();
}

/**
 * Returns the bytes of a file.
 * @throws `model-not-found` if it cannot be read any more; `out-of-memory` if they are too many for this
 *   browser
 */
export async function bytesOf(file: Blob, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await whileReading(name, async () => {
    try {
      return new Uint8Array(await file.arrayBuffer());
    } catch (cause) {
      if (file.size <= MAX_READ_AT_ONCE) throw cause;
      throw new TabServeError(
        'out-of-memory',
        `${name} has ${file.size} bytes, which is more than this browser reads at once. Keep large tensors in several files.`,
        { cause },
      );
    }
  });
  // A file that was changed within the second in which it was picked is read all the same, to its new end.
  if (bytes.length < file.size) throw changed(name);
  return bytes;
}

/** Returns whether two files have the same bytes. */
export async function hasSameBytes(one: Blob, other: Blob): Promise<boolean> {
  if (one.size !== other.size) return false;
  for (let at = 0; at < one.size; at += PART_BYTES) {
    const parts = [one, other].map((file) => file.slice(at, at + PART_BYTES).arrayBuffer());
    const [a, b] = (await Promise.all(parts)).map((part) => new Uint8Array(part)) as [Uint8Array, Uint8Array];
    if (a.some((byte, index) => byte !== b[index])) return false;
  }
  return true;
}

/**
 * Runs work that reads a file. One that the visitor has picked can be read for as long as it stays the same, and one
 * from the browser's storage until the site's data are cleared.
 * @throws `model-not-found` if it cannot be read any more; what `work` throws
 */
export async function whileReading<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw isUnreadable(error) ? changed(name, error) : error;
  }
}

/** Returns whether a browser cannot read a file any more, which may be why an archive seems damaged. */
function isUnreadable(error: unknown): boolean {
  if (!isError(error)) return false;
  if (error instanceof TabServeError) return error.code === 'model-format' && isUnreadable(error.cause);
  return error.name === 'NotReadableError' || error.name === 'NotFoundError';
}

function changed(name: string, cause?: unknown): TabServeError {
  return new TabServeError(
    'model-not-found',
    `${name} cannot be read any more. If it was picked, it has changed or was deleted since then: pick it again. If it was downloaded, the site's data were cleared: load the model again.`,
    { cause },
  );
}
