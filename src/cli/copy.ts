import { copyFile, cp, mkdir, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ENGINE_FILES } from '../bundlers/engine-files.js';
import { messageOf, TabServeError } from '../contract/errors.js';
import { formatBytes } from './text.js';

/**
 * Copies what a page loads at run time into a folder: the standalone files, and the engines' files. Files that are there are overwritten.
 * @returns what to print
 * @throws `model-config` if a file cannot be written
 */
export async function copyAssets(folder: string): Promise<string> {
  try {
    await mkdir(folder, { recursive: true });
    await cp(fileURLToPath(new URL('../standalone', import.meta.url)), folder, { recursive: true });
    for (const file of ENGINE_FILES)
      await copyFile(fileURLToPath(import.meta.resolve(file)), join(folder, basename(file)));
  } catch (cause) {
    throw new TabServeError('model-config', `The files could not be copied: ${messageOf(cause as Error)}`, { cause });
  }
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  const total = formatBytes(sizes.reduce((sum, size) => sum + size, 0));
  return `${folder}: ${files.length} files, ${total}. Set the option assets to the folder's URL, such as '/tabserve/'.`;
}
