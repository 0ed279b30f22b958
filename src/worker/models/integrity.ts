import type { Archive, Integrity } from '../../contract/archive.js';
import { MODEL_FORMATS } from '../../contract/backends.js';
import { shorten } from '../../contract/describe-value.js';
import { TabServeError } from '../../contract/errors.js';
import { STORED_PRECISIONS } from '../../contract/precisions.js';
import { hashOf } from '../../shared/hash.js';
import { whileReading } from './read-blob.js';

type Blobs = Readonly<Record<string, Blob>>;
type Integrities = Readonly<Record<string, Integrity>>;

/** SHA-256 of files, in hexadecimal. */
const hashes = new WeakMap<Blob, Promise<string>>();

/** Returns the SHA-256 of a file, in hexadecimal. A Blob never changes, so its hash is cached. */
export function hashOfFile(file: Blob): Promise<string> {
  const hashing = hashes.get(file) ?? hashOf([file]);
  hashes.set(file, hashing);
  return hashing;
}

/** The remedy if a file does not have the size or hash that it must have. */
export const IF_EDITED =
  'If it was edited, update tabserve.json (npx tabserve archive --update-hashes FOLDER) or the option "integrity".';

/**
 * Compares files with the size and hash that they must have; those in `known` were compared before.
 * @throws `model-format` naming the file
 */
export async function checkIntegrity(files: Blobs, integrity: Integrities, known: Blobs = {}): Promise<void> {
  const unknown = Object.entries(integrity).filter(
    ([path]) => Object.hasOwn(files, path) && !Object.hasOwn(known, path),
  );
  await Promise.all(unknown.map(([path, expected]) => checkFile(files[path]!, expected, path)));
}

/** Compares a file with the size and hash that it must have. @throws `model-format` naming the file */
export async function checkFile(file: Blob, { bytes, sha256 }: Integrity, name: string): Promise<void> {
  if (bytes !== undefined && file.size !== bytes)
    throw new TabServeError(
      'model-format',
      `${name} has ${file.size} bytes, expected ${bytes}: incomplete, or another version. ${IF_EDITED}`,
    );
  if (sha256 === undefined) return;
  const found = await whileReading(name, () => hashOfFile(file));
  if (found !== sha256.toLowerCase())
    throw new TabServeError(
      'model-format',
      `${name} has the SHA-256 ${found}, expected ${sha256}: damaged, or another version. ${IF_EDITED}`,
    );
}

/** Records the SHA-256 of a file that was compared with it before. */
export function rememberHash(file: Blob, sha256: string): void {
  hashes.set(file, Promise.resolve(sha256.toLowerCase()));
}

/** Merges two lists of files. @throws `model-format` if they contradict each other */
export function mergeIntegrity(own: Integrities, callers: Integrities = {}): Integrities {
  // No path is special in a map, not even `__proto__`.
  const merged = new Map(Object.entries(own));
  for (const [path, entry] of Object.entries(callers)) {
    const { bytes, sha256 } = Object.hasOwn(own, path) ? own[path]! : {};
    const agrees =
      (bytes ?? entry.bytes) === (entry.bytes ?? bytes) &&
      (sha256 ?? entry.sha256)?.toLowerCase() === (entry.sha256 ?? sha256)?.toLowerCase();
    if (!agrees)
      throw new TabServeError(
        'model-format',
        `${path}: the option "integrity" and tabserve.json expect different files; one of them is of another version.`,
      );
    merged.set(path, { ...(Object.hasOwn(own, path) && own[path]), ...entry });
  }
  return Object.fromEntries(merged);
}

/** Returns the entries of the files in a folder, by their paths in it. */
export function inFolder(entries: Integrities, folder: string): Integrities {
  const own = Object.entries(entries).filter(([path]) => path.startsWith(folder));
  return Object.fromEntries(own.map(([path, entry]) => [path.slice(folder.length), entry]));
}

/** Returns entries by their paths in NFC. @throws `model-format` if two spellings of a path contradict each other */
export function normalizePaths(entries: Integrities): Integrities {
  const normal = new Map<string, Integrity>();
  for (const [path, entry] of Object.entries(entries)) {
    const own = path.normalize();
    const before = normal.get(own);
    normal.set(own, before ? mergeIntegrity({ [own]: before }, { [own]: entry })[own]! : entry);
  }
  return Object.fromEntries(normal);
}

/**
 * Returns the entries that no file of an archive has had so far, and that a file may still have: those beside a model
 * in another format, which has not been read yet, may be its weights; one of a model's alternatives, and its external
 * data, may be needed by another backend.
 * @throws `model-format` for an entry that no file can have: otherwise a misspelled path would protect nothing, and
 *   nobody would notice
 */
export function pendingEntries({ unmatched = [], models, alternatives = [], files, url }: Archive): readonly string[] {
  const unread = MODEL_FORMATS.flatMap((engine) => models[engine] ?? []).filter((path) => !Object.hasOwn(files, path));
  const others = alternatives.map(({ path }) => path).filter((path) => !Object.hasOwn(files, path));
  // A model in several precisions that was optimized: the weights of those that do not run may have any name.
  const isOptimized = alternatives.some(({ precision }) => STORED_PRECISIONS.some((one) => one === precision));
  const folders = (isOptimized ? [...unread, ...others] : unread).map((path) =>
    path.slice(0, path.lastIndexOf('/') + 1),
  );
  const known = [...new Set([...Object.keys(files), ...unread, ...others])];
  const pending = unmatched.filter((path) => !Object.hasOwn(files, path));
  for (const path of pending) {
    const meant = known.find((one) => one !== path && spelling(one) === spelling(path));
    const isPending = folders.some((folder) => path.startsWith(folder)) || others.some((one) => path.startsWith(one));
    if (meant === undefined && isPending) continue;
    const advice = meant === undefined ? `there are ${known.map(shorten).join(', ')}` : `"${meant}" is meant`;
    throw new TabServeError(
      'model-format',
      `A size or hash is expected of "${shorten(path)}", which is no file of ${url}; ${advice}. The entry is in the option "integrity", or under files in tabserve.json.`,
    );
  }
  return pending;
}

/** Returns what paths have in common that some servers take for the same. */
function spelling(path: string): string {
  return path
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('\\', '/')
    .replace(/^(\.?\/)+/, '');
}
