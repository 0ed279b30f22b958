import { stat, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { Integrity } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { EXTRAS, readExtras } from '../models/manifest.js';
import { integrityOf, listFolder, readLocal } from './archive-files.js';
import { encode } from './archive.js';

type Entries = Readonly<Record<string, Integrity>>;

/**
 * Brings the sizes and hashes in the `tabserve.json` of an archive's folder up to date after files were edited; in a workflow's folder, those of its nodes too.
 * Only entries that are there are changed.
 * @returns which entries have changed, a line each
 * @throws `model-config` for anything but a folder whose `tabserve.json` lists files; `model-not-found` for a listed file that is not there; `model-format` if a `tabserve.json` is wrong
 */
export async function updateHashes(folder: string): Promise<string> {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw new TabServeError('model-config', `--update-hashes takes the folder of an archive, and ${folder} is no folder. Pack a packed archive again.`); // prettier-ignore
  const paths = await listFolder(folder);
  const lists = [...paths.keys()].filter((path) => path === EXTRAS || path.endsWith(`/${EXTRAS}`));
  const changed: string[] = [];
  let count = 0;
  // A workflow's tabserve.json may list those of its nodes: the one further up comes last.
  for (const list of lists.sort((a, b) => b.length - a.length)) {
    const text = new TextDecoder().decode(await readLocal(paths.get(list)!, list));
    readExtras(text);
    const extras = JSON.parse(text) as { readonly files?: Entries };
    const before = Object.entries(extras.files ?? {});
    const prefix = list.slice(0, -EXTRAS.length);
    const after = await Promise.all(
      before.map(async ([name, entry]) => [name, await update(entry, paths.get(prefix + name), `${list}: ${name}`)] as const), // prettier-ignore
    );
    count += before.length;
    const own = after.filter(([, entry], index) => entry !== before[index]![1]).map(([name]) => prefix + name);
    changed.push(...own);
    if (own.length > 0) await writeFile(paths.get(list)!, encode({ ...extras, files: Object.fromEntries(after) }));
  }
  if (count === 0)
    throw new TabServeError('model-config', `${folder} has no ${EXTRAS} that lists files with their hashes.`);
  const summary = `${basename(resolve(folder))}: ${changed.length} of ${count} hashes updated`;
  return [summary, ...changed.map((path) => `  ${path}`)].join('\n');
}

/** Returns an entry with the size and hash of its file, as far as it has them: the same entry, if it is up to date. @param path of the file on disk, if it is there */
async function update(entry: Integrity, path: string | undefined, where: string): Promise<Integrity> {
  if (path === undefined)
    throw new TabServeError('model-not-found', `${where} is listed under files, and is not there. Remove the entry, or correct its path.`); // prettier-ignore
  const found = integrityOf(await readLocal(path, where));
  const isSame = (entry.bytes ?? found.bytes) === found.bytes && (entry.sha256 ?? found.sha256).toLowerCase() === found.sha256; // prettier-ignore
  if (isSame) return entry;
  return {
    ...(entry.bytes !== undefined && { bytes: found.bytes }),
    ...(entry.sha256 !== undefined && { sha256: found.sha256 }),
  };
}
