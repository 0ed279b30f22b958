import type { Archive } from '../../contract/archive.js';
import { allParts } from '../../contract/archive-parts.js';

/**
 * Returns whether the files of a downloaded archive can still be read. A Blob from the browser's storage is gone when
 * the site's data are cleared (`Clear-Site-Data`, or by the visitor), even while a page retains it.
 */
export async function isReadable(archive: Archive): Promise<boolean> {
  const blobs = allParts(archive).flatMap(({ archive: { files, local } }) => [
    ...Object.values(files),
    ...(local instanceof Blob ? [local] : Object.values(local ?? {})),
  ]);
  try {
    await Promise.all(blobs.map((blob) => blob.slice(0, 1).arrayBuffer()));
    return true;
  } catch {
    return false;
  }
}
