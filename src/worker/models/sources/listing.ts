import { shorten } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import { MAX_FILES } from '../../../contract/limits.js';

/** The maximum number of bytes that a packed archive may unpack to: what 32-bit WASM can address. */
const MAX_BYTES = 2 ** 32;
/**
 * An archive may unpack to this many times its size; weights compress to half of theirs. Deflate can reach 1032 times.
 */
const MAX_RATIO = 100;
/** An archive may unpack to this many bytes whatever its size, because small weights can be mostly zeros. */
const ALWAYS_ALLOWED = 2 ** 26;
const MAX_PATH_LENGTH = 1024;
/** What macOS and Windows add to folders and archives. */
const JUNK = /^__MACOSX\/|(^|\/)(\._[^/]*|\.DS_Store|Thumbs\.db|desktop\.ini)$/i;

/** Returns the most bytes that an archive of `packedBytes` may unpack to. */
export function maxUnpackedBytes(packedBytes: number): number {
  return Math.min(MAX_BYTES, Math.max(ALWAYS_ALLOWED, MAX_RATIO * packedBytes));
}

/** Returns the error for an archive that unpacks to more. */
export function tooLarge(name: string, packedBytes: number): TabServeError {
  const limit = maxUnpackedBytes(packedBytes);
  return new TabServeError(
    'model-format',
    `${name} has ${packedBytes} bytes and unpacks to more than ${limit}: no archive of a model does. Load it as a folder if it is right.`,
  );
}

/** Returns the error for an archive of too many files. */
export function tooMany(name: string): TabServeError {
  return new TabServeError(
    'model-format',
    `${name} has more than ${MAX_FILES} files and folders: no archive of a model has.`,
  );
}

/**
 * Returns files by their path in the archive. If all of them lie in one folder, as in TorchServe's `tgz` and in what
 * desktops pack, that folder is the archive's root.
 * @returns the files; their paths are in NFC, while macOS decomposes letters (NFD)
 * @throws `model-format` if there are too many, or a path leads out of the archive, is not in its plain spelling, or
 *   occurs twice
 */
export function listFiles<T>(name: string, entries: readonly (readonly [path: string, file: T])[]): Map<string, T> {
  if (entries.length > MAX_FILES) throw tooMany(name);
  const wanted = entries.filter(([path]) => !JUNK.test(path));
  const root = commonFolder(wanted.map(([path]) => path));
  const files = new Map<string, T>();
  for (const [path, file] of wanted) {
    if (!isPlain(path))
      throw new TabServeError('model-format', `${name} has a file "${shorten(path)}", which is no path inside of it.`);
    const own = path.slice(root.length).normalize();
    if (files.has(own)) throw new TabServeError('model-format', `${name} has the file "${shorten(own)}" twice.`);
    files.set(own, file);
  }
  return files;
}

/**
 * Returns whether a path names a file inside of its archive in the one spelling that has no other: no `..`, no `./`, no
 * drive, no backslash.
 */
export function isPlain(path: string): boolean {
  return (
    path.length <= MAX_PATH_LENGTH &&
    // eslint-disable-next-line no-control-regex -- a path may hold anything
    !/[\\\u0000-\u001f]|^[a-z]:/i.test(path) &&
    path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
  );
}

function commonFolder([first = '', ...others]: readonly string[]): string {
  const folder = first.slice(0, first.indexOf('/') + 1);
  return folder !== 'MAR-INF/' && others.every((path) => path.startsWith(folder)) ? folder : '';
}
