import { createHash } from 'node:crypto';
import { readdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Integrity } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';

/** The files of an archive by their path in it. */
export type ArchiveFiles = Map<string, Uint8Array>;

/** Reads a file. @throws `model-not-found`; `unsupported` above 2 GiB */
export async function readLocal(path: string, flag: string): Promise<Uint8Array> {
  await checkLocal(path, flag);
  return await readFile(path);
}

/** Returns the size and hash of a file, as `tabserve.json` lists them. */
export function integrityOf(bytes: Uint8Array): Required<Integrity> {
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

/**
 * Refuses a URL where the tool reads from disk.
 * @throws `model-config` with how to get the files of a repository
 */
export function refuseUrl(path: string, flag?: string): void {
  if (!/^(?:https?:\/\/|hf:)/i.test(path)) return;
  throw new TabServeError(
    'model-config',
    `${flag === undefined ? '' : `${flag}: `}${path} is a URL; expected a local file or folder. Download it first: a single file with curl -LO URL, a repository of the Hugging Face Hub with hf download ORG/NAME --local-dir FOLDER.`,
  );
}

/** Checks that a file is there, and small enough. @throws `model-not-found`; `unsupported` from 2 GiB on */
async function checkLocal(path: string, flag: string): Promise<void> {
  refuseUrl(path, flag);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new TabServeError('model-not-found', `${flag}: there is no file ${path}.`);
  if (found.size >= 2 ** 31)
    throw new TabServeError('unsupported', `${flag}: ${path} has ${found.size} bytes; a file must be below 2 GiB.`);
}

/**
 * Adds files as torch-model-archiver's `--extra-files` does: each file by its name at the archive's root; of a folder,
 * what is in it, with its subfolders.
 * @param list paths or wildcards, separated by commas
 * @throws `model-not-found` for a path that does not exist; `model-format` where two files have the same path in the
 *   archive
 */
export async function addExtraFiles(files: ArchiveFiles, list: string): Promise<void> {
  for (const pattern of list.split(',').map((one) => one.trim())) {
    if (pattern === '') continue;
    const isPath = !/[*?[]/.test(pattern) || (await stat(pattern).catch(() => undefined)) !== undefined;
    for (const path of isPath ? [pattern] : await matches(pattern)) await addPath(files, path);
  }
}

/** Adds one file of an archive. @throws `model-format` if there is another of that path */
export function addFile<T>(files: Map<string, T>, path: string, file: T): void {
  if (files.has(path)) throw new TabServeError('model-format', `Two files of the archive would be ${path}.`);
  files.set(path, file);
}

async function addPath(files: ArchiveFiles, path: string): Promise<void> {
  refuseUrl(path, '--extra-files');
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return addFile(files, basename(path), await readLocal(path, '--extra-files'));
  if (!found?.isDirectory())
    throw new TabServeError('model-not-found', `--extra-files: there is no file or folder ${path}.`);
  await addFolder(files, path);
}

/**
 * Hidden files and folders, what macOS and Windows add to folders, and the caches that torch-model-archiver leaves out,
 * too.
 */
export const LEFT_OUT = /^(\.|(__MACOSX|__pycache__|Thumbs\.db|desktop\.ini)$)/i;

/** Adds the files of a folder. @throws what `listFolder` throws */
export async function addFolder(files: ArchiveFiles, folder: string): Promise<void> {
  for (const [inArchive, path] of await listFolder(folder)) addFile(files, inArchive, await readLocal(path, folder));
}

/**
 * Returns the paths on disk of what is in a folder, without `LEFT_OUT`, by their paths in the archive. Links are
 * followed: a folder of Hugging Face's own cache has nothing else.
 * @throws `model-not-found` for a link that leads nowhere; `model-format` for one that leads into a folder above it;
 *   `unsupported` for a file from 2 GiB on
 */
export async function listFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const paths = new Map<string, string>();
  await listEntries(paths, { folder, prefix: '', above: [] });
  return paths;
}

interface Folder {
  readonly folder: string;
  /** Its path in the archive, with a slash at the end; empty for the root. */
  readonly prefix: string;
  /** The real paths of the folders that it lies in. */
  readonly above: readonly string[];
}

async function listEntries(paths: Map<string, string>, { folder, prefix, above }: Folder): Promise<void> {
  const real = await realpath(folder);
  if (above.includes(real)) throw new TabServeError('model-format', `${folder} links to a folder above it.`);
  for (const name of (await readdir(folder)).filter((one) => !LEFT_OUT.test(one))) {
    const path = join(folder, name);
    const inArchive = `${prefix}${name}`;
    if ((await stat(path).catch(() => undefined))?.isDirectory())
      await listEntries(paths, { folder: path, prefix: `${inArchive}/`, above: [...above, real] });
    else {
      await checkLocal(path, folder);
      addFile(paths, inArchive, path);
    }
  }
}

/**
 * Returns the paths that a wildcard in the last part of a path means: `*`, `?`, `[abc]` and `[!abc]`, as a shell reads
 * them.
 */
async function matches(pattern: string): Promise<readonly string[]> {
  const [folder, name] = [dirname(pattern), basename(pattern)];
  const isMatch = wildcard(name);
  const entries = await readdir(folder).catch(() => [] as string[]);
  const found = entries
    .filter((entry) => isMatch.test(entry) && (name.startsWith('.') || !LEFT_OUT.test(entry)))
    .map((entry) => join(folder, entry));
  if (found.length === 0) throw new TabServeError('model-not-found', `--extra-files: nothing matches ${pattern}.`);
  return found.sort();
}

function wildcard(name: string): RegExp {
  const source = name.replace(/\[(!?)([^\]]+)\]|[\s\S]/g, (one, not?: string, letters?: string) => {
    if (letters !== undefined) return `[${not ? '^' : ''}${letters.replace(/[\\^[\]]/g, '\\$&')}]`;
    return one === '*' ? '.*' : one === '?' ? '.' : one.replace(/[.+^${}()|[\]\\]/, '\\$&');
  });
  try {
    return new RegExp(`^${source}$`, 'su');
  } catch (cause) {
    throw new TabServeError('model-config', `--extra-files: ${name} is no wildcard.`, { cause });
  }
}
