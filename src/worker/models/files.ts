import type { BlobFiles } from '../../contract/archive.js';
import { MAX_LABELS_BYTES, MAX_TEXT_BYTES } from '../../contract/limits.js';
import { parseJson, readText } from './json.js';
import { bytesOf } from './read-blob.js';
import { missingFrom } from './sources/source.js';
import { LABELS } from './manifest.js';

/** Files that are read when they are asked for. */
interface OtherFiles {
  readonly paths: readonly string[];
  read(path: string): Promise<Blob>;
}

const NONE: OtherFiles = { paths: [], read: (path) => Promise.reject(missingFrom('The archive', path, [])) };

/**
 * Returns read access to files by path: an archive's Blobs, or the texts and bytes of a test.
 * @param others the archive's files that were not read yet
 */
export function createFiles(
  files: Readonly<Record<string, Blob | Uint8Array | string>>,
  others: OtherFiles = NONE,
): BlobFiles {
  const blob = async (path: string): Promise<Blob> => {
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    if (file !== undefined) return file instanceof Blob ? file : new Blob([file as BlobPart]);
    if (others.paths.includes(path)) return await others.read(path);
    throw missingFrom('The archive', path, [...new Set([...Object.keys(files), ...others.paths])]);
  };
  return {
    blob,
    has: (path) => Object.hasOwn(files, path) || others.paths.includes(path),
    bytes: async (path) => await bytesOf(await blob(path), path),
    text: async (path) => await readText(await blob(path), path, MAX_TEXT_BYTES),
    json: async (path) =>
      parseJson(await readText(await blob(path), path, path === LABELS ? MAX_LABELS_BYTES : MAX_TEXT_BYTES), path),
  };
}
