import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { TabServeError } from '../contract/errors.js';

/** The files of an archive by their path in it. */
export type ArchiveFiles = Map<string, Uint8Array>;

/** Reads a file. @throws `model-not-found` */
export async function readLocal(path: string, flag: string): Promise<Uint8Array> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw new TabServeError('model-not-found', `${flag}: there is no file ${path}.`);
  return await readFile(path);
}

/**
 * Adds files as torch-model-archiver's `--extra-files` does: each file by its name at the archive's root; of a folder, what is in it, with its subfolders.
 * @param list paths or wildcards, separated by commas
 * @throws `model-not-found` for a path that does not exist; `model-format` where two files have the same place in the archive
 */
export async function addExtraFiles(files: ArchiveFiles, list: string): Promise<void> {
  for (const pattern of list.split(',').map((one) => one.trim())) {
    if (pattern === '') continue;
    const paths = /[*?[\]]/.test(pattern) ? await matches(pattern) : [pattern];
    for (const path of paths) await addPath(files, path);
  }
}

/** Adds one file of an archive. @throws `model-format` if there is another of that path */
export function addFile(files: ArchiveFiles, path: string, bytes: Uint8Array): void {
  if (files.has(path)) throw new TabServeError('model-format', `Two files of the archive would be ${path}.`);
  files.set(path, bytes);
}

async function addPath(files: ArchiveFiles, path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile()) return addFile(files, basename(path), await readFile(path));
  if (!found?.isDirectory())
    throw new TabServeError('model-not-found', `--extra-files: there is no file or folder ${path}.`);
  await addFolder(files, path);
}

/** Adds what is in a folder, without hidden folders and the caches that torch-model-archiver leaves out, too. */
export async function addFolder(files: ArchiveFiles, folder: string, prefix = ''): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const [path, inArchive] = [join(folder, entry.name), `${prefix}${entry.name}`];
    if (entry.isFile()) addFile(files, inArchive, await readFile(path));
    else if (entry.isDirectory() && !/^(\.|__MACOSX$|__pycache__$)/.test(entry.name))
      await addFolder(files, path, `${inArchive}/`);
  }
}

/** Returns the paths that a wildcard in the last part of a path means: `*`, `?` and `[abc]`, as a shell reads them. */
async function matches(pattern: string): Promise<readonly string[]> {
  const [folder, name] = [dirname(pattern), basename(pattern)];
  const source = name
    .replace(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  const entries = await readdir(folder).catch(() => [] as string[]);
  const found = entries.filter((entry) => new RegExp(`^${source}$`).test(entry)).map((entry) => join(folder, entry));
  if (found.length === 0) throw new TabServeError('model-not-found', `--extra-files: nothing matches ${pattern}.`);
  return found.sort();
}
