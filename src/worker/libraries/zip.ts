import type { Load } from './load.js';

/** Loads the reader of zip files. */
export const load: Load<
  Pick<typeof import('@zip.js/zip.js/lib/zip-core-custom.js'), 'BlobReader' | 'configure' | 'ZipReader'>
> = () => import('@zip.js/zip.js/lib/zip-core-custom.js');
