import { copyFile, cp, readdir, rename, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { withTemporaryFolder } from './temporary-folder.js';
import { formatBytes } from './text.js';

/**
 * The files that engines load at run time, as the modules of `engines/` name them. A test compares them with these
 * modules.
 */
export const ENGINE_FILES = [
  ...['', '.jspi', '.asyncify'].flatMap((build) =>
    ['wasm', 'mjs'].map((type) => `onnxruntime-web/ort-wasm-simd-threaded${build}.${type}`),
  ),
  '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm',
] as const;

/**
 * Copies what a page loads at run time into a folder: the standalone files, and the engines' files. Files that are
 * there are overwritten, when all have been copied: a full disk leaves the folder as it was.
 * @returns what to print
 * @throws `model-config` if a file cannot be written
 */
export async function copyAssets(folder: string): Promise<string> {
  try {
    await withTemporaryFolder(folder, async (copies) => {
      await cp(fileURLToPath(new URL('../../standalone', import.meta.url)), copies, { recursive: true });
      for (const file of ENGINE_FILES)
        await copyFile(fileURLToPath(import.meta.resolve(file)), join(copies, basename(file)));
      for (const file of await readdir(copies)) await rename(join(copies, file), join(folder, file));
    });
  } catch (cause) {
    throw new TabServeError('model-config', `The files could not be copied: ${messageOf(cause as Error)}`, { cause });
  }
  const files = await readdir(folder);
  const sizes = await Promise.all(files.map(async (file) => (await stat(join(folder, file))).size));
  const total = formatBytes(sizes.reduce((sum, size) => sum + size, 0));
  return `${folder}: ${files.length} files, ${total}. Set the option assets to the folder's URL, such as '/tabserve/'.`;
}
