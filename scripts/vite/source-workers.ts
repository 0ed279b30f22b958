import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Plugin } from 'vite';

/**
 * Finds workers in the sources: `new URL('./x.worker.js', import.meta.url)` is right in what tsc emits; here the file is a
 * `.ts`.
 */
export function sourceWorkers(): Plugin {
  return {
    name: 'tabserve:source-workers',
    enforce: 'pre',
    transform(code, id) {
      if (!id.split('?')[0]!.endsWith('.ts') || !code.includes('import.meta.url')) return undefined;
      return code.replace(/new URL\('(\.[^']+)\.js', import\.meta\.url\)/g, (whole, path: string) =>
        existsSync(`${resolve(dirname(id), path)}.ts`) ? `new URL('${path}.ts', import.meta.url)` : whole,
      );
    },
  };
}
