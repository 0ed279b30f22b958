import { chmod, lstat, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Integrity } from '../../contract/archive.js';
import { TabServeError } from '../../contract/errors.js';
import type { ParsedConfig } from '../../worker/models/config.js';
import { EXTRAS, MANIFEST, readExtras, readManifest } from '../../worker/models/manifest.js';
import { integrityOf, listFolder, readLocal } from './archive-files.js';
import { encode } from './archive.js';
import { parseConfigFile } from './parse-config-file.js';

/** The entries of a `tabserve.json` for its archive's files. */
interface List {
  readonly files?: Readonly<Record<string, Integrity>>;
  readonly parsedConfig?: ParsedConfig;
}

/**
 * Brings the sizes and hashes in the `tabserve.json` of an archive's folder up to date after files were edited; in a
 * workflow's folder, those of its nodes too. Only entries that are there are changed, and the config is parsed anew. If
 * anything is wrong, nothing is written.
 * @returns which entries have changed, a line each
 * @throws `model-config` for anything but a folder whose `tabserve.json` lists files; `model-not-found` for a listed
 *   file that is not there; `model-format` if a `tabserve.json` is wrong; `unsupported` if one is a symbolic link
 */
export async function updateHashes(folder: string): Promise<string> {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new TabServeError(
      'model-config',
      `--update-hashes takes the folder of an archive, and ${folder} is no folder. Pack a packed archive again.`,
    );
  const paths = await listFolder(folder);
  // Paths are compared in NFC, while macOS decomposes letters (NFD).
  const normalized = new Map([...paths].map(([path, onDisk]) => [path.normalize(), onDisk]));
  const lists = [...paths].filter(([path]) => path === EXTRAS || path.endsWith(`/${EXTRAS}`));
  const edited = new Map<string, Uint8Array>();
  const changed: string[] = [];
  const parsed: string[] = [];
  let count = 0;
  // A workflow's tabserve.json may list those of its nodes: the one further up comes last.
  for (const [list, listOnDisk] of lists.sort(([a], [b]) => b.length - a.length)) {
    const prefix = list.slice(0, -EXTRAS.length);
    const extras = await readList(listOnDisk, list);
    const entries = Object.entries(extras.files ?? {});
    const before = changed.length;
    // One file after another: they may be large, and many.
    for (const [index, [name, entry]] of entries.entries()) {
      const path = prefix + name;
      const onDisk = paths.get(path) ?? normalized.get(path.normalize());
      if (onDisk === undefined)
        throw new TabServeError(
          'model-not-found',
          `${list}: ${name} is listed under files, and is not there. Remove the entry, or correct its path.`,
        );
      if (onDisk === listOnDisk)
        throw new TabServeError(
          'model-format',
          `${list} lists itself under files, and cannot contain its own hash. Remove the entry.`,
        );
      const updated = update(entry, edited.get(onDisk) ?? (await readLocal(onDisk, `${list}: ${name}`)));
      if (updated === entry) continue;
      entries[index] = [name, updated];
      changed.push(path);
    }
    count += entries.length;
    const parsedConfig = entries.length === 0 ? extras.parsedConfig : await parseConfigOf(prefix, paths);
    const isParsedAnew = !isDeepStrictEqual(parsedConfig, extras.parsedConfig);
    if (isParsedAnew) parsed.push(`${list}: parsedConfig`);
    if (changed.length > before || isParsedAnew)
      edited.set(listOnDisk, encode({ ...extras, files: Object.fromEntries(entries), parsedConfig }));
  }
  if (count === 0)
    throw new TabServeError('model-config', `${folder} has no ${EXTRAS} that lists files with their hashes.`);
  await replaceFiles(edited);
  const summary = `${basename(resolve(folder))}: ${changed.length} of ${count} hashes updated`;
  return [summary, ...[...changed, ...parsed].map((path) => `  ${path}`)].join('\n');
}

/**
 * Reads a `tabserve.json`.
 * @param list its path in the archive, for errors
 * @throws `model-format`; `unsupported` for a symbolic link
 */
async function readList(path: string, list: string): Promise<List> {
  if ((await lstat(path)).isSymbolicLink())
    throw new TabServeError(
      'unsupported',
      `${list} is a symbolic link. Replace it by a copy of the file, whose hashes can be updated.`,
    );
  const text = new TextDecoder().decode(await readLocal(path, list));
  try {
    readExtras(text);
  } catch (error) {
    // Its message begins with the file's name.
    throw error instanceof TabServeError
      ? new TabServeError(error.code, list.slice(0, -EXTRAS.length) + error.message, { cause: error })
      : error;
  }
  return (JSON.parse(text) ?? {}) as List;
}

/** Parses the config file that the manifest of an archive names. @param prefix the archive's folder */
async function parseConfigOf(prefix: string, paths: ReadonlyMap<string, string>): Promise<ParsedConfig | undefined> {
  const manifest = paths.get(prefix + MANIFEST);
  if (manifest === undefined) return undefined;
  const { model } = readManifest(new TextDecoder().decode(await readLocal(manifest, prefix + MANIFEST)));
  const path = model.configFile === undefined ? undefined : prefix + model.configFile;
  const onDisk = path === undefined ? undefined : paths.get(path);
  return onDisk === undefined ? undefined : await parseConfigFile(await readLocal(onDisk, path!), path!);
}

/** Returns an entry with the size and hash of its file, as far as it has them: the same entry, if it is up to date. */
function update(entry: Integrity, file: Uint8Array): Integrity {
  const found = integrityOf(file);
  const isSame =
    (entry.bytes ?? found.bytes) === found.bytes && (entry.sha256 ?? found.sha256).toLowerCase() === found.sha256;
  if (isSame) return entry;
  return {
    ...entry,
    ...(entry.bytes !== undefined && { bytes: found.bytes }),
    ...(entry.sha256 !== undefined && { sha256: found.sha256 }),
  };
}

/**
 * Replaces the content of files when all new content is on the disk. An interruption leaves each as it was or with its
 * new content.
 */
async function replaceFiles(files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  try {
    for (const [path, content] of files) {
      const { mode } = await stat(path);
      await writeFile(temporaryOf(path), content, { mode, flush: true });
      // The umask may have taken permissions away.
      await chmod(temporaryOf(path), mode);
    }
  } catch (error) {
    for (const path of files.keys()) await rm(temporaryOf(path), { force: true });
    throw error;
  }
  for (const path of files.keys()) await rename(temporaryOf(path), path);
}

/** Returns the path of a file beside another one. A hidden file is not part of the archive, in case it is left over. */
function temporaryOf(path: string): string {
  return join(dirname(path), `.${basename(path)}.new`);
}
