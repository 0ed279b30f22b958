import { lstatSync, renameSync } from 'node:fs';
import { mkdir, readdir, realpath, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { MANIFEST } from '../../worker/models/manifest.js';
import { LEFT_OUT, type ArchiveFiles } from './archive-files.js';
import { withTemporaryFolder } from './temporary-folder.js';

/** torch-model-archiver's formats, with the ending of the file's name; `no-archive` is a folder. */
export const ARCHIVE_FORMATS = { default: '.mar', 'zip-store': '.mar', tgz: '.tar.gz', 'no-archive': '' } as const;

/** How the name of a packed tar file ends. */
const TAR = /\.(?:tar\.gz|tgz)$/i;

export type ArchiveFormat = keyof typeof ARCHIVE_FORMATS;

/** Returns the format that the ending of an archive's path means; without one that is known, a folder. */
export function formatOfArchive(path: string): ArchiveFormat {
  if (/\.(mar|zip)$/i.test(path)) return 'default';
  return TAR.test(path) ? 'tgz' : 'no-archive';
}

/**
 * Checks that nothing is lost if an archive is written to a path.
 * @throws `model-config` if there is an archive already, without `force`; or anything else, in any case, such as a
 *   folder's `.git`; or a file where the path has a folder
 */
export async function checkTarget(path: string, format: ArchiveFormat, force: boolean): Promise<void> {
  const found = await stat(path).catch(({ code }: NodeJS.ErrnoException) => {
    if (code !== 'ENOTDIR') return undefined;
    throw new TabServeError(
      'model-config',
      `${path} cannot be written: what is in front of a slash must be a folder, and is a file. Choose another path.`,
    );
  });
  if (!found) return;
  const isArchive =
    format === 'no-archive' ? (await stat(join(path, MANIFEST)).catch(() => undefined))?.isFile() : found.isFile();
  if (!isArchive)
    throw new TabServeError(
      'model-config',
      `${path} exists already, and is no archive, so it is not overwritten. Choose another path.`,
    );
  if (!force) throw new TabServeError('model-config', `${path} exists already. Overwrite it with --force.`);
  const hidden = format === 'no-archive' ? (await readdir(path)).find((name) => LEFT_OUT.test(name)) : undefined;
  if (hidden !== undefined)
    throw new TabServeError(
      'model-config',
      `${path} holds ${hidden}, which is not a part of the archive and would be deleted with the folder. Choose another path, or move it away.`,
    );
}

/**
 * Checks that an archive is not written over the one that it is made from, into it, or around it.
 * @throws `model-config`
 */
export async function checkApart(source: string, target: string): Promise<void> {
  const [from, to] = [await realPath(resolve(source)), await realPath(resolve(target))];
  const isIn = (inner: string, outer: string): boolean => `${inner}${sep}`.startsWith(`${outer}${sep}`);
  if (isIn(from, to) || isIn(to, from))
    throw new TabServeError(
      'model-config',
      `${target} is ${from === to ? 'the archive itself' : isIn(to, from) ? `inside of ${source}` : `a folder that holds ${source}`}, which stays as it is. Choose another path.`,
    );
}

/** Returns the path without links, also of what is not there yet. */
async function realPath(path: string): Promise<string> {
  return await realpath(path).catch(async () => join(await realPath(dirname(path)), basename(path)));
}

/**
 * Writes an archive. What is there is replaced when the new one is complete and accepted. A signal that ends the
 * process leaves nothing half-written.
 * @param accept called with the path of the new archive; what it throws leaves everything as it was
 * @throws `model-config` if it cannot be written
 */
export async function writeArchive(
  path: string,
  format: ArchiveFormat,
  files: ArchiveFiles,
  accept: (made: string) => Promise<void>,
): Promise<void> {
  try {
    await withTemporaryFolder(dirname(path), async (folder) => {
      const made = join(folder, basename(path));
      if (format === 'no-archive') await writeFolder(made, files);
      else await writeFile(made, format === 'tgz' ? await packTarFile(path, files) : await packZip(files, format));
      await accept(made);
      replace(path, made);
    });
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('model-config', `${path} cannot be written: ${messageOf(cause as Error)}`, { cause });
  }
}

/**
 * Replaces a file or folder by another one, and moves the old one aside. Synchronous, so that no signal comes between
 * the two steps.
 */
function replace(path: string, made: string): void {
  const before = `${made}.before`;
  const isThere = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  if (isThere) renameSync(path, before);
  try {
    renameSync(made, path);
  } catch (error) {
    if (isThere) renameSync(before, path);
    throw error;
  }
}

async function writeFolder(folder: string, files: ArchiveFiles): Promise<void> {
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
}

async function packZip(files: ArchiveFiles, format: 'default' | 'zip-store'): Promise<Uint8Array> {
  const { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } = await import('@zip.js/zip.js');
  const writer = new ZipWriter(new Uint8ArrayWriter(), { level: format === 'default' ? 6 : 0, useWebWorkers: false });
  for (const [name, bytes] of files) await writer.add(name, new Uint8ArrayReader(bytes));
  return await writer.close();
}

/** Packs a tar file as torch-model-archiver does: under a folder of the model's name. */
async function packTarFile(path: string, files: ArchiveFiles): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const { gzipSync } = await import('node:zlib');
  const folder = basename(path).replace(TAR, '');
  const entries = [...files].map(([name, body]) => ({
    header: { name: `${folder}/${name}`, size: body.length },
    body,
  }));
  return gzipSync(await packTar(entries));
}
