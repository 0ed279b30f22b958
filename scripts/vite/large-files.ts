import { gzipSync } from 'node:zlib';
import type { Plugin } from 'vite';

/** The largest file in bytes that many hosts of static files take. */
export const MAX_FILE_BYTES = 25 * 2 ** 20;

/** Stores an engine's `.wasm` that is too large for such a host as gzip, under its own name: TabServe inflates it. */
export function largeFiles(): Plugin {
  return {
    name: 'tabserve:large-files',
    apply: 'build',
    generateBundle(_, bundle) {
      for (const file of Object.values(bundle)) {
        if (file.type !== 'asset' || !file.fileName.endsWith('.wasm') || file.source.length <= MAX_FILE_BYTES) continue;
        file.source = gzipSync(file.source, { level: 9 });
      }
    },
  };
}
