import type { Files } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';

/** Returns read access to files by path: an archive's Blobs, or the texts and bytes of a test. */
export function createFiles(files: Readonly<Record<string, Blob | Uint8Array | string>>): Files {
  const blob = (path: string): Blob => {
    const file = Object.hasOwn(files, path) ? files[path] : undefined;
    if (file === undefined)
      throw new TabServeError(
        'model-not-found',
        `The archive has no file "${path}"; it has ${Object.keys(files).join(', ') || 'none'}.`,
      );
    return file instanceof Blob ? file : new Blob([file as BlobPart]);
  };
  return {
    has: (path) => Object.hasOwn(files, path),
    bytes: async (path) => new Uint8Array(await blob(path).arrayBuffer()),
    text: async (path) => await blob(path).text(),
    async json(path) {
      const text = await blob(path).text();
      try {
        return JSON.parse(text) as unknown;
      } catch (cause) {
        throw new TabServeError('model-format', `${path} is not JSON: ${(cause as Error).message}`, { cause });
      }
    },
  };
}
