import { openAsBlob } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Archive } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import type { ArchiveLocation } from '../../worker/models/archive.js';
import { isPlain, listFiles } from '../../worker/models/sources/listing.js';
import { localSource, unpack } from '../../worker/models/sources/packed.js';
import { listFolder, refuseUrl, type ArchiveFiles } from './archive-files.js';

/**
 * Returns an archive on disk, a packed one or a folder, as a browser gives the files that a visitor picks: a file is
 * read when its content is asked for.
 * @throws `model-config` for a URL; `model-not-found`; what `listFolder` throws
 */
export async function locate(path: string): Promise<ArchiveLocation> {
  refuseUrl(path);
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() && !found?.isDirectory())
    throw new TabServeError('model-not-found', `There is no file or folder ${path}.`);
  if (found.isFile()) return new File([await openAsBlob(path)], basename(path));
  const files = await listFolder(path);
  const isNested = [...files.keys()].every((one) => one.includes('/'));
  // As a browser names the files of a folder that the visitor picks; a model of Hugging Face's layout has the folder's
  // name.
  const prefix = isNested ? '' : `${folderName(path)}/`;
  const blobs: Record<string, Blob> = {};
  for (const [one, file] of files) blobs[prefix + one] = await openAsBlob(file);
  return blobs;
}

/** Says that a model or a folder without a handler is no archive yet. @throws `unknown-handler` */
export function checkNamesHandler({ manifest, nodes }: Archive, path: string): void {
  if (manifest.model.handler === undefined && !nodes)
    throw new TabServeError(
      'unknown-handler',
      `${path} names no handler, as an archive does. Pack it with npx tabserve archive --serialized-file and --handler.`,
    );
}

/**
 * Reads every file of an archive on disk, a packed one or a folder.
 * @throws `model-not-found`; what `listFolder` and `unpack` throw
 */
export async function readAllFiles(path: string): Promise<ArchiveFiles> {
  const from = await locate(path);
  const local =
    from instanceof File
      ? await unpack(from.name, from)
      : Object.fromEntries(listFiles(path, Object.entries(from as Readonly<Record<string, Blob>>)));
  const source = await localSource(basename(path), local);
  const files: ArchiveFiles = new Map();
  for (const one of source.paths!) files.set(one, new Uint8Array(await (await source.read(one))!.arrayBuffer()));
  return files;
}

/**
 * Returns a folder's name for paths in an archive: its own, or a neutral one where no path may have it, as one with a
 * backslash.
 */
export function folderName(path: string): string {
  const name = basename(resolve(path));
  return isPlain(name) ? name : 'archive';
}

/** Returns files as Blobs, by their path in the archive. @param folder that they lie in, which errors then name */
export function asBlobs(files: ArchiveFiles, folder?: string): Readonly<Record<string, Blob>> {
  const prefix = folder === undefined ? '' : `${folder}/`;
  return Object.fromEntries(
    [...files].map(([path, bytes]) => [prefix + path, new Blob([bytes as Uint8Array<ArrayBuffer>])]),
  );
}
