import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { ArchiveFiles } from './archive-files.js';

/** torch-model-archiver's formats, with the ending of the file's name; `no-archive` is a folder. */
export const ARCHIVE_FORMATS = { default: '.mar', 'zip-store': '.mar', tgz: '.tar.gz', 'no-archive': '' } as const;

export type ArchiveFormat = keyof typeof ARCHIVE_FORMATS;

/** Writes an archive, in place of what is there. */
export async function writeArchive(path: string, format: ArchiveFormat, files: ArchiveFiles): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(dirname(path), { recursive: true });
  if (format === 'no-archive') await writeFolder(path, files);
  else if (format === 'tgz') await writeFile(path, await packTarFile(path, files));
  else await writeFile(path, await packZip(files, format === 'default'));
}

async function writeFolder(folder: string, files: ArchiveFiles): Promise<void> {
  for (const [name, bytes] of files) {
    const path = join(folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, bytes);
  }
}

async function packZip(files: ArchiveFiles, deflate: boolean): Promise<Uint8Array> {
  const { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter } = await import('@zip.js/zip.js');
  const writer = new ZipWriter(new Uint8ArrayWriter(), { level: deflate ? 6 : 0, useWebWorkers: false });
  for (const [name, bytes] of files) await writer.add(name, new Uint8ArrayReader(bytes));
  return await writer.close();
}

/** Packs a tar file as torch-model-archiver does: under a folder of the model's name. */
async function packTarFile(path: string, files: ArchiveFiles): Promise<Uint8Array> {
  const { packTar } = await import('modern-tar');
  const { gzipSync } = await import('node:zlib');
  const folder = path.slice(dirname(path).length + 1, -ARCHIVE_FORMATS.tgz.length);
  const entries = [...files].map(([name, body]) => ({
    header: { name: `${folder}/${name}`, size: body.length },
    body,
  }));
  return gzipSync(await packTar(entries));
}
